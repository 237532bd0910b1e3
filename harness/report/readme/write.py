"""Generate the README's parts and the runs' pages from records, write them, and check whether they are stale."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from markupsafe import escape

from harness.measure.summary import CITABLE_FLOOR
from harness.records import write_atomically
from harness.report import palette
from harness.report.chart import Chart, svg
from harness.report.headlines import Headline
from harness.report.readme.markers import Block, ReadmeError, blocks
from harness.report.readme.runs import headline_list, pages, table_text
from harness.report.run import Run
from harness.report.tables import overview
from harness.report.wording import percent

_REMEDY = "bpebench report --readme"
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


def is_stale(readme_text: str, root: Path = Path()) -> list[str]:
    """Return a line for each part of the README that differs from the runs its markers name."""
    stale = []
    for block, content, images in _rendered(readme_text, root):
        where = f"line {block.line}: generated:{block.name}"
        if content != readme_text[block.start : block.end]:
            stale.append(f"{where} is stale; run `{_REMEDY}`")
        else:
            wrong = (path for path, chart, _ in images if digest_line(chart) not in _read(root / path))
            stale += [f"{where}: {path} is stale or missing; run `{_REMEDY}`" for path in wrong]
    return stale


def stale_pages(root: Path) -> list[str]:
    """Return a line for each page under `results` that differs from its records."""
    return [
        f"{path.relative_to(root).as_posix()} is stale or missing; run `{_REMEDY}`"
        for path, content in pages(root)
        if _read(path) != content
    ]


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
    runs: dict[str, Run] = {}
    for block in blocks(text):
        run = runs.setdefault(block.run, Run(block.run, root / block.run))
        if block.name == _CHART and run.chart is not None:
            images = [(_image_path(block.run, scheme), run.chart, scheme) for scheme in palette.SCHEMES]
            yield block, f"{_picture(block.run, run.chart)}\n", images
            continue
        body = headline_list(_headlines(block, run)) if block.name == "headlines" else _table(block, run)
        yield block, f"{body.strip()}\n", []


def _stale_images(images: list[Image], root: Path) -> Iterator[tuple[Path, str]]:
    """Yield path and content of each image that differs from its chart."""
    for path, chart, scheme in images:
        if digest_line(chart) not in _read(root / path):
            yield root / path, f"{digest_line(chart)}\n{svg(chart, scheme)}\n"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _headlines(block: Block, run: Run) -> list[Headline]:
    if block.only and block.only not in (known := [headline.id for headline in run.headlines]):
        there = f"{run.label} has no headline {block.only!r}; it has: {', '.join(known)}"
        raise ReadmeError(f"line {block.line}: {there}")
    return [headline for headline in run.headlines if block.only in ("", headline.id)]


def _table(block: Block, run: Run) -> str:
    found = run.tables
    if block.name not in found:
        known = ", ".join([*found, "headlines", *([_CHART] if run.chart else [])])
        raise ReadmeError(f"line {block.line}: {run.label} has nothing for {block.name!r}; it has: {known}")
    chosen = found[block.name]
    if block.only:
        by = chosen.group_by or "implementation"
        if by not in chosen.rows[0]:
            raise ReadmeError(f"line {block.line}: the table {block.name!r} has no groups for only: to choose from")
        kept = [row for row in chosen.rows if re.search(block.only, str(row[by]))]
        if not kept:
            raise ReadmeError(f"line {block.line}: no group of {block.name!r} matches {block.only!r}")
        chosen = replace(chosen, rows=kept, left_out="")
    if block.columns:
        by_key = {column.key: column for column in chosen.columns}
        if unknown := [key for key in block.columns.split(",") if key not in by_key]:
            known = ", ".join(by_key)
            raise ReadmeError(f"line {block.line}: {block.name!r} has no column {unknown[0]!r}; it has: {known}")
        chosen = replace(chosen, columns=tuple(by_key[key] for key in block.columns.split(",")))
    keys = {column.key for column in chosen.columns}
    shown = {workload for key, (workload, *_) in overview.COLUMNS.items() if key in keys and key != overview.MEMORY}
    shown = shown if block.name == "overview" else {str(row.get("workload")) for row in chosen.rows}
    if wrong := [f"{name} (floor {percent(floor)})" for name, floor in run.uncitable.items() if name in shown]:
        refused = f"{', '.join(wrong)} may not be cited: the noise floor is above {percent(CITABLE_FLOOR)}"
        raise ReadmeError(f"line {block.line}: generated:{block.name}: {refused}; leave it out by only: or columns:")
    return table_text(chosen)


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
