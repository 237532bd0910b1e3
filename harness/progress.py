"""Progress on standard error, with rate and estimate: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import Literal

from harness.printable import printable

Unit = Literal["", "bytes"]
"""The unit of a bar's steps, if their rate is meaningful."""

_SECONDS_BETWEEN_LINES = 5.0


class Bar:
    """Receives the progress of long work; this base class shows nothing."""

    def advance(self, steps: float = 1, what: str = "") -> None:
        """Count `steps` more steps as done; `what` names them."""

    def total(self, steps: float) -> None:
        """Set the number of steps."""

    def note(self, line: str) -> None:
        """Print a line above the bar."""


class _Lines(Bar):
    """Prints a line every few seconds: `counting x.txt 41 %, 212 MB/s, 2 s left`."""

    def __init__(self, title: str, total: float | None, unit: Unit) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._done = 0.0
        self._start = self._printed = time.monotonic()
        self.note(f"{title} …")

    def advance(self, steps: float = 1, what: str = "") -> None:
        self._done += steps
        now = time.monotonic()
        if now - self._printed < _SECONDS_BETWEEN_LINES:
            return
        self._printed, seconds = now, now - self._start
        parts = [self._title, "", "", what]
        if self._total:
            parts[0] += f" {min(100, 100 * self._done / self._total):.0f} %"
            if self._done >= self._total / 100:
                parts[2] = f"{max(0.0, self._total - self._done) * seconds / self._done:.0f} s left"
        if self._unit == "bytes":
            parts[1] = f"{self._done / seconds / 1e6:.3g} MB/s"
        self.note(", ".join(filter(None, parts)))

    def total(self, steps: float) -> None:
        self._total = steps

    def note(self, line: str) -> None:
        print(printable(line), file=sys.stderr, flush=True)


def progress(title: str, total: float | None = None, unit: Unit = "") -> AbstractContextManager[Bar]:
    """Show a bar titled `title` over `total` steps (None: not known yet) on standard error."""
    is_terminal = sys.stderr.isatty() and find_spec("rich") is not None
    return _rich_bar(title, total, unit) if is_terminal else nullcontext(_Lines(title, total, unit))


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
