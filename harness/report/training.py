"""Tables of training: speed, the vocabularies of the run, and the first tokens they learned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.plateau import plateau
from harness.records import Trained, of_kind
from harness.report import speed, wording
from harness.report.table import Column, Row, Table, frame_of


def training_table(speed_rows: Sequence[Row]) -> Table:
    """Return the time of every trainer on the training workloads."""
    rows = [
        speed.shown(row) | {"seconds": row["n_bytes"] / row["median"] / 1e6 if row["median"] else None}
        for row in speed_rows
        if row["task"] == "train"
    ]
    columns = (
        Column("implementation", "implementation"),
        Column("kind", "kind"),
        Column("seconds", "time", wording.duration, right=True),
        Column("text", "text", right=True),
        Column("median", "MB/s", wording.figure, right=True),
        Column("interval", "95 % interval", right=True),
        Column("ratio", "× best", right=True),
        Column("n_tokens", "merges", wording.count, right=True),
        *((Column("verdict", "verdict", elastic=True),) if any(row["verdict"] for row in rows) else ()),
    )
    return Table(
        name="training",
        title="Training speed",
        frame=frame_of(rows, [*speed.SPEED_KEYS, "seconds", "interval", "ratio", "text", "verdict"]),
        note="A trainer too slow for the whole text is given a slice of it; × best compares time per byte. Merges are "
        "verified against the reference trainer's, under the tie rule the workload names.",
        columns=columns,
        group_by="workload",
    )


def _trained(records: Iterable[object]) -> list[Trained]:
    return list({(t.model, t.implementation): t for t in of_kind(records, Trained)}.values())


def trained_table(records: Iterable[object]) -> Table:
    """Return the vocabularies trained in this run: merges, bytes of text, seconds."""
    rows: list[Row] = [
        {
            "model": t.model, "implementation": t.implementation, "corpus": t.corpus, "vocab_size": t.vocab_size,
            "ties": t.ties, "n_merges": t.n_merges, "n_bytes": t.n_bytes, "seconds": t.seconds,
            "digest": t.digest, "plateau_merge": plateau(t.merge_counts),
        }
        for t in _trained(records)
    ]  # fmt: skip
    columns = (
        Column("model", "model"), Column("implementation", "trained by"), Column("corpus", "corpus"),
        Column("vocab_size", "vocab", wording.count, right=True),
        Column("ties", "ties"),
        Column("n_merges", "merges", wording.count, right=True),
        Column("n_bytes", "text", wording.size, right=True),
        Column("seconds", "time", wording.duration, right=True),
        Column("plateau_merge", "plateau after", wording.count, right=True),
    )  # fmt: skip
    keys = [
        "model", "implementation", "corpus", "vocab_size", "ties", "n_merges", "n_bytes", "seconds", "plateau_merge",
        "digest",
    ]  # fmt: skip
    return Table(
        name="trained",
        title="Trained: the vocabularies of this run",
        frame=frame_of(rows, keys),
        note="The plateau is the knee of the curve of merge counts: after that merge their frequency flattens.",
        columns=columns,
    )


def learned_table(records: Iterable[object], at_most: int = 20) -> Table:
    """Return the first tokens each vocabulary of this run learned, how often each pair occurred, and the plateau."""
    rows: list[Row] = []
    titles = {}
    for t in _trained(records):
        key = f"{t.model} {t.implementation}"
        titles[key] = _learned_title(t)
        for i, token in enumerate(t.first_tokens[:at_most]):
            times = t.merge_counts[i] if i < len(t.merge_counts) else None
            rows.append(
                {
                    "vocabulary": key, "model": t.model, "implementation": t.implementation, "merge": i,
                    "token": token.text, "count": times,
                }
            )  # fmt: skip
    columns = (
        Column("merge", "merge", wording.count, right=True),
        Column("token", "token", lambda token: f"'{wording.text(token)}'"),
        Column("count", "times", wording.count, right=True),
    )
    return Table(
        name="learned",
        title="Learned: the first tokens of each vocabulary",
        frame=frame_of(rows, ["vocabulary", "model", "implementation", "merge", "token", "count"]),
        columns=columns,
        group_by="vocabulary",
        group_title=titles,
    )


def _learned_title(t: Trained) -> str:
    title = f"{t.model}: {t.n_merges:,} merges by {t.implementation} from {wording.size(t.n_bytes)}"
    flat = plateau(t.merge_counts)
    return title if flat is None else f"{title}; plateau after merge {flat:,} (≤ {t.merge_counts[flat]:,} times)"
