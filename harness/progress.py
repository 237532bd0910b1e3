"""Progress on standard error: a bar on a terminal, plain lines elsewhere, at most one every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from harness.printable import printable

_SECONDS_BETWEEN_LINES = 5.0


class Bar:
    """Receives the progress of long work; this one shows nothing."""

    def advance(self, steps: float = 1, what: str = "") -> None:
        """Count `steps` more as done; `what` names them."""

    def total(self, steps: float) -> None:
        """Set the number of steps."""

    def note(self, line: str) -> None:
        """Print a line above the bar."""


class _Lines(Bar):
    def __init__(self, title: str, total: float | None) -> None:
        self._title, self._total, self._done = printable(title), total, 0.0
        self._printed = time.monotonic()
        print(f"{printable(title)} …", file=sys.stderr, flush=True)

    def advance(self, steps: float = 1, what: str = "") -> None:
        self._done += steps
        now = time.monotonic()
        if now - self._printed >= _SECONDS_BETWEEN_LINES:
            self._printed = now
            share = "" if not self._total else f" {min(100, 100 * self._done / self._total):.0f} %"
            print(f"{self._title}{share} {printable(what)}".rstrip(), file=sys.stderr, flush=True)

    def total(self, steps: float) -> None:
        self._total = steps

    def note(self, line: str) -> None:
        print(printable(line), file=sys.stderr, flush=True)


@contextmanager
def progress(title: str, total: float | None = None) -> Iterator[Bar]:
    """Show a bar titled `title` over `total` steps (None: not known yet) on standard error."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        yield _Lines(title, total)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
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
