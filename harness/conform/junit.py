"""A report as JUnit XML for continuous integration: one test case per check."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from harness.conform.report import shown_input
from harness.conform.verdicts import CheckVerdict, ConformanceReport

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: ConformanceReport) -> bytes:
    """Return the document: failures as `failure`, what was not offered or not asked as `skipped`, the rest as passed.

    In a run that could judge nothing, which would otherwise be green, skipped checks are an `error`.
    """
    skipped = [verdict for verdict in report.verdicts if verdict.status in ("not offered", "not asked")]
    errors, skipped = (skipped, []) if report.unjudged and not report.failed else ([], skipped)
    counts = {
        "tests": str(len(report.verdicts)),
        "failures": str(len(report.failed)),
        "errors": str(len(errors)),
        "skipped": str(len(skipped)),
        "time": f"{report.seconds:.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": "bpebench conform", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": _clean(f"conform {report.target}"), **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in {"reference": report.reference, "model": report.model, **report.about}.items():
        ElementTree.SubElement(properties, "property", {"name": _clean(name), "value": _clean(value)})
    for verdict in report.verdicts:
        _case(suite, report, verdict)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(suite: ElementTree.Element, report: ConformanceReport, verdict: CheckVerdict) -> None:
    attributes = {"classname": _clean(report.target), "name": verdict.check, "time": f"{verdict.seconds:.3f}"}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    reason = _clean(verdict.reason)
    if verdict.status == "failed":
        failure = ElementTree.SubElement(case, "failure", {"type": verdict.stage or "failed", "message": reason})
        failure.text = _clean(failure_text(verdict))
    elif verdict.status in ("not offered", "not asked"):
        tag = "error" if report.unjudged and not report.failed else "skipped"
        ElementTree.SubElement(case, tag, {"message": f"{verdict.status}: {reason}"})
    else:
        lines = [verdict.status, *filter(None, [verdict.reason]), *verdict.exceptions]
        ElementTree.SubElement(case, "system-out").text = _clean("\n".join(lines))


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
