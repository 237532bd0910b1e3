"""Generate the README's parts and the runs' pages from records, write them, and check whether they are stale.

A block begins with `<!-- generated:NAME run:results/RUN -->` and ends with `<!-- /generated -->`. NAME is a table
(`bpebench report RUN --json` lists them), `headlines` or `chart-throughput`. Further words of a marker: `only:REGEX`
keeps the groups of a table (its implementations, if it has no groups) that match, `only:ID` one of the headlines, and
`columns:KEY,KEY` the columns of a table. The table `overview` may be of several runs of one machine (`run:A,B`): the
figures of a workload are those of the last of them that has it, all else is the first run's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from markupsafe import escape

from harness.measure.comparison import machine_difference
from harness.measure.summary import CITABLE_FLOOR
from harness.records import RecordError, write_atomically
from harness.report import palette
from harness.report.chart import Chart, svg
from harness.report.headlines import Headline
from harness.report.readme.runs import headline_list, pages, table_text
from harness.report.run import Run
from harness.report.table import Table
from harness.report.tables import overview
from harness.report.wording import percent

_MARKER = re.compile(
    r"^<!-- generated:(?P<words>[^\n]*?) -->[ \t]*$|^<!-- (?P<end>/generated) -->[ \t]*$", re.MULTILINE
)
_WORDS = ("run", "only", "columns")


class ReadmeError(RecordError):
    """Raised for an invalid marker; the message names its line."""


@dataclass(frozen=True, slots=True)
class Block:
    """One generated part of a README."""

    name: str
    line: int
    """Line of its opening marker, from 1."""
    start: int
    """Offset of the line after the opening marker."""
    end: int
    """Offset of the closing marker."""
    runs: tuple[str, ...]
    only: str = ""
    columns: str = ""
    """Keys with commas between them; empty for all columns."""


def blocks(text: str) -> list[Block]:
    """Return the generated parts of `text` in order; raise `ReadmeError` for an unpaired or invalid marker."""
    markers = list(_MARKER.finditer(text))
    return [_block(*pair, text) for pair in zip_longest(markers[::2], markers[1::2])]


def _block(opening: re.Match[str], closing: re.Match[str] | None, text: str) -> Block:
    line = text.count("\n", 0, opening.start()) + 1
    if opening["end"]:
        raise ReadmeError(f"line {line}: <!-- /generated --> closes nothing")
    name, *words = opening["words"].split()
    if closing is None or not closing["end"]:
        raise ReadmeError(f"line {line}: generated:{name} is not closed by <!-- /generated -->")
    pairs = dict(word.partition(":")[::2] for word in words)
    runs = tuple(filter(None, pairs.get("run", "").split(",")))
    if unknown := [word for word in pairs if word not in _WORDS]:
        raise ReadmeError(f"line {line}: {unknown[0]!r} means nothing in a marker; known: {', '.join(_WORDS)}")
    if not runs:
        raise ReadmeError(f"line {line}: generated:{name} has no run; add run:results/NAME")
    if len(runs) > 1 and name != "overview":
        raise ReadmeError(f"line {line}: generated:{name} is of one run; only the overview may be of several")
    try:
        re.compile(pairs.get("only", ""))
    except re.error as error:
        raise ReadmeError(f"line {line}: {error}") from None
    place = opening.end() + 1, closing.start()
    return Block(name, line, *place, runs, pairs.get("only", ""), pairs.get("columns", ""))


_CHART = "chart-throughput"

Image = tuple[str, Chart, palette.Scheme]
"""Path relative to the README, chart, and colour scheme."""


def splice(readme_text: str, root: Path = Path()) -> tuple[str, list[Image]]:
    """Return `readme_text` with every block regenerated from the run its marker names, and the images they show.

    `root` is the folder of the README, to which the runs' paths are relative.
    """
    parts: list[str] = []
    images: list[Image] = []
    position = 0
    for block, content, shown in _rendered(readme_text, root):
        parts += [readme_text[position : block.start], content]
        images += shown
        position = block.end
    return "".join([*parts, readme_text[position:]]), images


def stale(readme: Path) -> list[str]:
    """Return a line for each generated part of the file `readme`, image and page that differs from its run."""
    root, text = readme.parent, readme.read_text(encoding="utf-8")
    lines = []
    for block, content, images in _rendered(text, root):
        where = f"{readme.name}: line {block.line}: generated:{block.name}"
        lines += [] if content == text[block.start : block.end] else [f"{where} is stale"]
        wrong = (path for path, chart, _ in images if digest_line(chart) not in _read(root / path))
        lines += [f"{where}: {path} is stale or missing" for path in wrong]
    wrong_pages = (path for path, content in pages(root) if _read(path) != content)
    lines += [f"{path.relative_to(root).as_posix()} is stale or missing" for path in wrong_pages]
    return [f"{line}; run `bpebench report --readme`" for line in lines]


def write_readme(readme: Path) -> list[Path]:
    """Regenerate the blocks of the file `readme`, the images they show and the pages of all committed runs.

    Return the files that changed.
    """
    root = readme.parent
    text, images = splice(readme.read_text(encoding="utf-8"), root)
    changed: list[Path] = []
    for path, content in [*_stale_images(images, root), *pages(root), (readme, text)]:
        if _read(path) != content:
            write_atomically(path, content.encode())
            changed.append(path)
    return changed


def _rendered(text: str, root: Path) -> Iterator[tuple[Block, str, list[Image]]]:
    """Yield each block with its content, from the line after its marker to the closing one, and its images."""
    known: dict[str, Run] = {}
    for block in blocks(text):
        try:
            body, images = _content(block, [known.setdefault(name, Run(name, root / name)) for name in block.runs])
        except ReadmeError as error:
            raise ReadmeError(f"line {block.line}: {error}") from None
        yield block, f"{body.strip()}\n", images


def _content(block: Block, runs: Sequence[Run]) -> tuple[str, list[Image]]:
    """Return a block as Markdown, and its images; raise `ReadmeError` for a marker that cannot be followed."""
    run = runs[0]
    if block.name == _CHART and run.chart is not None:
        images = [(_image_path(run.label, scheme), run.chart, scheme) for scheme in palette.SCHEMES]
        return _picture(run.label, run.chart), images
    return headline_list(_headlines(block, run)) if block.name == "headlines" else _table(block, runs), []


def _stale_images(images: list[Image], root: Path) -> Iterator[tuple[Path, str]]:
    """Yield path and content of each image that differs from its chart."""
    for path, chart, scheme in images:
        if digest_line(chart) not in _read(root / path):
            yield root / path, f"{digest_line(chart)}\n{svg(chart, scheme)}\n"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _headlines(block: Block, run: Run) -> list[Headline]:
    if block.only and block.only not in (known := [headline.id for headline in run.headlines]):
        raise ReadmeError(f"{run.label} has no headline {block.only!r}; it has: {', '.join(known)}")
    return [headline for headline in run.headlines if block.only in ("", headline.id)]


def _table(block: Block, runs: Sequence[Run]) -> str:
    """Return the chosen rows and columns of a table; raise `ReadmeError` for figures too noisy to cite."""
    for run in runs:
        if block.name not in run.tables:
            known = ", ".join([*run.tables, "headlines", *([_CHART] if run.chart else [])])
            raise ReadmeError(f"{run.label} has nothing for {block.name!r}; it has: {known}")
    table, run_of = _joined(runs) if len(runs) > 1 else (runs[0].tables[block.name], {})
    if block.only:
        by = table.group_by or "implementation"
        if by not in table.rows[0]:
            raise ReadmeError(f"the table {block.name!r} has no groups for only: to choose from")
        rows = [row for row in table.rows if re.search(block.only, str(row[by]))]
        if not rows:
            raise ReadmeError(f"no group of {block.name!r} matches {block.only!r}")
        table = replace(table, rows=rows, left_out="")
    if block.columns:
        by_key = {column.key: column for column in table.columns}
        if unknown := [key for key in block.columns.split(",") if key not in by_key]:
            raise ReadmeError(f"{block.name!r} has no column {unknown[0]!r}; it has: {', '.join(by_key)}")
        table = replace(table, columns=tuple(by_key[key] for key in block.columns.split(",")))
    shown = [(runs[0], str(row.get("workload"))) for row in table.rows]
    shown += [(run_of.get(c.key, runs[0]), c.workload) for c in table.columns if c.key != overview.MEMORY]
    noisy = {name: floor for run, name in shown if (floor := run.uncitable.get(name))}
    if noisy:
        refused = ", ".join(f"{name} (floor {percent(floor)})" for name, floor in noisy.items())
        above = f"may not be cited: the noise floor is above {percent(CITABLE_FLOOR)}"
        raise ReadmeError(f"generated:{block.name}: {refused} {above}; leave it out by only: or columns:")
    return table_text(table)


def _joined(runs: Sequence[Run]) -> tuple[Table, dict[str, Run]]:
    """Return the overview of the first run, with the figures of each workload from the last run that has it, and the
    run of each column that is not the first's."""
    first, *others = runs
    table = first.tables["overview"]
    rows = {row["implementation"]: row for row in table.rows}
    columns = {column.key: column for column in table.columns}
    run_of: dict[str, Run] = {}
    for run in others:
        if (differing := machine_difference(first.machine, run.machine)) is not None:
            raise ReadmeError(f"{first.label} and {run.label} ran on different machines ({differing})")
        other = run.tables["overview"]
        figures = [column for column in other.columns if column.workload]
        for column in figures:
            columns[column.key] = replace(column, meaning=f"{column.meaning or column.heading} ({run.label})")
            run_of[column.key] = run
        cells = {row["implementation"]: {column.key: row[column.key] for column in figures} for row in other.rows}
        absent = {column.key: "" for column in figures}
        rows = {name: row | cells.get(name, absent) for name, row in rows.items()}
    note = f"{table.note} Empty: not in that run."
    return replace(table, rows=list(rows.values()), columns=tuple(columns.values()), note=note, left_out=""), run_of


def _image_path(run: str, scheme: palette.Scheme) -> str:
    """Return the path of a chart's image, relative to the README's folder: beside the run's records."""
    return f"{run}/charts/throughput-{scheme}.svg"


def digest_line(chart: Chart) -> str:
    """Return the first line of a chart's image, a digest that shows whether the image is stale."""
    digest = hashlib.sha256(json.dumps([chart.spec, chart.alternative], sort_keys=True).encode()).hexdigest()
    return f"<!-- bpebench chart {digest} -->"


def _picture(run: str, chart: Chart) -> str:
    return (
        "<picture>\n"
        f'  <source media="(prefers-color-scheme: dark)" srcset="{_image_path(run, "dark")}">\n'
        f'  <img alt="{escape(chart.alternative)}" src="{_image_path(run, "light")}">\n'
        "</picture>"
    )
