"""What a verb writes besides its answer into the folder of --out: the same as JSON, CSV and LaTeX, a page, charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands.verb import json_text

if TYPE_CHECKING:
    from harness.report.charts.chart import Chart


def write_charts(folder: Path, charts: Sequence[Chart]) -> list[Path]:
    """Write each chart as NAME-light.svg and NAME-dark.svg; return their paths."""
    from harness.records import write_atomically
    from harness.report.charts.chart import svg
    from harness.report.page.templates import slug
    from harness.report.palette import SCHEMES

    paths = []
    for chart in charts:
        for scheme in SCHEMES:
            paths.append(folder / f"{slug(chart.name)}-{scheme}.svg")
            write_atomically(paths[-1], svg(chart, scheme).encode())
    return paths


def write(folder: Path, name: str, document: Any, csv: str, latex: str, page: str, charts: Sequence[Chart]) -> None:
    """Write NAME.json, .csv and .tex, the page of a decision, and the charts."""
    from harness.records import write_atomically

    texts = {f"{name}.json": json_text(document), f"{name}.csv": csv, f"{name}.tex": latex, "decision.md": page}
    for file, text in texts.items():
        write_atomically(folder / file, text.encode())
    write_charts(folder, charts)
