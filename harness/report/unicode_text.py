"""Render the sweep over all code points for the terminal: each engine's Unicode version, and the ranges that differ."""

from __future__ import annotations

from harness.report import wording
from harness.report.explanation import columns
from harness.unicode.sweep import REASONS, Range, UnicodeSweep

_RANGES_SHOWN = 40
"""Most ranges shown for each engine."""


def render_sweep(found: UnicodeSweep) -> str:
    """Return the sweep as two tables and a sentence."""
    head = f"{found.n_code_points:,} code points in {found.n_contexts} contexts, the pattern of {found.pattern}"
    rows = [
        [
            engine.name,
            engine.version or wording.ABSENT,
            wording.count(engine.n_differing) if engine.status == "ok" else wording.ABSENT,
            "" if engine.status == "ok" else f"{engine.status}: {engine.reason}",
        ]
        for engine in found.engines
    ]
    lines = [head, "", columns(["engine", "Unicode", f"differs from {found.reference}", "verdict"], rows)]
    for engine in found.engines:
        ranges = [one for one in found.ranges if one.engine == engine.name]
        if ranges:
            lines += ["", f"{engine.name} and {found.reference}", "", *_ranges(ranges, found.reference, engine.name)]
    return "\n".join([*lines, "", _summary(found)])


def _ranges(ranges: list[Range], reference: str, engine: str) -> list[str]:
    rows = [
        [
            f"U+{one.first:04X}" + (f"–{one.last:04X}" if one.last != one.first else ""),
            wording.count(one.last - one.first + 1),
            one.reference_class,
            one.engine_class,
            one.reason,
            one.name,
        ]
        for one in ranges[:_RANGES_SHOWN]
    ]
    table = columns(["code points", "", f"{reference}: as", f"{engine}: as", "reason", "first of them"], rows)
    left = len(ranges) - _RANGES_SHOWN
    return [table, *([f"… and {left} more ranges; --json lists all"] if left > 0 else [])]


def _summary(found: UnicodeSweep) -> str:
    names = [engine.name for engine in found.answered]
    left_out = ", ".join(engine.name for engine in found.engines if engine.status != "ok")
    not_compared = f"; not compared: {left_out}" if left_out else ""
    if not found.ranges:
        if len(names) < 2:
            return f"nothing was compared: {'no engine' if not names else f'only {names[0]}'} answered"
        return f"{len(names)} engines cut alike around every code point{not_compared}"
    counts: dict[str, int] = {}
    for one in found.ranges:
        counts[one.reason] = counts.get(one.reason, 0) + one.last - one.first + 1
    parts = [f"{wording.count(n)} {reason} ({REASONS[reason]})" for reason, n in counts.items()]  # type: ignore[index]
    return f"differences by reason: {'; '.join(parts)}{not_compared}"
