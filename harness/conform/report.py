"""The report of a whole run: its overall verdict, which failures are one fault, and all of it as text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import msgspec

from harness.conform.verdicts import CheckVerdict, FailingInput
from harness.report.layout import render as written
from harness.report.table import plain_table
from impls.core.errors import plural

ESSENTIAL = {"ids": "ids were", "round-trip": "round trip was"}
"""The checks without which a target is not judged, with words for them."""
CONFORMS, PASSED = "conforms", "the checks asked for passed"
_VARYING = re.compile(r"\d+|: '.*|^.*(ends: |the last time: )|^after .*")
"""Parts of a reason that vary: counts, how often a process failed, and its output; what came before and its effect."""


class ConformanceReport(msgspec.Struct, kw_only=True):
    """The report of a whole run."""

    target: str
    reference: str
    model: str
    verdicts: list[CheckVerdict]
    seconds: float
    n_failures: int = 0
    """How often the target's process failed and was replaced."""

    @property
    def failed(self) -> list[CheckVerdict]:
        """Return the failures, in the order of the checks."""
        return [verdict for verdict in self.verdicts if verdict.status == "failed"]

    @property
    def verdict(self) -> str:
        """Return the overall verdict in a few words."""
        return overall({verdict.check: verdict.status for verdict in self.verdicts})

    @property
    def conforms(self) -> bool:
        """Return whether nothing failed, and ids and round trip were judged."""
        return self.verdict == CONFORMS

    @property
    def has_passed(self) -> bool:
        """Return whether it conforms, or passed the checks asked for where these leave out ids or round trip."""
        return self.verdict in (CONFORMS, PASSED)

    @property
    def faults(self) -> list[CheckVerdict]:
        """Return the failures without those that repeat a fault."""
        return [verdict for verdict in self.failed if not verdict.same_as]


def overall(statuses: Mapping[str, str]) -> str:
    """Return the verdict on a target whose checks have these statuses."""
    if "failed" in statuses.values():
        return "does not conform"
    if missing := [what for check, what in ESSENTIAL.items() if statuses.get(check) == "not asked"]:
        return f"not judged (the {missing[0]} not judged)"
    if {"passed", "same as reference", "incomplete"}.isdisjoint(statuses.values()):
        return "not judged (no check could judge anything)"
    if cut := [check for check, status in statuses.items() if status == "incomplete"]:
        return f"incomplete ({', '.join(cut)})"
    return CONFORMS if statuses.keys() >= ESSENTIAL.keys() else PASSED


def mark_repeated(verdicts: Sequence[CheckVerdict]) -> None:
    """Set `same_as` of each failure to the first check that failed for the same reason."""
    faults: list[CheckVerdict] = []
    for verdict in verdicts:
        if verdict.status == "failed":
            verdict.same_as = next((fault.check for fault in faults if _is_same_fault(fault, verdict)), "")
            faults += [] if verdict.same_as else [verdict]


def _is_same_fault(a: CheckVerdict, b: CheckVerdict) -> bool:
    """Return whether two failures show one fault, judging by their inputs, answers and stages."""
    x, y = a.counterexample, b.counterexample
    if x is not None and y is not None:
        if x.text is not None and x.text == y.text and (a.stage == b.stage or x.got == y.got):
            return True
        if x.ids is not None and y.ids is not None and a.stage == b.stage:
            return a.stage == "cache" or _holds(x.ids, y.ids) or _holds(y.ids, x.ids)
        if a.stage == "cache" and b.stage in ("cache", "determinism"):
            return (x.ids is None) == (y.ids is None)
    if a.stage != b.stage:
        return False
    if a.stage == "resources":
        return all("time" in reason or " µs " in reason for reason in (a.reason, b.reason))
    same = _VARYING.sub("", a.reason) == _VARYING.sub("", b.reason)  # how it ends, not how often
    return a.stage == "determinism" or (same if a.stage in ("process", "bad input") else a.reason == b.reason)


def _holds(ids: Sequence[int], part: Sequence[int]) -> bool:
    return f" {' '.join(map(str, part))} " in f" {' '.join(map(str, ids))} "


# --- as text ---------------------------------------------------------------------------------------------------

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
