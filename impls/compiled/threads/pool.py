"""Lends contexts to calls: as many as were ever in use at once.

Borrowing takes no lock, so a finalizer or a signal handler that borrows at any moment cannot deadlock. A context that
an interrupt keeps from being returned is garbage, and another is built. In a forked child only the thread that forked
continues: contexts that other threads had borrowed, perhaps halfway through a write, are never returned there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from impls.compiled.context import Context


class Pool:
    """The contexts of one model and pattern; `make` returns a new one."""

    def __init__(self, make: Callable[[], Context]) -> None:
        self.make = make
        self.free: list[Context] = []
        """The contexts that nobody has borrowed."""
        self._builders: list[Thread] = []

    def borrow_free(self) -> Context | None:
        """Take a context out of the free ones; return None if there is none."""
        with suppress(IndexError):
            return self.free.pop()
        return None

    def build_beside(self, n_missing: int) -> None:
        """Build `n_missing` contexts, less those that are being built, on threads that nobody waits for."""
        self._builders = [each for each in self._builders if each.is_alive()]
        for _ in range(n_missing - len(self._builders)):
            self._builders.append(Thread(target=self._build, daemon=True))
            with suppress(RuntimeError):  # the system has no more threads
                self._builders[-1].start()

    def _build(self) -> None:
        with suppress(MemoryError):
            self.free.append(self.make())

    @contextmanager
    def borrowed(self) -> Iterator[Context]:
        """Borrow a free context, or a new one if none is free, while the block runs."""
        context = self.borrow_free() or self.make()
        try:
            yield context
        finally:
            self.free.append(context)
