"""Tables of effects over time: a stream of new documents, repeated calls on long texts, caches of whole texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from harness.measure.analysis.stats import percentile
from harness.records import Measurement, TextMemory, of_kind
from harness.report.table import Row, grouped

_STRETCHES = 10
_PARTS = ("after an idle pause", "after another's work")


def _over_rounds(
    records: Sequence[object], states: Sequence[str], figures_of: Callable[[Measurement], Row]
) -> Iterator[tuple[list[Measurement], Row]]:
    """Yield the rounds of each workload and implementation, verified and timed, and the median of each figure.

    Copies are left out; a figure that is None in every round is None.
    """
    timed = [
        m
        for m in of_kind(records, Measurement)
        if m.state in states and m.status == "ok" and m.copy == 0 and m.samples_seconds
    ]
    for (workload, implementation), rounds in grouped(timed, lambda m: (m.workload, m.implementation)).items():
        row: Row = {"workload": workload, "implementation": implementation}
        by_round = [figures_of(m) for m in rounds]
        for key in by_round[0]:
            known = [figures[key] for figures in by_round if figures[key] is not None]
            row[key] = median(known) if known else None
        yield rounds, row


def _sustained(m: Measurement) -> Row:
    """Return MB/s by stretch, the times of calls and the memory of a round."""
    length = max(1, m.samples_wanted // _STRETCHES)
    stretches = [m.samples_seconds[first : first + length] for first in range(0, _STRETCHES * length, length)]
    calls = dict(m.call_times)
    shares = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
    return {
        **{f"stretch_{n}": len(s) * m.n_bytes / sum(s) / 1e6 if s else None for n, s in enumerate(stretches, 1)},
        **{name: percentile(calls, share) * 1e6 if calls else None for name, share in shares.items()},
        "resident_bytes": m.resident_bytes[-1] if m.resident_bytes else None,
        "growth_bytes": _growth(m),
    }


def _growth(m: Measurement) -> float | None:
    """Return the bytes of resident memory added per 100 MB of text, after the first tenth."""
    first = len(m.resident_bytes) // _STRETCHES
    if first < 1:
        return None
    added = m.resident_bytes[-1] - m.resident_bytes[first - 1]
    return added / ((len(m.resident_bytes) - first) * m.n_bytes) * 1e8


def sustained_rows(records: Sequence[object]) -> list[Row]:
    """Return speed by stretch, call times and memory of implementations on the workloads `sustained`."""
    rows: list[Row] = []
    for rounds, row in _over_rounds(records, ("sustained",), _sustained):
        parts, wanted = min(len(m.samples_seconds) for m in rounds), rounds[0].samples_wanted
        rows.append(row | {"parts": parts, "parts_wanted": wanted, "shown_parts": f"{parts} of {wanted}"})
    return sorted(rows, key=lambda row: (row["workload"], -row["parts"], row["p50"] or 0))


def _called_again(m: Measurement) -> Row:
    """Return MB/s, overall and by part, and system figures of the slowest call of a round."""
    by_part = {part: m.parts_seconds.get(part) for part in _PARTS}
    return {
        "speed": m.n_bytes / median(m.samples_seconds) / 1e6,
        **{part: m.n_bytes / median(seconds) / 1e6 if seconds else None for part, seconds in by_part.items()},
        "page_faults": max(m.page_faults, default=None),
        "system_ms": max(m.system_seconds) * 1e3 if m.system_seconds else None,
    }


def long_text_rows(records: Sequence[object]) -> list[Row]:
    """Return speed, page faults and system time of calls on a long text after a first one, or after a pause."""
    rows = [row for _, row in _over_rounds(records, ("second-call", "after-pause"), _called_again)]
    return sorted(rows, key=lambda row: (row["workload"], -row["speed"]))


def text_memory_rows(records: Sequence[object]) -> list[Row]:
    """Return implementations that cache whole texts, or that could not be tested for it."""
    rows: list[Row] = []
    for found in of_kind(records, TextMemory):
        if not found.remembers and found.status == "ok":
            continue
        ratios = [new / met for met, new in zip(found.met_seconds, found.new_seconds, strict=True) if met]
        given_to = "an earlier process" if found.earlier else "the same process"
        rows.append(
            {
                "implementation": found.implementation,
                "model": found.model,
                "task": found.task if found.state == "warm-same" else f"{found.task}, {found.state}",
                "ratio": median(ratios) if ratios else None,
                "verdict": given_to if found.status == "ok" else f"{found.status}: {found.reason}",
            }
        )
    return rows
