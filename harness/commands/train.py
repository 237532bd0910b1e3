"""`bpebench train`: learn a vocabulary from a corpus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

import impls
from harness.commands import options, reading
from harness.commands.corpus_parts import all_documents, corpus_parts, label
from harness.commands.verb import Verb, option
from harness.progress import progress
from impls.core.counts import PieceCounts, added
from impls.core.text.files import TextFiles
from impls.core.text.patterns import NAMED, resolve
from impls.registry import learn

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
    max_merges: int | None = option("Limit on the number of merges, kept ones included.", type=int)
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
    extend: str | None = options.extend_option(
        "Go on from this vocabulary: keep its merges and ids; its pattern, alphabet, end of word, special and unknown "
        "tokens too, unless options name others."
    )
    superword_from: int | None = option(
        "SuperBPE: from this number of ids on, tokens may span white space.", type=options.POSITIVE, metavar="N"
    )
    superword_pattern: str = option("The pattern from there on, as --pattern.", default="superword")
    show: int = options.show
    max_bytes: int | None = options.max_bytes

    def run(self) -> None:
        """Train, save and describe the model."""
        from harness.data import load_model, trained_model_path
        from harness.plateau import plateau
        from harness.training_end import why_short
        from harness.training_start import n_listed_merges
        from harness.until import end_of_training, parse_until

        start = time.perf_counter()
        if self.counts or self.weight:
            can = impls.get(self.implementation).kind in ("pure", "compiled")
            options.ensure(can, f"{self.implementation} trains on text, not on counts; -e compiled does both")
            options.ensure(not self.superword_from, "--superword-from splits the text twice; counts are split already")
        given = self._counts()
        begun = None if self.extend is None else load_model(self.extend)
        spec = self._spec(begun, given)
        last_spec = spec if self.superword_from is None else replace(spec, pattern=self.superword_pattern)
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
        options.ensure(until is None or not self.superword_from, "--until cannot cut what --superword-from trains")
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
            stage_two = self.superword_from, self.superword_pattern
            model = learn(self.implementation, texts, spec, begun, *stage_two)  # type: ignore[arg-type]
            seconds = time.perf_counter() - start
        n_kept = 0 if begun is None else n_listed_merges(begun)
        end = None
        if until is not None and parts is not None:
            text = label(parts[1])
            with progress(f"measuring on {text}"):
                model, end = end_of_training(model, until, all_documents(parts[1]), text, n_kept)
        if target is not None:
            before = "" if begun is None else begun.training_documents
            model.with_(training_documents=self._hashes(texts, corpora, before)).save(target)
        short = end.why if end is not None and end.by_rule else why_short(model, last_spec, texts)
        counts = model.merge_counts
        first = [
            {"id": i, "token": _readable(model, i), "count": None if counts is None else counts[rank]}
            for rank, i in enumerate(model.merge_results[n_kept : n_kept + self.show], n_kept)
        ]
        # Counts rise where superwords begin, and those kept are of another corpus.
        flat = plateau(counts or ()) if begun is None and self.superword_from is None else None
        if self.as_json:
            options.print_json(
                {
                    "corpora": list(corpora), "counts": list(map(str, self.counts)), "n_bytes": n_bytes,
                    "implementation": self.implementation, "seconds": seconds, "vocab_size": model.vocab_size,
                    "vocab_size_asked_for": self.vocab_size, "why_short": short,
                    "until": None if end is None else end._asdict(), "n_merges": len(model.merges),
                    "digest": model.digest, "extended": self.extend, "n_kept_merges": n_kept,
                    "superword_from": self.superword_from, "first_tokens": first, "plateau_merge": flat,
                    "saved": None if target is None else str(target),
                }
            )  # fmt: skip
            return
        if first:
            click.echo(options.table([list(row.values()) for row in first], ["id", "token", "count"]))
            click.echo()
        n_merges = f"{len(model.merges)} merges" + (f", {n_kept} of them kept" if begun is not None else "")
        click.echo(f"{n_merges}, {model.vocab_size} ids, learned in {seconds:.2f} s from {n_bytes} bytes")
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

    def _spec(self, begun: impls.Model | None, counts: Sequence[PieceCounts]) -> impls.TrainingSpec:
        """Return the specification by the options; what they leave open is taken from the counts, or from the model to
        go on from."""
        from harness.training_start import spec_like

        source = click.get_current_context().get_parameter_source
        given = {name for name in vars(self) if source(name) is not ParameterSource.DEFAULT}
        options.ensure(
            self.superword_from is not None or "superword_pattern" not in given,
            "--superword-pattern goes with --superword-from",
        )
        chosen = {field.name: getattr(self, field.name) for field in fields(impls.TrainingSpec)}
        chosen["pattern"] = self.pattern or (counts[0].pattern if counts else "gpt2")
        return impls.TrainingSpec(**chosen) if begun is None else spec_like(begun, chosen, given)

    def _counts(self) -> list[PieceCounts]:
        """Return the counts of the files of --counts, weighted."""
        from impls.formats.counts import load_counts

        weights = reading.weights(self.weight, [*map(str, self.counts), *self.corpora])
        return [load_counts(path).weighted(weights.get(str(path), 1)) for path in self.counts]

    def _is_counted(self, corpora: Sequence[str], spec: impls.TrainingSpec) -> bool:
        """Return whether corpora are counted without being held in memory: files, by the implementation that can."""
        from harness.data.corpora import is_named

        is_read_once = spec.ties != "first" and self.max_bytes is None and self.superword_from is None
        can = self.implementation == "compiled" and is_read_once
        return bool(self.weight) or (can and "-" not in corpora and not all(map(is_named, corpora)))

    def _added(self, given: list[PieceCounts], corpora: Sequence[str], pattern: tuple[str, ...]) -> PieceCounts:
        """Return the sum of the counts given and those of the corpora."""
        from harness.counting import counted

        options.ensure(self.max_bytes is None, "--max-bytes goes with neither --counts nor --weight")
        weights = reading.weights(self.weight, [*map(str, self.counts), *corpora])
        found = counted(corpora, pattern, self._reading, memory_limit=self.memory_limit)
        parts = [*given, *(counts.weighted(weights.get(name, 1)) for name, counts in found.items())]
        return parts[0] if len(parts) == 1 else added(parts)

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

    def _hashes(self, texts: list[str] | PieceCounts, corpora: Sequence[str], before: str) -> str:
        """Return what finds text a model was trained on; only `before` where counts, or too much text, were read."""
        from harness.data.overlap import training_documents

        if isinstance(texts, list):
            return training_documents(texts, before)
        if self.counts or texts.n_bytes > _MOST_HASHED:
            options.say("the documents trained on are not noted: later, their text is not recognised", err=True)
            return before
        return training_documents(self._texts(corpora), before)


def _readable(model: impls.Model, i: int) -> str:
    """Return a readable token: quoted, with bytes that are not text escaped."""
    return repr((model.tokens[i] or b"").decode("utf-8", "backslashreplace"))


command = Train.command()
