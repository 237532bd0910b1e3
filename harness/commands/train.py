"""`bpebench train`: learn a vocabulary from a corpus."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np

import impls
from harness.commands import options, writing
from harness.commands.verb import Verb, flag, option
from harness.printable import printable, token_shown
from harness.progress import progress
from harness.report.wording import size
from harness.training.counts import save_counts
from impls import Model
from impls.core.counts import PieceCounts, added
from impls.core.text.patterns import name_of, resolve
from impls.registry import learn

if TYPE_CHECKING:
    from harness.training.text import TrainingText


class Train(Verb):
    """Learn a vocabulary and, with --name or --out, save it.

    With --show N: the first N tokens learned, and how often each pair occurred.

    With --count-only: count the distinct pieces of corpora of any size and write them to --out, to train on often
    (`train --counts`). Corpora and files of counts add up; corpora need not fit in memory. A file may be
    plain text, JSON lines or Parquet, also compressed (.gz, .bz2, .xz, .zst).
    """

    corpora: tuple[str, ...] = options.corpus_option(
        "Corpus, file, folder or glob; repeatable; of a named corpus without its held-out part.  [default: turkish]",
        multiple=True,
    )
    counts: tuple[Path, ...] = option("File written by `--count-only`; repeatable.", type=options.FILE, multiple=True)
    count_only: bool = flag("Only count the pieces, for --counts.")
    vocab_size: int = option("Number of ids, such as 8k.", type=options.size, default=10_000, metavar="SIZE")
    implementation: str = options.one_implementation("Implementation that trains.", "compiled")
    name: str | None = option("Save it under this name for the other verbs (-m NAME).", metavar="NAME")
    out: Path | None = options.out_option("Write the model file here.", options.FILE)
    pattern: str | None = option(
        "A name of `list patterns`, or a regular expression.  [default: gpt2, or that of the counts]"
    )
    alphabet: str = option("Base symbols.", type=click.Choice(["bytes", "chars"]), default="bytes", advanced=True)
    ties: str = option(
        "Which of several equally frequent pairs is merged first.",
        type=click.Choice(["smallest", "first", "largest", "shortest"]),
        default="smallest",
        advanced=True,
    )
    min_count: int = option("Least count of a merge (with --count-only: of a piece).", default=1, advanced=True)
    max_token_bytes: int | None = option("Bytes of the longest token.", type=int, advanced=True)
    special_tokens: tuple[str, ...] = option(
        "Special token; repeatable.", "--special", multiple=True, type=options.TEXT
    )
    end_of_word: str | None = option("End of words, such as </w> (alphabet chars).", type=options.TEXT, advanced=True)
    unknown: str | None = option("Token for characters outside the alphabet: <unk>.", type=options.TEXT, advanced=True)
    documents: Literal["paragraphs", "lines"] = option(
        "What counts as one document of a text file; no piece spans two.",
        type=click.Choice(["paragraphs", "lines"]),
        default="paragraphs",
        advanced=True,
    )
    field: str = option("Field of JSON lines or Parquet.", "--field", "--column", default="text", metavar="NAME")
    memory_limit: int | None = option(
        "Memory for counting; beyond it, files are used.  [default: half of what is free]",
        type=options.size,
        metavar="SIZE",
        advanced=True,
    )
    workers: int | None = option(
        "Count in N processes instead of threads.", type=options.POSITIVE, metavar="N", advanced=True
    )
    scheduler: str | None = option("Count on the workers of a Dask cluster.", metavar="tcp://HOST:PORT", advanced=True)
    extend: str | None = options.extend_option(
        "Continue from this vocabulary: keep its merges and ids, and its other settings unless options change them."
    )
    superword_from: int | None = option(
        "SuperBPE: from this number of ids on, tokens may span white space.",
        type=options.POSITIVE,
        metavar="N",
        advanced=True,
    )
    superword_pattern: str = option("Pattern from then on, as --pattern.", default="superword", advanced=True)
    show: int = options.show
    max_bytes: int | None = options.max_bytes

    def run(self) -> None:
        """Train, save and describe the model, or count."""
        if self.count_only:
            self._count_only()
            return
        from harness.data import load_model
        from harness.report.wording import size
        from harness.training.ends import n_listed_merges, why_short
        from impls.core.extension import Extension

        text = self._text
        self._check()
        begun = None if self.extend is None else load_model(self.extend)
        n_kept = 0 if begun is None else n_listed_merges(begun)
        spec = self._spec(begun)
        if begun is not None:
            Extension(self.implementation, begun, spec)  # refuses what cannot be extended before anything is counted
        if self._target is not None:
            sources = (*text.corpora, *map(str, self.counts), *writing.model_sources(self.extend))
            writing.check_target(self._target, sources)
        start = time.perf_counter()
        texts: Any = self._read(text, resolve(spec.pattern))
        if isinstance(texts, list):
            n_bytes, start = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts), time.perf_counter()
        else:
            n_bytes = texts.n_bytes
        with progress(f"training {self.vocab_size:,} tokens on {size(n_bytes)} with {self.implementation}"):
            model = learn(self.implementation, texts, spec, begun, self.superword_from, self.superword_pattern)
            seconds = time.perf_counter() - start
        if self._target is not None:
            model.save(self._target)
        last_spec = spec if self.superword_from is None else replace(spec, pattern=self.superword_pattern)
        document = {
            "corpora": list(text.corpora), "counts": list(map(str, self.counts)), "extended": self.extend,
            "implementation": self.implementation, "vocab_size_asked_for": self.vocab_size,
            "superword_from": self.superword_from,
            "n_bytes": n_bytes, "seconds": seconds, "vocab_size": model.vocab_size,
            "why_short": why_short(model, last_spec, texts), "n_merges": len(model.merges),
            "digest": model.digest, "n_kept_merges": n_kept,
            "saved": None if self._target is None else str(self._target),
            "first_tokens": first_tokens(model, n_kept, self.show),
        }  # fmt: skip
        self.output(document, lambda: learned(document, model))
        kept = f"saved as {self.name}; use it with -m {self.name}" if self.out is None else str(self.out)
        kept = "not saved; --name or --out saves it" if self._target is None else kept
        if not self.as_json:
            options.say(kept, err=True)

    def _count_only(self) -> None:
        """Count the pieces, write and describe them."""
        reading_options = ("corpora", "counts", "documents", "field", "memory_limit", "workers", "scheduler")
        options.ensure_alone(self, "count_only", *reading_options, "pattern", "out", "min_count", "show")
        options.ensure(self.corpora or self.counts, "--count-only: name a corpus (-c) or a file of counts (--counts)")
        if self.out is not None:
            writing.check_target(self.out, (*self.corpora, *map(str, self.counts)))
        text = self._text
        pattern = resolve(self.pattern or next((counts.pattern for counts in text.given_counts), "gpt2"))
        document = write_counts(self._counts(text, pattern), self.min_count, self.out, self.show)
        self.output(document, lambda: counted(document))

    def _read(self, text: TrainingText, pattern: tuple[str, ...]) -> list[str] | PieceCounts:
        """Return the training input: texts, or the counts of their pieces."""
        from harness.data.corpora import is_named

        # Files are counted instead of held in memory if that is possible, their order does not matter, and they are
        # read once.
        is_read_once = self.ties != "first" and self.max_bytes is None and self.superword_from is None
        is_large = "-" not in text.corpora and not all(map(is_named, text.corpora))
        is_counted = bool(self.counts) or (self.implementation == "compiled" and is_read_once and is_large)
        for name in () if is_counted else ("workers", "scheduler"):
            problem = f"--{name} is for files that are counted, by `compiled`; this training reads the text as a whole"
            options.ensure(not getattr(self, name), problem)
        return self._counts(text, pattern) if is_counted else text.texts()

    @cached_property
    def _target(self) -> Path | None:
        """Return the file to write."""
        from harness.data import trained_model_path

        return trained_model_path(self.name) if self.out is None and self.name is not None else self.out

    @cached_property
    def _text(self) -> TrainingText:
        """Return the training text."""
        from harness.training.text import TrainingText

        corpora = self.corpora or (() if self.counts else ("turkish",))
        return TrainingText(corpora, self.documents, self.field, self.counts, self.max_bytes)

    def _counts(self, text: TrainingText, pattern: tuple[str, ...]) -> PieceCounts:
        """Count the text on the requested workers."""
        from harness.training.text import executors_of

        return text.counts(pattern, self.memory_limit, executors_of(self.workers, self.scheduler))

    def _check(self) -> None:
        """Raise for options that do not go together."""
        if self.counts:
            can = impls.get(self.implementation).kind in ("pure", "compiled")
            options.ensure(can, f"{self.implementation} trains on text, not on counts; -e compiled does both")
            options.ensure(not self.superword_from, "--superword-from splits the text twice; counts are split already")
            options.ensure(self.max_bytes is None, "--max-bytes cannot be used with --counts")
        is_alone = self.superword_from is None and "superword_pattern" in options.given(self)
        options.ensure(not is_alone, "--superword-pattern needs --superword-from")

    def _spec(self, begun: impls.Model | None) -> impls.TrainingSpec:
        """Return the specification set by the options; the others come from the counts or from `begun`."""
        from harness.training.ends import spec_like

        counts = self._text.given_counts
        names = [field.name for field in fields(impls.TrainingSpec)]
        chosen = {name: getattr(self, name) for name in names if hasattr(self, name)}
        chosen["pattern"] = self.pattern or (counts[0].pattern if counts else "gpt2")
        return impls.TrainingSpec(**chosen) if begun is None else spec_like(begun, chosen, options.given(self))


def write_counts(counts: PieceCounts, min_count: int, file: Path | None, n_shown: int) -> dict[str, Any]:
    """Write the pieces that occur `min_count` times or more; return their sizes, sources and the most frequent ones."""
    counts = added([counts])  # sorted, as a file of counts is
    if min_count > 1:
        counts = counts.chosen(np.flatnonzero(counts.counts >= min_count))
    if file is not None:
        save_counts(counts, file)
    most = np.argsort(-counts.counts, kind="stable")[:n_shown]
    return {
        "pattern": name_of(counts.pattern) or " then ".join(counts.pattern),
        "n_pieces": int(counts.counts.sum()),
        "n_distinct_pieces": len(counts),
        "n_bytes": counts.n_bytes,
        "sources": [source._asdict() for source in counts.sources],
        "most_frequent": [{"piece": piece, "count": count} for piece, count in counts.chosen(most).items()],
        "saved": None if file is None else str(file),
    }


def counted(document: dict[str, Any]) -> str:
    """Return the document as text: sources, most frequent pieces, sizes, and how to train on them."""
    shown = []
    if document["sources"]:
        rows = [[s["name"], f"{s['n_bytes']:,}", s["digest"][:16]] for s in document["sources"]]
        shown += [options.table(rows, ["source", "bytes", "sha256"]), ""]
    if document["most_frequent"]:
        rows = [[repr(piece["piece"]), f"{piece['count']:,}"] for piece in document["most_frequent"]]
        shown += [options.table(rows, ["piece", "count"]), ""]
    n_distinct, n_pieces = document["n_distinct_pieces"], document["n_pieces"]
    shown.append(f"{n_distinct:,} distinct pieces, {n_pieces:,} in all, split by {document['pattern']}")
    saved = document["saved"]
    advice = f"saved in {saved}; train on it: bpebench train --counts {saved}"
    shown.append("not saved; --out FILE saves them" if saved is None else advice)
    return "\n".join(shown)


def first_tokens(model: Model, n_kept: int, n_shown: int) -> list[dict[str, Any]]:
    """Return id, token and count of the first tokens learned after the `n_kept` merges that training began with."""
    counts = model.merge_counts
    return [
        {"id": i, "token": token_shown(model.tokens[i] or b""), "count": None if counts is None else counts[rank]}
        for rank, i in enumerate(model.merge_results[n_kept : n_kept + n_shown], n_kept)
    ]


def learned(document: Mapping[str, Any], model: Model) -> str:
    """Return the document of `train` as text: first tokens, sizes, why training ended."""
    shown: list[str] = []
    if first := document["first_tokens"]:
        rows = [[t["id"], t["token"], t["count"] and f"{t['count']:,}"] for t in first]
        shown += [options.table(rows, ["id", "token", "count"]), ""]
    kept = f", {document['n_kept_merges']:,} of them kept" if document["extended"] else ""
    n_ids = f"{document['n_merges']:,} merges{kept}, {model.vocab_size:,} ids"
    shown.append(f"{n_ids}, learned in {document['seconds']:.2f} s from {size(document['n_bytes'])}")
    if (short := document["why_short"]) is not None:
        asked_for = document["vocab_size_asked_for"]
        shown.append(printable(f"{asked_for - model.vocab_size:,} of {asked_for:,} ids could not be learned: {short}"))
    return "\n".join(shown)
