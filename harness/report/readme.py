"""The README's generated parts and the pages of the runs: written from records, and checked for staleness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.records import write_atomically
from harness.report import palette
from harness.report.charts import svg
from harness.report.contents import Run, digest_line, image_path, render_block, run_of
from harness.report.markers import ReadmeError, blocks
from harness.report.run_readme import pages

UNCOMMITTED = "results/local"


_REMEDY = "bpebench report --readme"
"""Regenerates every block from the run its marker names; naming a run would use that one for all of them."""


def splice(readme_text: str, run_folder: Path | None = None, *, root: Path | None = None) -> str:
    """Return `readme_text` with every block regenerated: from the runs its markers name, or all from `run_folder`.

    `root` is the folder of the README, which the runs' paths start from (default: the working directory).
    """
    root = Path() if root is None else root
    label = None if run_folder is None else _label(run_folder, root)
    runs: dict[str, Run] = {}
    parts: list[str] = []
    position = 0
    for block in blocks(readme_text):
        if label is not None and block.needs_run:
            block = replace(block, run=label)
        parts += [readme_text[position : block.marker_start], block.marker, render_block(block, runs, root)]
        position = block.end
    return "".join([*parts, readme_text[position:]])


def is_stale(readme_text: str, *, root: Path | None = None) -> list[str]:
    """Return a line for each part of the README that differs from the runs its markers name."""
    root = Path() if root is None else root
    runs: dict[str, Run] = {}
    stale = []
    for block in blocks(readme_text):
        where = f"line {block.line}: generated:{block.name}"
        if block.needs_run and not block.run:
            stale.append(f"{where} names no run yet; run `bpebench report results/NAME --readme`")
        elif block.marker + render_block(block, runs, root) != readme_text[block.marker_start : block.end]:
            stale.append(f"{where} is stale; run `{_REMEDY}`")
        elif block.chart is not None:
            chart = runs[block.run].charts[block.chart]
            stale += [
                f"{where}: {image_path(block.run, chart, scheme)} is stale or missing; run `{_REMEDY}`"
                for scheme in palette.SCHEMES
                if digest_line(chart) not in _read(root / image_path(block.run, chart, scheme))
            ]
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
    before = readme.read_text(encoding="utf-8")
    text = splice(before, run_folder, root=root)
    changed: list[Path] = []
    for path, content in [*_images(text, root), *pages(root), (readme, text)]:
        if _read(path) != content:
            write_atomically(path, content.encode())
            changed.append(path)
    return changed


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


def _images(text: str, root: Path) -> Iterator[tuple[Path, str]]:
    runs: dict[str, Run] = {}
    for block in blocks(text):
        if block.chart is not None:
            chart = run_of(block, runs, root).charts[block.chart]
            for scheme in palette.SCHEMES:
                path = root / image_path(block.run, chart, scheme)
                if digest_line(chart) in _read(path):
                    yield path, _read(path)
                else:
                    yield path, f"{digest_line(chart)}\n{svg(chart, scheme)}\n"
