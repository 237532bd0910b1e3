"""Render a report as text: one line per check, and then each failure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from harness.conform.verdicts import CheckVerdict, ConformanceReport, FailingInput
from harness.report.layout import render as written
from harness.report.table import plain_table
from impls.core.errors import plural

_MARKS = {"passed": "✓", "same as reference": "✓", "failed": "✗"}
_MARKS |= dict.fromkeys(("incomplete", "not offered", "not asked"), "·")
_LONGEST_NOTE = 100


def render(report: ConformanceReport) -> str:
    """Render the table, the failures, and the overall verdict."""
    headers = ["", "check", "verdict", "stage", "inputs", "s", ""]
    table = written(plain_table(headers, list(map(_row, report.verdicts))), "text").rstrip()
    parts = [f"{report.target} against {report.reference} on {report.model}", table]
    for verdict in report.faults:
        parts.append(failure_text(verdict, [other.check for other in report.failed if other.same_as == verdict.check]))
    return "\n\n".join([*parts, conclusion(report)])


def _row(verdict: CheckVerdict) -> list[str]:
    note = verdict.reason if verdict.status != "failed" else verdict.question
    note = note if len(note) <= _LONGEST_NOTE else f"{note[:_LONGEST_NOTE]}…"
    n_inputs, seconds = f"{verdict.n_inputs:,}" if verdict.n_inputs else "", f"{verdict.seconds:.1f}"
    return [_MARKS[verdict.status], verdict.check, verdict.status, verdict.stage or "", n_inputs, seconds, note]


def conclusion(report: ConformanceReport) -> str:
    """Say on one line whether the target conforms."""
    counts = {status: sum(verdict.status == status for verdict in report.verdicts) for status in _MARKS}
    numbers = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
    line = f"{report.verdict}: {numbers}, in {report.seconds:.0f} s"
    if report.n_failures:
        line += f"; its process was replaced {report.n_failures} times"
    failed, faults = len(report.failed), len(report.faults)
    if faults < failed:
        line += f"\n{plural(failed, 'check fails', 'checks fail')} for {plural(faults, 'fault')}"
    return line


def shown_input(example: FailingInput) -> str:
    """Return the input of a counterexample on one line, as Python expressions."""
    if example.text is None and example.ids is not None:
        return f"decode([{', '.join(map(str, example.ids))}])"
    shown = example.expression or "a batch"
    if example.text is not None and len(character := example.text.text) == 1 and not character.isascii():
        name = unicodedata.name(character, "").capitalize()
        shown += f" ({name})" if name else ""
    after = ", ".join(f"'{text.escaped}'" for text in example.after[:3])
    more = f" and {len(example.after) - 3} more" if len(example.after) > 3 else ""
    return f"{shown}, with or after {after}{more}" if after else shown


def failure_text(verdict: CheckVerdict, also: Sequence[str]) -> str:
    """Return a failure as a few lines of text; `also` are other checks that fail by it."""
    lines = [f"✗ {verdict.check} · {verdict.stage}: {verdict.reason}"]
    lines += [f"    also fails {', '.join(also)}"] * bool(also)
    if (example := verdict.counterexample) is not None:
        ids = " ".join(map(str, example.ids or ())) if example.text is not None else ""
        shown = {"input": shown_input(example), "ids": ids, "expected": example.expected, "got": example.got}
        lines += [f"    {label:9} {value}" for label, value in shown.items() if value]
    return "\n".join(lines)
