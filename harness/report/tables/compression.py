"""The table of how many tokens each text takes under each vocabulary."""

from __future__ import annotations

from collections.abc import Iterable

from harness.outcome import Outcome
from harness.records import Compression
from harness.report.table import Row, Table, latest, ratio, table_of

PARAGRAPH = "turkish-paragraph"
HELD_OUT = "turkish/held-out"


def latest_compressions(records: Iterable[object]) -> list[Compression]:
    """Return the last compression record of each model, text and implementation, in order of first appearance."""
    return latest(records, Compression, "model", "corpus", "implementation", "n_texts", "n_bytes")


def compression_table(records: Iterable[object]) -> Table:
    """Return tokens, and bytes and characters per token, of every text under every model, the fewest tokens first.

    A corpus may have been read in slices of several sizes: only tokens of equal slices are compared.
    """
    rows: list[Row] = []
    fewest: dict[tuple[str, int, int], int] = {}
    for r in latest_compressions(records):
        fine = r.status == Outcome.RIGHT
        n_tokens = r.n_tokens if fine else 0
        text = (r.corpus, r.n_texts, r.n_bytes)
        if fine:
            fewest[text] = min(fewest.get(text, n_tokens), n_tokens)
        rows.append(
            {
                "corpus": r.corpus, "model": r.model, "implementation": r.implementation, "status": r.status,
                "reason": r.reason,
                "vocab_size": r.vocab_size or None, "n_texts": r.n_texts, "n_bytes": r.n_bytes or None,
                "n_tokens": n_tokens if fine else None, "bytes_per_token": ratio(r.n_bytes, n_tokens),
                "characters_per_token": ratio(r.n_characters, n_tokens),
                "tokens_per_word": ratio(n_tokens, r.n_words) if fine else None, "text": text,
            }
        )  # fmt: skip
    rows.sort(key=lambda row: (row["corpus"], -(row["bytes_per_token"] or 0)))
    rows = [row | {"over_fewest": ratio(row["n_tokens"] or 0, fewest.get(row.pop("text"), 0)) or None} for row in rows]
    several = len({(row["corpus"], row["model"]) for row in rows}) < len(rows)
    return table_of("compression", rows, without=() if several else ("implementation",))
