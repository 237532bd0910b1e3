"""`bpebench count`: count the pieces of a corpus once, to train on as often as one likes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import click
import numpy as np

from harness.commands import options, reading
from harness.commands.verb import Verb, option
from impls.core.counts import PieceCounts, added
from impls.core.text.patterns import NAMED, name_of, resolve


class Count(Verb):
    """Count the distinct pieces of corpora and write them, for `train --counts`.

    Corpora and files of counts add up. A file may be plain text, JSON lines or Parquet, also compressed (.gz, .bz2,
    .xz, .zst). Counting files with --out can be resumed; the counts are exact whatever the memory.
    """

    corpora: tuple[str, ...] = options.corpus_option("Corpus, file, folder or glob; repeatable.", multiple=True)
    counts: tuple[Path, ...] = reading.counts
    pattern: str | None = option(f"{', '.join(NAMED)}, or a regular expression.  [default: gpt2]")
    out: Path | None = options.out_option("Write the counts here.", options.FILE)
    weight: tuple[str, ...] = reading.weight
    min_count: int = option("Leave out pieces that occur less often.", type=options.POSITIVE, default=1)
    documents: Literal["paragraphs", "lines"] = reading.documents
    field: str = reading.field
    errors: Literal["strict", "replace"] = reading.decoding_errors
    memory_limit: int | None = reading.memory_limit
    workers: int | None = reading.workers
    scheduler: str | None = reading.scheduler
    resume: bool = reading.resume
    show: int = option("The N most frequent pieces.", type=click.IntRange(min=0), default=0, metavar="N")

    def run(self) -> None:
        """Count, write and describe."""
        from harness.training.counting import Reading, counted, executors_of, parts_folder
        from impls.formats.counts import load_counts, save_counts

        options.ensure(self.corpora or self.counts, "name a corpus (-c) or a file of counts (--counts)")
        options.ensure(not self.resume or self.out is not None, "--resume needs --out, where the count was to go")
        if self.out is not None:
            options.check_target(self.out, (*self.corpora, *map(str, self.counts)))
        kept = {str(path): load_counts(path) for path in self.counts}
        pattern = resolve(self.pattern or next((counts.pattern for counts in kept.values()), "gpt2"))
        weights = reading.weights(self.weight, [*self.corpora, *kept])
        how = Reading(self.documents, self.field, self.errors)
        parts = None
        if self.out is not None and self.corpora:
            opened = parts_folder(self.out, self.corpora, pattern, how, resume=self.resume)
            parts = click.get_current_context().with_resource(opened)
        executors = executors_of(self.workers, self.scheduler)
        limit = self.memory_limit
        kept |= counted(self.corpora, pattern, how, memory_limit=limit, parts=parts, executors=executors)
        total = added([counts.weighted(weights.get(name, 1)) for name, counts in kept.items()])
        if self.min_count > 1:
            total = total.at_least(self.min_count)
        if self.out is not None:
            save_counts(total, self.out)
        if parts is not None:
            shutil.rmtree(parts)
        self._print(total)

    def _print(self, total: PieceCounts) -> None:
        most = np.argsort(-total.counts, kind="stable")[: self.show]
        shown = list(total.chosen(most).items())
        document = {
            "pattern": _pattern(total),
            "n_pieces": int(total.counts.sum()),
            "n_distinct_pieces": len(total),
            "n_bytes": total.n_bytes,
            "sources": [source._asdict() for source in total.sources],
            "most_frequent": [{"piece": piece, "count": count} for piece, count in shown],
            "saved": None if self.out is None else str(self.out),
        }
        rows = [
            [source.name, f"{source.n_bytes:,}", f"{source.weight:g}", source.digest[:16]] for source in total.sources
        ]
        lines = [options.table(rows, ["source", "bytes", "weight", "sha256"]), ""] if rows else []
        lines += [
            options.table([[repr(piece), f"{count:,}"] for piece, count in shown], ["piece", "count"]),
            "",
        ] * bool(shown)
        lines.append(f"{len(total):,} distinct pieces, {document['n_pieces']:,} in all, split by {document['pattern']}")
        if self.out is None:
            lines.append("not kept; give --out to keep them")
        else:
            lines.append(f"kept in {self.out}; use it with `bpebench train --counts {self.out}`")
        self.output(document, lambda: "\n".join(lines))


def _pattern(counts: PieceCounts) -> str:
    return name_of(counts.pattern) or " then ".join(counts.pattern)


command = Count.command()
