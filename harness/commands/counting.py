"""What `train --count-only` prints about the pieces it counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from harness.commands import options
from impls.core.counts import PieceCounts
from impls.core.text.patterns import name_of

OPTIONS = (
    *("corpora", "counts", "count_only", "pattern", "out", "weight", "min_count", "documents", "field", "errors"),
    *("memory_limit", "workers", "scheduler", "resume", "show", "as_json"),
)
"""The options of `train` that go with --count-only."""


def document(counts: PieceCounts, file: Path | None, n_shown: int) -> dict[str, Any]:
    """Return the sizes and sources of the counts, and the `n_shown` most frequent pieces."""
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
