"""The first table of a run: every implementation, whether its ids are right, and its speed on common tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.measure.comparison import ranking
from harness.records import Measurement, Status, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of

COLUMNS = {
    "encode/cl100k_base/turkish": ("turkish", "Turkish"),
    "encode/cl100k_base/english": ("english", "English"),
    "encode/cl100k_base/code": ("code", "code"),
    "encode/o200k_base/parallel": ("parallel", "18 lang."),
    "encode-documents/o200k_base/parallel": ("documents", "docs"),
    "encode-short/cl100k_base/english": ("short_us", "50, µs"),
    "decode/cl100k_base/turkish": ("decode", "decode"),
    "load/o200k_base": ("load_ms", "load ms"),
}
"""Workload -> name and heading of its column; figures without a unit are MB/s."""
_MEMORY, _MEMORY_HEADING, _MEMORY_OF = "memory_mb", "MB", "encode-cold/o200k_base/parallel"
_CANNOT: tuple[Status, ...] = ("unsupported", "missing")
_WORDS: dict[Status, str] = {
    "mismatch": "wrong", "unverified": "unverified", "timeout": "time", "out-of-memory": "memory", "crash": "crash",
    "panic": "panic",
}  # fmt: skip


def overview_table(records: Sequence[object], speed_rows: Sequence[Row]) -> Table:
    """Return one row for each implementation that was timed, the fastest first; the note names the others.

    Figures are the medians of `speed_rows`, or a word for the verdict. Empty where none of the workloads of `COLUMNS`
    was run.
    """
    rows = [row for row in speed_rows if row["task"] != "train"]
    run = {row["workload"] for row in rows}
    shown = {workload: column for workload, column in COLUMNS.items() if workload in run}
    by_name: dict[str, dict[str, Row]] = {}
    for row in rows if shown else ():
        by_name.setdefault(row["implementation"], {})[row["workload"]] = row
    place = {found.name: i for i, found in enumerate(ranking(of_kind(records, Measurement))[0])}
    order = sorted(by_name, key=lambda name: (place.get(name, len(place)), -_n_timed(by_name[name]), name))
    timed = [name for name in order if _n_timed(by_name[name])]
    with_memory = bool(shown) and _MEMORY_OF in run
    frame = [
        {"implementation": name, "kind": wording.kind_of(name), "ids": _verdict(by_name[name])}
        | {key: _cell(by_name[name].get(workload)) for workload, (key, _) in shown.items()}
        | {_MEMORY: _peak(by_name[name].get(_MEMORY_OF))}
        for name in timed
    ]
    figures = [*shown.values(), *([(_MEMORY, _MEMORY_HEADING)] if with_memory else [])]
    columns = (
        Column("implementation", "implementation"),
        Column("ids", "ids"),
        *(Column(key, heading, _written, right=True) for key, heading in figures),
    )
    return Table(
        name="overview",
        title="Every implementation: are its ids right, how fast is it",
        frame=frame_of(frame, ["implementation", "kind", "ids", *(key for key, _ in figures)]),
        note=_note(shown, with_memory, [name for name in order if name not in timed], by_name),
        columns=columns,
    )


def _n_timed(rows: dict[str, Row]) -> int:
    return sum(row["median"] is not None for row in rows.values())


def _verdict(rows: dict[str, Row]) -> str:
    """Return `exact`, or how often ids were wrong, or why nothing more can be said."""
    asked = [row for row in rows.values() if row["status"] not in _CANNOT]
    failed = Counter(row["status"] for row in asked if row["status"] != "ok")
    if failed:
        return ", ".join(f"{_WORDS[status]} {n}/{len(asked)}" for status, n in failed.most_common())
    if not all(row["exact"] for row in asked):
        return "other by design"
    return "remembers texts" if any(row["remembered"] for row in asked) else "exact"


def _cell(row: Row | None) -> float | str | None:
    if row is None or row["status"] in _CANNOT:
        return None
    return _WORDS[row["status"]] if row["status"] != "ok" else row["median"]


def _peak(row: Row | None) -> float | None:
    return None if row is None or row["peak_memory_bytes"] is None else row["peak_memory_bytes"] / 1e6


def _written(value: float | str | None) -> str:
    return value if isinstance(value, str) else wording.figure(value)


def _note(
    shown: dict[str, tuple[str, str]], with_memory: bool, untimed: list[str], by_name: dict[str, dict[str, Row]]
) -> str:
    models: dict[str, list[str]] = {}
    for workload, (_, heading) in [*shown.items(), *([(_MEMORY_OF, ("", _MEMORY_HEADING))] if with_memory else [])]:
        models.setdefault(workload.split("/")[1], []).append(heading.partition(",")[0])
    of_models = "; ".join(f"{model}: {', '.join(headings)}" for model, headings in models.items())
    meaning = (
        "MB/s of text where no unit is given; 50: texts of 50 characters, a call each; MB: highest memory. A word says "
        "how it ended, — that it cannot be run"
    )
    lines = [f"{meaning}. {of_models}."]
    reasons: dict[str, list[str]] = {}
    for name in untimed:
        statuses = Counter(row["status"] for row in by_name[name].values())
        reasons.setdefault(statuses.most_common(1)[0][0], []).append(name)
    lines += [f"Not timed, {status}: {', '.join(names)}." for status, names in reasons.items()]
    return "\n".join(lines)
