"""Progress on standard error, with rate and estimate: a bar on a terminal, plain lines elsewhere, JSON with --json."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Literal

import click

from harness.printable import printable, printable_json

Unit = Literal["", "bytes"]
"""The unit of a bar's steps, if their rate is meaningful."""

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_JSON = 1.0
_NOT_ESTIMATED_SECONDS = 2.0
"""The remaining time is not estimated before this."""


class Bar:
    """Receives the progress of long work; this base class shows nothing."""

    def advance(self, steps: float = 1, what: str = "") -> None:
        """Count `steps` more steps as done; `what` names them."""

    def total(self, steps: float) -> None:
        """Set the number of steps."""

    def note(self, line: str) -> None:
        """Print a line above the bar."""


class _Lines(Bar):
    """Prints a line every few seconds: `counting 900.0 MB of x.txt 41 %, 212 MB/s, 2 s left`."""

    def __init__(self, title: str, total: float | None, unit: Unit) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._done = 0.0
        self._start = self._printed = time.monotonic()
        self._begin()

    def advance(self, steps: float = 1, what: str = "") -> None:
        self._done += steps
        now = time.monotonic()
        if now - self._printed >= self._seconds_between:
            self._printed = now
            self._show(what, now - self._start)

    def total(self, steps: float) -> None:
        self._total = steps

    def note(self, line: str) -> None:
        print(printable(line), file=sys.stderr, flush=True)

    _seconds_between = _SECONDS_BETWEEN_LINES

    def _begin(self) -> None:
        self.note(f"{self._title} …")

    def _show(self, what: str, seconds: float) -> None:
        share = f" {min(100, 100 * self._done / self._total):.0f} %" if self._total else ""
        rate = f"{self._done / seconds / 1e6:.3g} MB/s" if self._unit == "bytes" else ""
        left = self._seconds_left(seconds)
        parts = [f"{self._title}{share}", rate, "" if left is None else f"{left:.0f} s left", what]
        self.note(", ".join(filter(None, parts)))

    def _seconds_left(self, seconds: float) -> float | None:
        """Return the remaining time in seconds at the rate so far; None if unknown."""
        if not self._total or not self._done or seconds < _NOT_ESTIMATED_SECONDS:
            return None
        return max(0.0, self._total - self._done) * seconds / self._done


class _JsonLines(_Lines):
    """Prints a JSON object per line, about once a second and at the end; notes are objects with only `note`."""

    _seconds_between = _SECONDS_BETWEEN_JSON

    def note(self, line: str) -> None:
        self._print({"note": line})

    def end(self) -> None:
        """Show the last state."""
        self._show("", time.monotonic() - self._start)

    def _begin(self) -> None:
        self._show("", 0.0)

    def _show(self, what: str, seconds: float) -> None:
        left = self._seconds_left(seconds)
        self._print(
            {
                "progress": self._title, "done": self._done, "total": self._total, "unit": self._unit or "steps",
                "seconds": round(seconds, 3), "seconds_left": None if left is None else round(left, 3), "what": what,
            }
        )  # fmt: skip

    def _print(self, document: dict[str, Any]) -> None:
        print(printable_json(json.dumps(document, ensure_ascii=False)), file=sys.stderr, flush=True)


@contextmanager
def progress(title: str, total: float | None = None, unit: Unit = "") -> Iterator[Bar]:
    """Show a bar titled `title` over `total` steps (None: not known yet) on standard error.

    If the verb was called with --json and standard error is not a terminal, each line is a JSON object with the keys
    progress, done, total, unit, seconds, seconds_left (null while not known) and what.
    """
    if sys.stderr.isatty() and find_spec("rich") is not None:
        with _rich_bar(title, total, unit) as bar:
            yield bar
        return
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("as_json"):
        yield _Lines(title, total, unit)
        return
    lines = _JsonLines(title, total, unit)
    try:
        yield lines
    finally:
        lines.end()


@contextmanager
def _rich_bar(title: str, total: float | None, unit: Unit) -> Iterator[Bar]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import TransferSpeedColumn as Rate

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        *([Rate()] if unit == "bytes" else []),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[what]}"),
    )
    with Progress(*columns, console=console, transient=True) as display:
        task = display.add_task(escape(printable(title)), total=total, what="")

        class _Rich(Bar):
            def advance(self, steps: float = 1, what: str = "") -> None:
                display.update(task, advance=steps, what=escape(printable(what)[:60]))

            def total(self, steps: float) -> None:
                display.update(task, total=steps)

            def note(self, line: str) -> None:
                console.print(printable(line), markup=False, highlight=False)

        yield _Rich()
