"""Tables of how many tokens a text costs: the Turkish comparison first, then every corpus and model."""

from __future__ import annotations

from collections.abc import Iterable

from harness.records import Compression, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of

PARAGRAPH = "turkish-paragraph"
HELD_OUT = "turkish/held-out"
DEFAULT_PRICE_PER_MILLION = 2.5


def latest(records: Iterable[object]) -> list[Compression]:
    """Return the last record of each model, text and implementation, in order of first appearance."""
    found = {(r.model, r.corpus, r.implementation, r.n_texts, r.n_bytes): r for r in of_kind(records, Compression)}
    return list(found.values())


def same_text(records: Iterable[Compression]) -> list[Compression]:
    """Return for each corpus the records on the text that most models were given, and all failures.

    A corpus may have been read in slices of several sizes; only equal slices compare.
    """
    by_text: dict[tuple[str, int, int], list[Compression]] = {}
    failed: dict[tuple[str, str], Compression] = {}
    for r in records:
        if r.status == "ok":
            by_text.setdefault((r.corpus, r.n_texts, r.n_bytes), []).append(r)
        else:
            failed[r.corpus, r.model] = r
    chosen: dict[str, list[Compression]] = {}
    for (corpus, _, _), some in by_text.items():
        if len({r.model for r in some}) >= len({r.model for r in chosen.get(corpus, [])}):
            chosen[corpus] = some
    found = [r for some in chosen.values() for r in {r.model: r for r in some}.values()]
    timed = {(r.corpus, r.model) for r in found}
    return found + [r for key, r in failed.items() if key not in timed]


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`, None where `whole` is 0 or absent."""
    return part / whole if whole else None


def turkish_table(records: Iterable[object], price_per_million: float) -> Table:
    """Return the tokens and the cost of one Turkish text under several vocabularies."""
    rows: list[Row] = []
    titles: dict[str, str] = {}
    chosen = same_text(r for r in latest(records) if r.corpus in (PARAGRAPH, HELD_OUT))
    chosen.sort(key=lambda r: (r.corpus != PARAGRAPH, r.status != "ok", r.n_tokens, r.vocab_size))
    fewest = {r.corpus: r.n_tokens for r in reversed(chosen) if r.status == "ok" and r.n_tokens}
    for r in chosen:
        fine = r.status == "ok"
        texts = max(1, r.n_texts)
        cost = r.n_tokens * price_per_million / 1e6 / texts if fine else None
        if fine:
            titles.setdefault(r.corpus, _title(r))
        rows.append(
            {
                "text": r.corpus, "model": r.model, "status": r.status, "reason": r.reason,
                "vocab_size": r.vocab_size or None, "n_bytes": r.n_bytes if fine else None,
                "n_tokens": r.n_tokens if fine else None,
                "bytes_per_token": ratio(r.n_bytes, r.n_tokens) if fine else None,
                "tokens_over_fewest": ratio(r.n_tokens, fewest.get(r.corpus, 0)) if fine else None,
                "cost": cost, "cost_per_1000": None if cost is None else 1000 * cost,
            }
        )  # fmt: skip
    absent = dict.fromkeys(
        f"{row['model']} ({row['status']}: {row['reason']})" for row in rows if row["n_tokens"] is None
    )
    rows = [row for row in rows if row["n_tokens"] is not None]
    columns = (
        Column("model", "model", elastic=True),
        Column("vocab_size", "vocab", wording.count, right=True),
        Column("n_tokens", "tokens", wording.count, right=True),
        Column("bytes_per_token", "bytes/token", wording.figure, right=True),
        Column("tokens_over_fewest", "× fewest", wording.figure, right=True),
        Column("cost", "cost", wording.money, right=True),
        Column("cost_per_1000", "per 1,000", wording.money, right=True),
    )
    keys = [
        "text", "model", "status", "reason", "vocab_size", "n_bytes", "n_tokens", "bytes_per_token",
        "tokens_over_fewest", "cost", "cost_per_1000",
    ]  # fmt: skip
    return Table(
        name="turkish",
        title="Turkish: what one text takes under each vocabulary",
        frame=frame_of(rows, keys),
        note=f"Cost at {wording.figure(price_per_million)} per million tokens, in the currency of that price. "
        "More bytes per token is better; fewer tokens are cheaper."
        + (f"\nNot weighed: {'; '.join(absent)}." if absent else ""),
        columns=columns,
        group_by="text",
        group_title=titles,
    )


def _title(r: Compression) -> str:
    if r.corpus == PARAGRAPH:
        return f"A paragraph of our own ({wording.count(r.n_bytes)} bytes)"
    return (
        f"Documents held out from training ({wording.count(r.n_texts)} documents, {wording.size(r.n_bytes)}; "
        "cost of a mean document)"
    )


def _reason_column(rows: list[Row]) -> tuple[Column, ...]:
    """Return a column for verdicts where some row has one, else none."""
    for row in rows:
        row["verdict"] = "" if row["status"] == "ok" else f"{row['status']}: {row['reason']}"
    return (Column("verdict", "verdict", elastic=True),) if any(row["reason"] for row in rows) else ()


def compression_table(records: Iterable[object]) -> Table:
    """Return bytes and characters per token and tokens per word, of every corpus under every model."""
    rows: list[Row] = []
    for r in latest(records):
        fine = r.status == "ok"
        rows.append(
            {
                "corpus": r.corpus, "model": r.model, "implementation": r.implementation, "status": r.status,
                "reason": r.reason, "vocab_size": r.vocab_size or None, "n_bytes": r.n_bytes or None,
                "n_texts": r.n_texts,
                "n_tokens": r.n_tokens if fine else None,
                "bytes_per_token": ratio(r.n_bytes, r.n_tokens) if fine else None,
                "characters_per_token": ratio(r.n_characters, r.n_tokens) if fine else None,
                "tokens_per_word": ratio(r.n_tokens, r.n_words) if fine else None,
            }
        )  # fmt: skip
    rows.sort(key=lambda row: (row["corpus"], -(row["bytes_per_token"] or 0)))
    several = len({(row["corpus"], row["model"]) for row in rows}) < len(rows)
    columns = (
        Column("model", "model", elastic=True),
        *((Column("implementation", "implementation"),) if several else ()),
        Column("vocab_size", "vocab", wording.count, right=True),
        Column("bytes_per_token", "bytes/token", wording.figure, right=True),
        Column("characters_per_token", "chars/token", wording.figure, right=True),
        Column("tokens_per_word", "tokens/word", wording.figure, right=True),
        Column("n_bytes", "text", wording.size, right=True),
        *_reason_column(rows),
    )
    keys = [
        "corpus", "model", "implementation", "status", "reason", "verdict", "vocab_size", "n_texts", "n_bytes",
        "n_tokens", "bytes_per_token", "characters_per_token", "tokens_per_word",
    ]  # fmt: skip
    return Table(
        name="compression",
        title="Compression: how far a token reaches",
        frame=frame_of(rows, keys),
        note="More bytes and characters per token is better, fewer tokens per word is better. "
        "A word is a run of characters that are not white space.",
        columns=columns,
        group_by="corpus",
    )
