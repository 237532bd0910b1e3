"""Tables of how many tokens a text costs: the Turkish comparison first, then every corpus and model."""

from __future__ import annotations

from collections.abc import Iterable

from harness.outcome import Outcome
from harness.records import Compression
from harness.report import wording
from harness.report.table import Row, Table, grouped, latest, ratio, table_of

PARAGRAPH = "turkish-paragraph"
HELD_OUT = "turkish/held-out"
DEFAULT_PRICE_PER_MILLION = 2.5


def latest_compressions(records: Iterable[object]) -> list[Compression]:
    """Return the last compression record of each model, text and implementation, in order of first appearance."""
    return latest(records, Compression, "model", "corpus", "implementation", "n_texts", "n_bytes")


def same_text(records: Iterable[Compression]) -> list[Compression]:
    """Return for each corpus the records on the text that most models were given, and all failures.

    A corpus may have been read in slices of several sizes; only equal slices compare.
    """
    records = list(records)
    fine = [r for r in records if r.status == Outcome.RIGHT]
    chosen: dict[str, dict[str, Compression]] = {}
    for (corpus, *_), some in grouped(fine, lambda r: (r.corpus, r.n_texts, r.n_bytes)).items():
        by_model = {r.model: r for r in some}
        if len(by_model) >= len(chosen.get(corpus, {})):
            chosen[corpus] = by_model
    failed = {(r.corpus, r.model): r for r in records if r.status != Outcome.RIGHT}
    return [
        *(r for by_model in chosen.values() for r in by_model.values()),
        *(r for (corpus, model), r in failed.items() if model not in chosen.get(corpus, {})),
    ]


def turkish_table(records: Iterable[object], price_per_million: float) -> Table:
    """Return the tokens and the cost of one Turkish text under several vocabularies."""
    chosen = same_text(r for r in latest_compressions(records) if r.corpus in (PARAGRAPH, HELD_OUT))
    chosen.sort(key=lambda r: (r.corpus != PARAGRAPH, r.status != Outcome.RIGHT, r.n_tokens, r.vocab_size))
    fine = [r for r in chosen if r.status == Outcome.RIGHT]
    fewest = {r.corpus: r.n_tokens for r in reversed(fine) if r.n_tokens}
    rows: list[Row] = []
    for r in fine:
        cost = r.n_tokens * price_per_million / 1e6 / max(1, r.n_texts)
        rows.append(
            {
                "text": r.corpus, "model": r.model, "status": r.status, "reason": r.reason,
                "vocab_size": r.vocab_size or None, "n_bytes": r.n_bytes, "n_tokens": r.n_tokens,
                "bytes_per_token": ratio(r.n_bytes, r.n_tokens),
                "tokens_over_fewest": ratio(r.n_tokens, fewest.get(r.corpus, 0)),
                "cost": cost, "cost_per_1000": 1000 * cost,
            }
        )  # fmt: skip
    absent = dict.fromkeys(f"{r.model} ({r.status}: {r.reason})" for r in chosen if r.status != Outcome.RIGHT)
    return table_of(
        "turkish",
        rows,
        group_title={r.corpus: _title(r) for r in reversed(fine)},
        price=wording.figure(price_per_million),
        not_weighed=f"\nNot weighed: {'; '.join(absent)}." if absent else "",
    )


def _title(r: Compression) -> str:
    if r.corpus == PARAGRAPH:
        return f"A paragraph of our own ({wording.count(r.n_bytes)} bytes)"
    return (
        f"Documents held out from training ({wording.count(r.n_texts)} documents, {wording.size(r.n_bytes)}; "
        "cost of a mean document)"
    )


def compression_table(records: Iterable[object]) -> Table:
    """Return bytes and characters per token and tokens per word, for every corpus under every model."""
    rows: list[Row] = []
    for r in latest_compressions(records):
        fine = r.status == Outcome.RIGHT
        n_tokens = r.n_tokens if fine else 0
        rows.append(
            {
                "corpus": r.corpus, "model": r.model, "implementation": r.implementation, "status": r.status,
                "reason": r.reason, "verdict": "" if fine else ": ".join(filter(None, (r.status, r.reason))),
                "vocab_size": r.vocab_size or None, "n_texts": r.n_texts, "n_bytes": r.n_bytes or None,
                "n_tokens": n_tokens if fine else None, "bytes_per_token": ratio(r.n_bytes, n_tokens),
                "characters_per_token": ratio(r.n_characters, n_tokens),
                "tokens_per_word": ratio(n_tokens, r.n_words) if fine else None,
            }
        )  # fmt: skip
    rows.sort(key=lambda row: (row["corpus"], -(row["bytes_per_token"] or 0)))
    several = len({(row["corpus"], row["model"]) for row in rows}) < len(rows)
    return table_of("compression", rows, without=() if several else ("implementation",))
