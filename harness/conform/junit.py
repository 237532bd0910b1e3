"""A report as JUnit XML for continuous integration: one test case per check."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from harness.conform.report import shown_input
from harness.conform.verdicts import CheckVerdict, ConformanceReport

_OPEN = ("not offered", "not asked")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: ConformanceReport) -> bytes:
    """Return the document: failures as `failure`, what was not offered or not asked as `skipped`, the rest as passed.

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
    """Escape what XML cannot hold."""
    return _NOT_XML.sub(lambda found: ascii(found[0])[1:-1], text)
