"""Files that a verb writes besides its answer: texts, and charts for a light and a dark page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.report.charts.chart import Chart


def json_text(document: Any) -> str:
    """Return a document as JSON in lines, its unprintable characters escaped."""
    import msgspec

    from harness.printable import printable_json

    return printable_json(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n"


def write(folder: Path, texts: Mapping[str, str], charts: Iterable[Chart]) -> None:
    """Write texts by the name of their file, and each chart as NAME-light.svg and NAME-dark.svg."""
    from harness.records import write_atomically
    from harness.report.charts.chart import svg
    from harness.report.palette import SCHEMES

    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    for chart in charts:
        for scheme in SCHEMES:
            write_atomically(folder / f"{chart.name}-{scheme}.svg", svg(chart, scheme).encode())
