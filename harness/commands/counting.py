"""`train --count-only`: what goes with it, and what it writes and prints about the pieces it counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.commands import options
from impls.core.counts import PieceCounts, added
from impls.core.text.patterns import name_of
from impls.formats.counts import save_counts

_OPTIONS = (
    *("corpora", "counts", "count_only", "pattern", "out", "weight", "min_count", "documents", "field", "errors"),
    *("memory_limit", "workers", "scheduler", "resume", "show", "as_json"),
)
"""The options of `train` that go with --count-only."""


def check(given: set[str], corpora: Sequence[str], counts: Sequence[Path], out: Path | None, *, resume: bool) -> None:
    """Raise for options (`given`) that do not go with --count-only, and for a file that would be read and written."""
    others = given - set(_OPTIONS)
    flags = ", ".join(sorted(f"--{name.replace('_', '-')}" for name in others))
    options.ensure(not others, f"--count-only does not go with {flags}")
    options.ensure(corpora or counts, "--count-only: name a corpus (-c) or a file of counts (--counts)")
    options.ensure(not resume or out is not None, "--resume needs --out, where the count was to go")
    if out is not None:
        options.check_target(out, (*corpora, *map(str, counts)))


def written(counts: PieceCounts, min_count: int, file: Path | None, n_shown: int) -> dict[str, Any]:
    """Write the pieces that occur `min_count` times or more; return their sizes, sources and the most frequent ones."""
    counts = added([counts])  # sorted, as a file of counts is
    if min_count > 1:
        counts = counts.at_least(min_count)
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


def lines(document: dict[str, Any]) -> str:
    """Return the document as text: sources, most frequent pieces, sizes, and how to train on them."""
    shown = []
    if document["sources"]:
        rows = [[s["name"], f"{s['n_bytes']:,}", f"{s['weight']:g}", s["digest"][:16]] for s in document["sources"]]
        shown += [options.table(rows, ["source", "bytes", "weight", "sha256"]), ""]
    if document["most_frequent"]:
        rows = [[repr(piece["piece"]), f"{piece['count']:,}"] for piece in document["most_frequent"]]
        shown += [options.table(rows, ["piece", "count"]), ""]
    n_distinct, n_pieces = document["n_distinct_pieces"], document["n_pieces"]
    shown.append(f"{n_distinct:,} distinct pieces, {n_pieces:,} in all, split by {document['pattern']}")
    saved = document["saved"]
    advice = f"saved in {saved}; train on it: bpebench train --counts {saved}"
    shown.append("not saved; --out FILE saves them" if saved is None else advice)
    return "\n".join(shown)
