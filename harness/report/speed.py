"""Tables of time and memory: speed on every workload, training, load time and peak memory, learned tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from harness.plateau import plateau
from harness.records import Trained, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of
from harness.report.timings import Timing, timings

SPEED_KEYS = (
    "workload", "task", "model", "corpus", "threads", "implementation", "kind", "status", "reason", "unit", "median",
    "low", "high", "times_best", "claimed", "n_bytes", "n_samples", "peak_memory_bytes",
)  # fmt: skip


def speed_rows(records: Iterable[object]) -> list[Row]:
    """One row for each workload and implementation, workloads in order, the best first, failures last."""
    by_workload: dict[str, list[Timing]] = {}
    for timing in timings(records):
        by_workload.setdefault(timing.workload, []).append(timing)
    return [row for some in by_workload.values() for row in _workload_rows(some)]


def _workload_rows(some: Sequence[Timing]) -> list[Row]:
    ranked = sorted((t for t in some if t.rounds), key=_per_unit)
    rows = []
    for t in [*ranked, *(t for t in some if not t.rounds)]:
        row: Row = {
            "workload": t.workload, "task": t.task, "model": t.model, "corpus": t.corpus, "threads": t.threads,
            "implementation": t.implementation, "kind": wording.kind_of(t.implementation), "status": t.status,
            "reason": t.reason, "unit": t.unit, "n_bytes": t.n_bytes if t.rounds else None,
            "peak_memory_bytes": t.peak_memory_bytes,
            "n_samples": sum(map(len, t.rounds)),
        }  # fmt: skip
        if t.rounds:
            samples = [t.figure_of(seconds) for samples in t.rounds for seconds in samples]
            row |= {"median": median(samples), "times_best": _per_unit(t) / _per_unit(ranked[0])}
        rows.append(row)
    return rows


def _per_unit(timing: Timing) -> float:
    return median(seconds for samples in timing.seconds_per_unit() for seconds in samples)


def speed_table(records: Iterable[object], tasks: Sequence[str] | None = None) -> Table:
    """Speed of every implementation on every workload (of `tasks` only, where given)."""
    rows = [row for row in speed_rows(records) if tasks is None or row["task"] in tasks]
    for row in rows:
        row["verdict"] = "" if row["status"] == "ok" else f"{row['status']}: {row['reason']}"
    titles = {
        str(row["workload"]): f"{row['workload']} · {row['unit']}, "
        f"{'higher' if row['unit'] == 'MB/s' else 'lower'} is better"
        for row in rows
    }
    columns = (
        Column("implementation", "implementation"),
        Column("kind", "kind"),
        Column("median", "median", wording.figure, right=True),
        Column("times_best", "× best", wording.figure, right=True),
        Column("n_bytes", "text", wording.size, right=True),
        *((Column("verdict", "verdict", elastic=True),) if any(row["verdict"] for row in rows) else ()),
    )
    return Table(
        name="speed",
        title="Speed",
        frame=frame_of(rows, [*SPEED_KEYS, "verdict"]),
        columns=columns,
        group_by="workload",
        group_title=titles,
    )


def learned_table(records: Iterable[object], at_most: int = 20) -> Table:
    """The first tokens each vocabulary of this run learned, how often each pair occurred, and the plateau."""
    rows = []
    titles = {}
    trained = list({(t.model, t.implementation): t for t in of_kind(records, Trained)}.values())
    for t in trained:
        flat = plateau(t.merge_counts)
        title = f"{t.model}: {t.n_merges:,} merges learned by {t.implementation} from {wording.size(t.n_bytes)}"
        if flat is not None:
            title += f"; counts flatten after merge {flat:,} (≤ {t.merge_counts[flat]:,} times each)"
        titles[f"{t.model} {t.implementation}"] = title
        for i, token in enumerate(t.first_tokens[:at_most]):
            times = t.merge_counts[i] if i < len(t.merge_counts) else None
            rows.append(
                {
                    "vocabulary": f"{t.model} {t.implementation}", "model": t.model,
                    "implementation": t.implementation, "merge": i, "token": token.text, "count": times,
                }
            )  # fmt: skip
    columns = (
        Column("merge", "merge", wording.count, right=True),
        Column("token", "token", lambda token: f"'{wording.text(token)}'"),
        Column("count", "times", wording.count, right=True),
    )
    return Table(
        name="learned",
        title="Learned: the first tokens of each vocabulary trained in this run",
        frame=frame_of(rows, ["vocabulary", "model", "implementation", "merge", "token", "count"]),
        columns=columns,
        group_by="vocabulary",
        group_title=titles,
    )


def trained_table(records: Iterable[object]) -> Table:
    """The vocabularies trained in this run: how many merges, from how much text, in how long."""
    rows = [
        {
            "model": t.model, "implementation": t.implementation, "corpus": t.corpus, "vocab_size": t.vocab_size,
            "n_merges": t.n_merges, "n_bytes": t.n_bytes, "seconds": t.seconds, "digest": t.digest,
            "plateau_merge": plateau(t.merge_counts),
        }
        for t in {(t.model, t.implementation): t for t in of_kind(records, Trained)}.values()
    ]  # fmt: skip
    columns = (
        Column("model", "model"), Column("implementation", "trained by"), Column("corpus", "corpus"),
        Column("vocab_size", "vocabulary", wording.count, right=True),
        Column("n_merges", "merges", wording.count, right=True),
        Column("n_bytes", "text", wording.size, right=True),
        Column("seconds", "time", wording.duration, right=True),
        Column("plateau_merge", "plateau after", wording.count, right=True),
    )  # fmt: skip
    keys = [
        "model", "implementation", "corpus", "vocab_size", "n_merges", "n_bytes", "seconds", "plateau_merge", "digest",
    ]  # fmt: skip
    return Table(
        name="trained",
        title="Training: the vocabularies of this run",
        frame=frame_of(rows, keys),
        note="The plateau is where the frequency of merges flattens (the knee of their curve).",
        columns=columns,
    )


def memory_table(records: Iterable[object]) -> Table:
    """Highest memory on each workload, beyond what the imported implementation held, and the time to load a model."""
    rows = [row for row in speed_rows(records) if row["peak_memory_bytes"] is not None or row["task"] == "load"]
    best: dict[tuple[object, object], Row] = {}
    for row in rows:
        at = best.setdefault(
            (row["model"], row["implementation"]),
            {"model": row["model"], "implementation": row["implementation"], "kind": row["kind"]},
        )
        if row["task"] == "load":
            at["load_ms"] = row.get("median")
            at["load_memory_bytes"] = row["peak_memory_bytes"]
        elif row["peak_memory_bytes"] is not None and row["peak_memory_bytes"] >= at.get("peak_memory_bytes", 0):
            at["peak_memory_bytes"], at["workload"] = row["peak_memory_bytes"], row["workload"]
    columns = (
        Column("implementation", "implementation"), Column("kind", "kind"),
        Column("load_ms", "load, ms", wording.figure, right=True),
        Column("load_memory_bytes", "memory to load", wording.size, right=True),
        Column("peak_memory_bytes", "highest memory", wording.size, right=True),
        Column("workload", "reached on", elastic=True),
    )  # fmt: skip
    keys = ["model", "implementation", "kind", "load_ms", "load_memory_bytes", "peak_memory_bytes", "workload"]
    return Table(
        name="memory",
        title="Memory and load time",
        frame=frame_of(list(best.values()), keys),
        note="Memory is the highest resident memory beyond what the process held once the implementation was "
        "imported; lower is better. Load: from the model's file to the first id.",
        columns=columns,
        group_by="model",
    )
