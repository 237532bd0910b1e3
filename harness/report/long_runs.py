"""Tables of effects over time: a stream of new documents, repeated calls on long texts, memory of whole texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from harness.measure.stats import percentile
from harness.records import Measurement, TextMemory, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of

_STRETCHES = 10


def _measured(records: Sequence[object], states: Sequence[str]) -> dict[tuple[str, str], list[Measurement]]:
    """Return rounds that were verified and timed, by workload and implementation, without copies."""
    found: dict[tuple[str, str], list[Measurement]] = {}
    for m in of_kind(records, Measurement):
        if m.state in states and m.status == "ok" and m.copy == 0 and m.samples_seconds:
            found.setdefault((m.workload, m.implementation), []).append(m)
    return found


def _median(figures: Iterable[float | None]) -> float | None:
    """Return the median over the rounds that have a figure."""
    known = [figure for figure in figures if figure is not None]
    return median(known) if known else None


def _speed(m: Measurement, first: int, last: int) -> float | None:
    """Return MB/s of the parts from `first` up to `last`; None where there are none."""
    seconds = m.samples_seconds[first:last]
    return len(seconds) * m.n_bytes / sum(seconds) / 1e6 if seconds else None


def _growth(m: Measurement) -> float | None:
    """Return the bytes of resident memory added per 100 MB of text, after the first ten."""
    first = len(m.resident_bytes) // _STRETCHES
    if first < 1:
        return None
    added = m.resident_bytes[-1] - m.resident_bytes[first - 1]
    return added / ((len(m.resident_bytes) - first) * m.n_bytes) * 1e8


def sustained_table(records: Sequence[object]) -> Table:
    """Return speed by stretch, call times and memory of implementations on the workloads `sustained`."""
    rows: list[Row] = []
    for (workload, implementation), rounds in _measured(records, ("sustained",)).items():
        stretch = max(1, rounds[0].samples_wanted // _STRETCHES)
        row: Row = {
            "workload": workload,
            "implementation": implementation,
            "parts": min(len(m.samples_seconds) for m in rounds),
            "parts_wanted": rounds[0].samples_wanted,
            "resident_bytes": _median(m.resident_bytes[-1] for m in rounds if m.resident_bytes),
            "growth_bytes": _median(map(_growth, rounds)),
        }
        for number in range(_STRETCHES):
            first = number * stretch
            row[f"stretch_{number + 1}"] = _median(_speed(m, first, first + stretch) for m in rounds)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)):
            row[name] = _median(percentile(dict(m.call_times), share) * 1e6 for m in rounds if m.call_times)
        rows.append(row)
    rows.sort(key=lambda row: (row["workload"], -row["parts"], row["p50"] or 0))
    for row in rows:
        row["shown_parts"] = f"{row['parts']} of {row['parts_wanted']}"
    columns = (
        Column("implementation", "implementation"),
        Column("stretch_1", "first tenth, MB/s", wording.figure, right=True),
        Column("stretch_5", "fifth", wording.figure, right=True),
        Column("stretch_10", "last", wording.figure, right=True),
        Column("p50", "a call, µs: 50 %", wording.figure, right=True),
        Column("p99", "99 %", wording.figure, right=True),
        Column("p999", "99.9 %", wording.figure, right=True),
        Column("resident_bytes", "memory at the end", wording.size, right=True),
        Column("growth_bytes", "growth per 100 MB", wording.size, right=True),
        Column("shown_parts", "parts", right=True),
    )
    keys = [
        "workload", "implementation", *(f"stretch_{n + 1}" for n in range(_STRETCHES)), "p50", "p99", "p999",
        "resident_bytes", "growth_bytes", "parts", "parts_wanted", "shown_parts",
    ]  # fmt: skip
    return Table(
        name="sustained",
        title="New documents without end",
        frame=frame_of(rows, keys),
        note="Documents of one size, none of which comes twice, one call each. Of several rounds the median. Fewer "
        "parts than wanted: the time ran out. Growth is counted from the end of the first tenth.",
        columns=columns,
        group_by="workload",
    )


def long_text_table(records: Sequence[object]) -> Table:
    """Return speed, page faults and system time of calls on a long text after a first one, or after a pause."""
    rows: list[Row] = []
    for (workload, implementation), rounds in _measured(records, ("second-call", "after-pause")).items():
        row: Row = {
            "workload": workload,
            "implementation": implementation,
            "speed": _median(m.n_bytes / median(m.samples_seconds) / 1e6 for m in rounds),
            "page_faults": _median(max(m.page_faults) for m in rounds if m.page_faults),
            "system_ms": _median(max(m.system_seconds) * 1e3 for m in rounds if m.system_seconds),
        }
        for name in rounds[0].parts_seconds:
            row[name] = _median(m.n_bytes / median(m.parts_seconds[name]) / 1e6 for m in rounds)
        rows.append(row)
    rows.sort(key=lambda row: (row["workload"], -row["speed"]))
    columns = (
        Column("implementation", "implementation"),
        Column("speed", "MB/s", wording.figure, right=True),
        Column("after an idle pause", "after an idle pause", wording.figure, right=True),
        Column("after another's work", "after another's work", wording.figure, right=True),
        Column("page_faults", "page faults", wording.count, right=True),
        Column("system_ms", "in the system, ms", wording.figure, right=True),
    )
    keys = ["workload", "implementation", "speed", "after an idle pause", "after another's work"]
    return Table(
        name="long-texts",
        title="Long texts called again",
        frame=frame_of(rows, [*keys, "page_faults", "system_ms"]),
        note="Page faults and time in the system are those of the call that had most. Of several rounds the median.",
        columns=columns,
        group_by="workload",
    )


def text_memory_table(records: Sequence[object]) -> Table:
    """Return implementations that remember whole texts, or that could not be tested for it."""
    rows: list[Row] = []
    for found in of_kind(records, TextMemory):
        if not found.remembers and found.status == "ok":
            continue
        ratios = [new / met for met, new in zip(found.met_seconds, found.new_seconds, strict=True) if met]
        verdict = "the same process" if not found.earlier else "an earlier process"
        rows.append(
            {
                "implementation": found.implementation,
                "model": found.model,
                "task": found.task if found.state == "warm-same" else f"{found.task}, {found.state}",
                "ratio": median(ratios) if ratios else None,
                "verdict": verdict if found.status == "ok" else f"{found.status}: {found.reason}",
            }
        )
    columns = (
        Column("implementation", "implementation"),
        Column("model", "model"),
        Column("task", "call"),
        Column("ratio", "new text × known text", wording.figure, right=True),
        Column("verdict", "given to", elastic=True),
    )
    return Table(
        name="text-memory",
        title="Who remembers whole texts",
        frame=frame_of(rows, ["implementation", "model", "task", "ratio", "verdict"]),
        note="How many times longer a text takes that was never given than one given before, both of the same pieces. "
        "Such calls are not ranked where texts repeat.",
        columns=columns,
    )
