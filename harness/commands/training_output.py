"""What `train` prints about the vocabulary it learned; with --count-only, what goes with it, is written and printed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.commands import options
from harness.printable import printable, token_shown
from harness.report.wording import size
from impls import Model
from impls.core.counts import PieceCounts, added
from impls.core.text.patterns import name_of
from impls.formats.counts import save_counts


def write_counts(counts: PieceCounts, min_count: int, file: Path | None, n_shown: int) -> dict[str, Any]:
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
        shown.append(printable(f"ended {asked_for - model.vocab_size:,} ids short of {asked_for:,}: {short}"))
    return "\n".join(shown)
