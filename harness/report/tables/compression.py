"""The table of how many tokens each text takes under each vocabulary."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from harness.grouping import grouped
from harness.outcome import Outcome
from harness.records import Compression
from harness.report.table import Row, Table, latest, ratio, table_of

PARAGRAPH = "turkish-paragraph"
HELD_OUT = "turkish/held-out"


def compression_table(records: Iterable[object]) -> Table:
    """Return tokens, and bytes and characters per token, of every text under every model, the fewest tokens first.

    A corpus may have been read in slices of several sizes: only tokens of equal slices are compared.
    """
    last = latest(records, Compression, "model", "corpus", "implementation", "n_texts", "n_bytes")
    rows: list[Row] = []
    for some in grouped(last, lambda record: (record.corpus, record.n_texts, record.n_bytes)).values():
        fewest = min((record.n_tokens for record in some if record.status is Outcome.RIGHT), default=0)
        for record in some:
            n_tokens = record.n_tokens if record.status is Outcome.RIGHT else 0
            counts = {
                "vocab_size": record.vocab_size or None, "n_bytes": record.n_bytes or None,
                "n_tokens": n_tokens or None, "over_fewest": ratio(n_tokens, fewest) or None,
                "bytes_per_token": ratio(record.n_bytes, n_tokens),
                "characters_per_token": ratio(record.n_characters, n_tokens),
                "tokens_per_word": ratio(n_tokens, record.n_words) or None,
            }  # fmt: skip
            rows.append(asdict(record) | counts)
    rows.sort(key=lambda row: (row["corpus"], -(row["bytes_per_token"] or 0)))
    several = len({(row["corpus"], row["model"]) for row in rows}) < len(rows)
    return table_of("compression", rows, without=() if several else ("implementation",))
