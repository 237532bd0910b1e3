"""Render a report: as text, one line per check and then each failure, and as JUnit XML for continuous integration."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from xml.etree import ElementTree

from harness.conform.verdicts import CheckVerdict, ConformanceReport, FailingInput
from harness.report.layout import render as written
from harness.report.table import plain_table
from impls.core.errors import plural

_MARKS = {
    "passed": "✓",
    "same as reference": "✓",
    "failed": "✗",
    "incomplete": "·",
    "not offered": "·",
    "not asked": "·",
}
_LONGEST_REASON = 100
_OPEN = ("not offered", "not asked")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: ConformanceReport) -> str:
    """Render the table, the failures, and the overall verdict."""

    rows = [
        [
            _MARKS[verdict.status],
            verdict.check,
            verdict.status,
            verdict.stage or "",
            f"{verdict.n_inputs:,}" if verdict.n_inputs else "",
            f"{verdict.asked.bytes:,}" if verdict.asked.bytes else "",
            f"{verdict.asked.calls:,}" if verdict.asked.calls else "",
            f"{verdict.seconds:.1f}",
            _short(verdict.reason if verdict.status != "failed" else verdict.question),
        ]
        for verdict in report.verdicts
    ]
    headers = ["", "check", "verdict", "stage", "inputs", "bytes", "calls", "s", ""]
    parts = [
        f"{report.target} against {report.reference} on {report.model}",
        written(plain_table(headers, rows), "text").rstrip(),
    ]
    parts += ["\n".join(_failure(report, verdict)) for verdict in report.faults]
    parts.append(conclusion(report))
    return "\n\n".join(parts)


def conclusion(report: ConformanceReport) -> str:
    """Say on one line whether the target conforms, and if not, where to look first."""
    counts = {status: sum(verdict.status == status for verdict in report.verdicts) for status in _MARKS}
    numbers = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
    line = f"{report.verdict}: {numbers}, in {report.seconds:.0f} s"
    if report.n_failures:
        line += f"; its process was replaced {report.n_failures} times"
    if len(report.faults) < len(report.failed):
        line += (
            f"\n{plural(len(report.failed), 'check fails', 'checks fail')} for {plural(len(report.faults), 'fault')}"
        )
    if (first := report.first) is not None:
        example = first.counterexample
        where = "" if example is None else f" on {shown_input(example)}"
        line += f"\nlook first at {first.stage or first.check}: {first.check}{where}"
    return line


def _failure(report: ConformanceReport, verdict: CheckVerdict) -> Iterator[str]:
    yield f"✗ {verdict.check} · {verdict.stage}: {verdict.reason}"
    again = [other.check for other in report.failed if other.same_as == verdict.check]
    if again:
        yield f"    also fails {', '.join(again)}"
    example = verdict.counterexample
    if example is None:
        return
    ids = " ".join(map(str, example.ids or ())) if example.text is not None else ""
    shown = {"input": shown_input(example), "ids": ids, "expected": example.expected, "got": example.got}
    yield from (f"    {label:9} {value}" for label, value in shown.items() if value)


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


def _short(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"


def junit(report: ConformanceReport) -> bytes:
    """Return a report as JUnit XML: failures as `failure`, checks not supported or not run as `skipped`, the rest as
    passed.

    In a run that could judge nothing, which would otherwise be green, skipped checks are an `error`.
    """
    n_open = sum(verdict.status in _OPEN for verdict in report.verdicts)
    tag, other = ("errors", "skipped") if report.unjudged and not report.failed else ("skipped", "errors")
    counts = {"tests": len(report.verdicts), "failures": len(report.failed), tag: n_open, other: 0}
    counted = {**{name: str(n) for name, n in counts.items()}, "time": f"{report.seconds:.3f}"}
    root = ElementTree.Element("testsuites", {"name": "bpebench conform", **counted})
    suite = _add(root, "testsuite", name=f"conform {report.target}", **counted)
    properties = _add(suite, "properties")
    for name, value in {"reference": report.reference, "model": report.model, **report.about}.items():
        _add(properties, "property", name=name, value=value)
    for verdict in report.verdicts:
        case = _add(suite, "testcase", classname=report.target, name=verdict.check, time=f"{verdict.seconds:.3f}")
        if verdict.status == "failed":
            failure = _add(case, "failure", type=verdict.stage or "failed", message=verdict.reason)
            failure.text = _clean(failure_text(verdict))
        elif verdict.status in _OPEN:
            _add(case, "error" if tag == "errors" else tag, message=f"{verdict.status}: {verdict.reason}")
        else:
            lines = [verdict.status, *filter(None, [verdict.reason]), *verdict.exceptions]
            _add(case, "system-out").text = _clean("\n".join(lines))
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {name: _clean(str(value)) for name, value in attributes.items()})


def failure_text(verdict: CheckVerdict) -> str:
    """Return a failure as a few lines of plain text."""
    lines = [f"{verdict.question} {verdict.stage}: {verdict.reason}"]
    if verdict.same_as:
        lines.append(f"the same fault as in {verdict.same_as}")
    example = verdict.counterexample
    if example is not None:
        lines += [f"input:    {shown_input(example)}", f"expected: {example.expected}", f"got:      {example.got}"]
    return "\n".join(lines)


def _clean(text: str) -> str:
    """Escape characters that XML cannot hold."""
    return _NOT_XML.sub(lambda found: ascii(found[0])[1:-1], text)
