"""The record of a run, `verdicts.jsonl`, one line per package and vocabulary, and the page made from it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import msgspec

from harness.conform.report import shown_input
from harness.conform.verdicts import CheckVerdict, ConformanceReport, overall
from harness.npm.packages import READS_JSON, NpmPackage
from harness.records import write_atomically

FILE = "verdicts.jsonl"
PAGE = "README.md"
PAGE_TEMPLATE = "page.md"
_LONGEST_ANSWER = 120


class Fault(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One fault with the smallest input that shows it."""

    check: str
    also_fails: list[str] = msgspec.field(default_factory=list)
    """Later checks that fail for the same reason."""
    stage: str = ""
    reason: str
    input: str = ""
    """A Python expression; for a long irregular text its ends, length and SHA-256."""
    expected: str = ""
    got: str = ""


class Judged(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The results of one package with one vocabulary."""

    package: str
    version: str
    integrity: str
    model: str
    node: str = ""
    """The version of node that ran it."""
    reason: str = ""
    """Why it was not judged or not timed."""
    reference: str = ""
    checks: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """Names of the checks by status; empty if it was not judged."""
    faults: list[Fault] = msgspec.field(default_factory=list)
    processor: str = ""
    """Processor that it was timed on."""
    megabytes_per_second: dict[str, float] = msgspec.field(default_factory=dict)
    """Encoding speed by corpus, in processor time inside its own process."""

    def take(self, report: ConformanceReport) -> None:
        """Take from a report what a reader needs to reproduce the faults."""
        self.reference, self.checks = report.reference, {}
        for verdict in report.verdicts:
            self.checks.setdefault(verdict.status, []).append(verdict.check)
        self.faults = [_fault(report, verdict) for verdict in report.faults]


def empty(package: NpmPackage, model: str) -> Judged:
    """Return the record of a package before it is judged."""
    return Judged(package=package.name, version=package.version, integrity=package.integrity, model=model)


def _fault(report: ConformanceReport, verdict: CheckVerdict) -> Fault:
    example = verdict.counterexample
    return Fault(
        check=verdict.check,
        also_fails=[other.check for other in report.failed if other.same_as == verdict.check],
        stage=verdict.stage or "",
        reason=_cut(verdict.reason),
        input="" if example is None else shown_input(example),
        expected="" if example is None else _cut(example.expected),
        got="" if example is None else _cut(example.got),
    )


def _cut(answer: str) -> str:
    return answer if len(answer) <= _LONGEST_ANSWER else f"{answer[:_LONGEST_ANSWER]} …"


def write(folder: Path, judged: list[Judged]) -> None:
    """Write the record and its page."""
    write_atomically(folder / FILE, b"".join(msgspec.json.encode(one) + b"\n" for one in judged))
    write_atomically(folder / PAGE, page(judged).encode())


def read(folder: Path) -> list[Judged]:
    """Return the record in a folder, or an empty one."""
    file = folder / FILE
    return [msgspec.json.decode(line, type=Judged) for line in file.read_bytes().splitlines()] if file.exists() else []


def page(judged: list[Judged]) -> str:
    """Return the tables of verdicts, faults and speeds as Markdown, from the template `page.md`."""
    from jinja2 import Template

    timed = [one for one in judged if one.megabytes_per_second]
    corpora = list(dict.fromkeys(name for one in timed for name in one.megabytes_per_second))
    source = (files("harness.npm") / PAGE_TEMPLATE).read_text("utf-8")
    template = Template(source, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    page: str = template.render(
        nodes=" and ".join(sorted({one.node for one in judged if one.node})),
        given_as_json=sorted({one.package for one in judged if one.package in READS_JSON}),
        verdicts=_table(
            ["package", "vocabulary", "verdict", "passed", "failed", "not asked or not offered"], map(_row, judged)
        ),
        faults=_table(
            ["package", "vocabulary", "check", "what is wrong", "input", "expected", "got"],
            [row for one in judged for row in _faults(one)],
        ),
        speeds=_table(
            ["package", "vocabulary", *corpora],
            [[*_named(one), *(_rounded(one.megabytes_per_second.get(name)) for name in corpora)] for one in timed],
        ),
        machines="; ".join(sorted({f"{one.processor}, node {one.node}" for one in timed})),
    )
    return page


def _named(one: Judged) -> list[str]:
    return [f"{one.package} {one.version}", one.model]


def _row(one: Judged) -> list[str]:
    if not one.checks:
        return [*_named(one), f"not judged: {one.reason}", "", "", ""]
    statuses = {check: status for status, checks in one.checks.items() for check in checks}
    failed = one.checks.get("failed", [])
    passed = len(one.checks.get("passed", [])) + len(one.checks.get("same as reference", []))
    not_run = len(one.checks.get("not asked", [])) + len(one.checks.get("not offered", []))
    named = f"{len(failed)}: {', '.join(failed)}" if failed else "0"
    return [*_named(one), overall(statuses), str(passed), named, str(not_run)]


def _faults(one: Judged) -> list[list[str]]:
    return [
        [*_named(one), fault.check, fault.reason, _code(fault.input), _code(fault.expected), _code(fault.got)]
        for fault in one.faults
    ]


def _code(shown: str) -> str:
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`" if shown else ""


def _table(headers: list[str], rows: Iterable[list[str]]) -> str:
    from tabulate import tabulate

    written = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return tabulate(written, headers, "github", disable_numparse=True) if written else ""


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}" if value < 10 else f"{value:.0f}"
