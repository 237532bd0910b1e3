"""`bpebench train`: learn a vocabulary from a corpus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

import impls
from harness.commands import options, reading
from harness.commands.corpus_parts import all_documents, corpus_parts, label
from harness.commands.verb import Verb, option
from harness.progress import progress
from impls.core.counts import PieceCounts, added
from impls.core.text.files import TextFiles
from impls.core.text.patterns import NAMED, resolve

if TYPE_CHECKING:
    from harness.counting import Reading

_MOST_HASHED = 100_000_000
"""Bytes of files whose documents are hashed: it takes about as long as training on them."""


class Train(Verb):
    """Learn a vocabulary and, with --name or --out, save it.

    With --show N: the first N tokens learned, how often each pair occurred, and where the counts flatten.
    """

    corpora: tuple[str, ...] = options.corpus_option(
        "Corpus, file, folder or glob; repeatable. The held-out part of a named corpus is never trained on."
        "  [default: turkish]",
        multiple=True,
    )
    counts: tuple[Path, ...] = reading.counts
    weight: tuple[str, ...] = reading.weight
    vocab_size: int = option("Base + merges + specials.", default=10_000)
    implementation: str = options.implementation_option("Who trains.", default="compiled")
    name: str | None = option("Save it under this name for the other verbs (-m NAME).", metavar="NAME")
    out: Path | None = option("Write the model file here.", type=options.FILE)
    pattern: str | None = option(
        f"{', '.join(NAMED)}, or a regular expression.  [default: gpt2, or that of the counts]"
    )
    alphabet: str = option(None, type=click.Choice(["bytes", "chars"]), default="bytes")
    ties: str = option(
        "Which of equally frequent pairs is merged.",
        type=click.Choice(["smallest", "first", "largest", "shortest"]),
        default="smallest",
    )
    base_order: str = option(None, type=click.Choice(["raw", "gpt2"]), default="raw")
    min_count: int = option("A merge needs at least this count.", default=1)
    max_merges: int | None = option("Limit on the number of merges.", type=int)
    max_token_bytes: int | None = option("No token longer than this.", type=int)
    max_token_characters: int | None = option("Likewise in characters (alphabet chars).", type=int)
    forbidden_tokens: tuple[str, ...] = option(
        "No merge makes this; repeatable.", "--forbid", multiple=True, metavar="TEXT"
    )
    special_tokens: tuple[str, ...] = option("Special token; repeatable.", "--special", multiple=True, metavar="TEXT")
    special_ids: str = option(None, type=click.Choice(["last", "first"]), default="last")
    end_of_word: str | None = option("e.g. </w>, as subword-nmt (alphabet chars).", metavar="TEXT")
    unknown: str | None = option("e.g. <unk>, for characters outside the alphabet.", metavar="TEXT")
    documents: Literal["paragraphs", "lines"] = reading.documents
    field: str = reading.field
    errors: Literal["strict", "replace"] = reading.decoding_errors
    memory_limit: int | None = reading.memory_limit
    until: str | None = option("End where another 1,000 merges gain less: 'gain<0.1%'.", metavar="RULE")
    held_out: tuple[str, ...] = options.held_out
    show: int = options.show
    max_bytes: int | None = options.max_bytes

    def run(self) -> None:
        """Train, save and describe the model."""
        from harness.data import trained_model_path
        from harness.plateau import plateau
        from harness.training_end import why_short
        from harness.until import end_of_training, parse_until

        start = time.perf_counter()
        implementation = impls.get(self.implementation)
        if self.counts or self.weight:
            can = implementation.kind in ("pure", "compiled")
            options.ensure(can, f"{self.implementation} trains on text, not on counts; -e compiled does both")
        given = self._counts()
        pattern = self.pattern or (given[0].pattern if given else "gpt2")
        settings = {field.name: getattr(self, field.name) for field in fields(impls.TrainingSpec)}
        spec = impls.TrainingSpec(**(settings | {"pattern": pattern}))
        target = self.out
        if target is None and self.name is not None:
            target = trained_model_path(self.name)
        corpora = self.corpora or (() if given else ("turkish",))
        if target is not None:
            options.check_target(target, (*corpora, *map(str, self.counts), *self.held_out))
        until = None if self.until is None else parse_until(self.until)
        options.ensure(until or not self.held_out, "--held-out goes with --until")
        if until is not None and self.alphabet == "chars":
            options.ensure(self.unknown, "--until needs --unknown here: a held-out text has other characters too")
        if until is not None and (given or self.weight):
            options.ensure(self.held_out, "--until needs --held-out where counts are trained on")
        parts = None if until is None else corpus_parts(corpora, self.held_out, self.max_bytes)
        texts: list[str] | PieceCounts
        if given or (self._is_counted(corpora, spec) and (parts is None or self.held_out)):
            texts = self._added(given, corpora, resolve(spec.pattern))
            n_bytes = texts.n_bytes
        else:
            texts = self._texts(corpora) if parts is None else list(all_documents(parts[0]))
            n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
            start = time.perf_counter()
        with progress(f"training {self.vocab_size} tokens on {n_bytes / 1e6:.1f} MB with {self.implementation}"):
            model = implementation.train_model(texts, spec)  # type: ignore[arg-type]
            seconds = time.perf_counter() - start
        end = None
        if until is not None and parts is not None:
            text = label(parts[1])
            with progress(f"measuring on {text}"):
                model, end = end_of_training(model, until, all_documents(parts[1]), text)
        if target is not None:
            model.with_(training_documents=self._hashes(texts, corpora)).save(target)
        short = end.why if end is not None and end.by_rule else why_short(model, spec, texts)
        counts = model.merge_counts
        first = [
            {"id": i, "token": _readable(model, i), "count": None if counts is None else counts[rank]}
            for rank, i in enumerate(model.merge_results[: self.show])
        ]
        flat = plateau(counts or ())
        if self.as_json:
            options.print_json(
                {
                    "corpora": list(corpora), "counts": list(map(str, self.counts)), "n_bytes": n_bytes,
                    "implementation": self.implementation, "seconds": seconds, "vocab_size": model.vocab_size,
                    "vocab_size_asked_for": self.vocab_size, "why_short": short,
                    "until": None if end is None else end._asdict(), "n_merges": len(model.merges),
                    "digest": model.digest, "first_tokens": first, "plateau_merge": flat,
                    "saved": None if target is None else str(target),
                }
            )  # fmt: skip
            return
        if first:
            click.echo(options.table([list(row.values()) for row in first], ["id", "token", "count"]))
            click.echo()
        n_merges = len(model.merges)
        click.echo(f"{n_merges} merges, {model.vocab_size} ids, learned in {seconds:.2f} s from {n_bytes} bytes")
        if short is not None:
            options.say(f"ended {self.vocab_size - model.vocab_size} ids short of {self.vocab_size}: {short}")
        if end is not None and not end.by_rule:
            options.say(f"not ended by {end.rule}: {end.why}")
        if self.show and flat is not None and counts is not None:
            click.echo(f"counts flatten after merge {flat}: from there on a merge occurs {counts[flat]} times or less")
        if target is None:
            click.echo("not kept; give --name or --out to keep it", err=True)
        else:
            kept = f"kept as {self.name}; use it with -m {self.name}" if self.out is None else str(target)
            options.say(kept, err=True)

    def _counts(self) -> list[PieceCounts]:
        """Return the counts of the files of --counts, weighted."""
        from impls.formats.counts import load_counts

        weights = reading.weights(self.weight, [*map(str, self.counts), *self.corpora])
        return [load_counts(path).weighted(weights.get(str(path), 1)) for path in self.counts]

    def _is_counted(self, corpora: Sequence[str], spec: impls.TrainingSpec) -> bool:
        """Return whether corpora are counted without being held in memory: files, by the implementation that can."""
        from harness.data.corpora import is_named

        can = self.implementation == "compiled" and spec.ties != "first" and self.max_bytes is None
        return bool(self.weight) or (can and "-" not in corpora and not all(map(is_named, corpora)))

    def _added(self, given: list[PieceCounts], corpora: Sequence[str], pattern: tuple[str, ...]) -> PieceCounts:
        from harness.counting import counted

        options.ensure(self.max_bytes is None, "--max-bytes goes with neither --counts nor --weight")
        weights = reading.weights(self.weight, [*map(str, self.counts), *corpora])
        found = counted(corpora, pattern, self._reading, memory_limit=self.memory_limit)
        return added([*given, *(counts.weighted(weights.get(name, 1)) for name, counts in found.items())])

    @property
    def _reading(self) -> Reading:
        from harness.counting import Reading

        return Reading(self.documents, self.field, self.errors)

    def _texts(self, corpora: Sequence[str]) -> list[str]:
        """Return the documents to train on: the training part of each named corpus, all of each file."""
        from harness.data.corpora import is_named

        texts: list[str] = []
        for name in dict.fromkeys(corpora):
            if not is_named(name) and self.max_bytes is None:
                found = list(TextFiles(self._reading.files(name)))
                options.ensure(found, f"{options.STANDARD_INPUT if name == '-' else name}: holds no text")
                texts += found
                continue
            corpus = options.load_corpus(name, max_bytes=self.max_bytes)
            if corpus.has_split:
                corpus = options.load_corpus(name, split="train", max_bytes=self.max_bytes)
            texts += corpus.documents()
        return texts

    def _hashes(self, texts: list[str] | PieceCounts, corpora: Sequence[str]) -> str:
        """Return what finds text a model was trained on; empty where only counts, or too much, were read."""
        from harness.data.overlap import training_documents

        if isinstance(texts, list):
            return training_documents(texts)
        if self.counts or texts.n_bytes > _MOST_HASHED:
            options.say("the documents trained on are not noted: later, their text is not recognised", err=True)
            return ""
        return training_documents(self._texts(corpora))


def _readable(model: impls.Model, i: int) -> str:
    """Return a readable token: quoted, with bytes that are not text escaped."""
    return repr((model.tokens[i] or b"").decode("utf-8", "backslashreplace"))


command = Train.command()
