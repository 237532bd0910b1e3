"""Generate the README's parts and the runs' pages from records, write them, and check whether they are stale."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import escape

from harness.measure.summary import CITABLE_FLOOR
from harness.records import write_atomically
from harness.report import palette
from harness.report.charts.chart import Chart, svg
from harness.report.headlines import Headline
from harness.report.page.templates import slug
from harness.report.readme.markers import Block, ReadmeError, blocks
from harness.report.readme.runs import WIDTH, headline_list, machine_line, pages, table_text
from harness.report.run import Run
from harness.report.tables import overview
from harness.report.wording import percent

UNCOMMITTED = "results/local"
_REMEDY = "bpebench report --readme"
"""Regenerates every block from the run that its marker names; naming a run here would use that one for all blocks."""


Image = tuple[str, Chart, palette.Scheme]
"""Path relative to the README, chart, and colour scheme."""


def splice(readme_text: str, run_folder: Path | None = None, *, root: Path | None = None) -> tuple[str, list[Image]]:
    """Return `readme_text` with every block regenerated, and the images that the blocks show.

    The content comes from the runs that the markers name, or all from `run_folder`. `root` is the folder of the README,
    to which the runs' paths are relative (default: the working directory).
    """
    root = Path() if root is None else root
    label = None if run_folder is None else _label(run_folder, root)
    runs: dict[str, Run] = {}
    parts: list[str] = []
    images: list[Image] = []
    position = 0
    for block in blocks(readme_text):
        if label is not None and block.needs_run:
            block = replace(block, run=label)
        content, shown = _rendered(block, root, runs)
        parts += [readme_text[position : block.start], block.marker, content]
        images += shown
        position = block.end
    return "".join([*parts, readme_text[position:]]), images


def is_stale(readme_text: str, *, root: Path | None = None) -> list[str]:
    """Return a line for each part of the README that differs from the runs its markers name."""
    root = Path() if root is None else root
    runs: dict[str, Run] = {}
    stale = []
    for block in blocks(readme_text):
        where = f"line {block.line}: generated:{block.name}"
        if block.needs_run and not block.run:
            stale.append(f"{where} names no run yet; run `bpebench report results/NAME --readme`")
            continue
        content, images = _rendered(block, root, runs)
        if block.marker + content != readme_text[block.start : block.end]:
            stale.append(f"{where} is stale; run `{_REMEDY}`")
            continue
        for path, chart, _ in images:
            if digest_line(chart) not in _read(root / path):
                stale.append(f"{where}: {path} is stale or missing; run `{_REMEDY}`")
    return stale


def stale_pages(root: Path) -> list[str]:
    """Return a line for each page under `results` that differs from its records."""
    return [
        f"{path.relative_to(root).as_posix()} is stale or missing; run `{_REMEDY}`"
        for path, content in pages(root)
        if _read(path) != content
    ]


def write_readme(readme: Path, run_folder: Path | None = None) -> list[Path]:
    """Regenerate the blocks of the file `readme`, the images they show and the pages of all committed runs.

    Return the files that changed.
    """
    root = readme.parent
    text, images = splice(readme.read_text(encoding="utf-8"), run_folder, root=root)
    changed: list[Path] = []
    for path, content in [*_stale_images(images, root), *pages(root), (readme, text)]:
        if _read(path) != content:
            write_atomically(path, content.encode())
            changed.append(path)
    return changed


def _rendered(block: Block, root: Path, runs: dict[str, Run]) -> tuple[str, list[Image]]:
    """Return the content of a block and its images; `runs` caches the runs already read."""
    if not block.needs_run:
        return render_block(block, None), []
    if not block.run:
        raise ReadmeError(f"line {block.line}: generated:{block.name} names no run; add run:results/NAME")
    run = runs.setdefault(block.run, Run(block.run, root / block.run))
    content = render_block(block, run)
    if block.chart is None:
        return content, []
    chart = chart_of(block, run)
    spec = json.dumps(chart.spec)
    _ensure_citable(block, run, {name for name in run.uncitable if json.dumps(name) in spec}, "another chart")
    return content, [(image_path(block.run, chart, scheme), chart, scheme) for scheme in palette.SCHEMES]


def _stale_images(images: list[Image], root: Path) -> Iterator[tuple[Path, str]]:
    """Yield path and content of each image that differs from its chart."""
    for path, chart, scheme in images:
        if digest_line(chart) not in _read(root / path):
            yield root / path, f"{digest_line(chart)}\n{svg(chart, scheme)}\n"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _label(run_folder: Path, root: Path) -> str:
    try:
        label = run_folder.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise ReadmeError(f"{run_folder}: lies outside the folder of the README, which has to name it") from None
    if label == UNCOMMITTED or label.startswith(UNCOMMITTED + "/"):
        raise ReadmeError(f"{run_folder}: is not committed, so a README must not name it; run with --out results/NAME")
    return label


def render_block(block: Block, run: Run | None) -> str:
    """Return the content of a block, from the line after its marker to the closing one; help needs no run."""
    if run is None:
        verb = block.name.removeprefix("help").removeprefix("-")
        return f"```console\n{help_text([verb] if verb else [], block.line)}\n```\n"
    if block.name == "headlines":
        body = headline_list(_headlines(block, run))
    elif block.name == "machine":
        body = machine_line(run)
    else:
        body = _picture(block, run) if block.chart is not None else _table(block, run)
    return f"{body.strip()}\n"


def _headlines(block: Block, run: Run) -> list[Headline]:
    if block.only and block.only not in (known := [headline.id for headline in run.headlines]):
        there = f"{run.label} has no headline {block.only!r}; it has: {', '.join(known)}"
        raise ReadmeError(f"line {block.line}: {there}")
    return [headline for headline in run.headlines if block.only in ("", headline.id)]


def _table(block: Block, run: Run) -> str:
    found = run.tables(block.price)
    if block.name not in found:
        known = ", ".join([*found, "headlines", "machine", "help", *(f"chart-{name}" for name in run.charts)])
        raise ReadmeError(f"line {block.line}: {run.label} has nothing for {block.name!r}; it has: {known}")
    chosen = found[block.name]
    if block.only:
        by = chosen.group_by or "implementation"
        if by not in chosen.rows[0]:
            raise ReadmeError(f"line {block.line}: the table {block.name!r} has no groups for only: to choose from")
        kept = [row for row in chosen.rows if re.search(block.only, str(row[by]))]
        if not kept:
            raise ReadmeError(f"line {block.line}: no group of {block.name!r} matches {block.only!r}")
        chosen = replace(chosen, rows=kept)
    if block.columns:
        by_key = {column.key: column for column in chosen.columns}
        if unknown := [key for key in block.columns.split(",") if key not in by_key]:
            known = ", ".join(by_key)
            raise ReadmeError(f"line {block.line}: {block.name!r} has no column {unknown[0]!r}; it has: {known}")
        chosen = replace(chosen, columns=tuple(by_key[key] for key in block.columns.split(",")))
    keys = {column.key for column in chosen.columns}
    shown = {workload for key, (workload, _) in overview.COLUMNS.items() if key in keys and key != overview.MEMORY}
    shown = shown if block.name == "overview" else {str(row.get("workload")) for row in chosen.rows}
    _ensure_citable(block, run, shown, "only: or columns:")
    return table_text(chosen)


def _ensure_citable(block: Block, run: Run, shown: Collection[str], how: str) -> None:
    """Raise `ReadmeError` if a block shows a workload whose noise floor is too high for it to be cited."""
    if wrong := [f"{name} (floor {percent(floor)})" for name, floor in run.uncitable.items() if name in shown]:
        refused = f"{', '.join(wrong)} may not be cited: the noise floor is above {percent(CITABLE_FLOOR)}"
        raise ReadmeError(f"line {block.line}: generated:{block.name}: {refused}; leave it out by {how}")


def chart_of(block: Block, run: Run) -> Chart:
    """Return the chart of a block; raise `ReadmeError` if the run has none of this name."""
    if block.chart not in run.charts:
        known = ", ".join(run.charts)
        raise ReadmeError(f"line {block.line}: {run.label} has no chart {block.chart!r}; it has: {known}")
    return run.charts[block.chart]


def image_path(run: str, chart: Chart, scheme: palette.Scheme) -> str:
    """Return the path of a chart's image, relative to the README's folder: beside the run's records."""
    return f"{run}/charts/{slug(chart.name)}-{scheme}.svg"


def digest_line(chart: Chart) -> str:
    """Return the first line of a chart's image, a digest that shows whether the image is stale."""
    parts = [chart.spec, chart.title, chart.subtitle, chart.alternative]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return f"<!-- bpebench chart {digest} -->"


def _picture(block: Block, run: Run) -> str:
    chart = chart_of(block, run)
    return (
        "<picture>\n"
        f'  <source media="(prefers-color-scheme: dark)" srcset="{image_path(run.label, chart, "dark")}">\n'
        f'  <img alt="{escape(chart.alternative)}" src="{image_path(run.label, chart, "light")}">\n'
        "</picture>"
    )


def help_text(verbs: Sequence[str], line: int = 0) -> str:
    """Return `$ bpebench VERB --help` and its output, 100 columns wide."""
    import click

    from harness.cli import group

    command: click.Command = group
    context = click.Context(group, info_name="bpebench", terminal_width=WIDTH, max_content_width=WIDTH)
    for verb in verbs:
        found = group.get_command(context, verb)
        if found is None:
            known = ", ".join(group.list_commands(context))
            raise ReadmeError(f"line {line}: there is no verb {verb!r}; there are: {known}")
        command, context = found, click.Context(found, info_name=verb, parent=context)
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"$ {' '.join(['bpebench', *verbs])} --help\n{text}"
