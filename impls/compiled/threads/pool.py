"""Lends contexts to calls: each call borrows one; there are as many as were ever in use at once.

A context is free again once its loan is garbage, however the borrower ended, so that no interrupt can lose a context.
Borrowing takes no lock, so a finalizer or a signal handler that borrows at any moment cannot deadlock. In a forked
child only the thread that forked continues: contexts borrowed by other threads are dropped there, as they may have been
halfway through a write.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import numpy as np

from impls.compiled.context import Context, ModelTables
from impls.compiled.pretokenize.specials import SpecialTokenTable
from impls.compiled.pretokenize.splitting import Splitting


class Loan:
    """The right to use a context, as long as this object exists."""

    __slots__ = ("__weakref__", "context")

    def __init__(self, context: Context) -> None:
        self.context = context


class Pool:
    """The contexts of one model and pattern.

    `specials` is the table of the model's special tokens; `cuts` says where texts may be cut, see `splitting.cuts_of`.
    """

    def __init__(
        self, tables: ModelTables, splitting: Splitting, specials: SpecialTokenTable, cuts: np.ndarray | None = None
    ) -> None:
        self._tables, self._splitting, self._specials, self._cuts = tables, splitting, specials, cuts
        self._builders: list[Thread] = []
        self._contexts: list[tuple[Context, list[weakref.ref[Loan]]]] = []
        """Contexts with their loans: the first loan that still exists holds the context; later attempts do not."""
        _living.add(self)

    def new(self) -> Context:
        """Return a new context outside the pool."""
        context = Context(self._tables, self._splitting)
        context.reach_python(self._specials, self._cuts)
        return context

    def borrow_free(self) -> Loan | None:
        """Borrow an existing context that is free; return None if there is none."""
        for context, loans in self._contexts:
            loan = Loan(context)
            loans.append(weakref.ref(loan))
            existing = [reference for reference in loans if reference() is not None]
            if existing and existing[0]() is loan:
                loans[:] = existing
                return loan
        return None

    def make(self) -> Loan:
        """Build a new context, touch its buffers, and borrow it."""
        context = self.new()
        context.touch_buffers()
        loan = Loan(context)
        self._contexts.append((context, [weakref.ref(loan)]))
        return loan

    def build_beside(self, n_missing: int) -> None:
        """Build `n_missing` contexts, less those that are being built, on threads that nobody waits for."""
        self._builders = [each for each in self._builders if each.is_alive()]
        for _ in range(n_missing - len(self._builders)):
            self._builders.append(Thread(target=self._build, daemon=True))
            with suppress(RuntimeError):  # the system has no more threads
                self._builders[-1].start()

    def _build(self) -> None:
        with suppress(MemoryError):
            self.make()

    @contextmanager
    def borrowed(self) -> Iterator[Context]:
        """Borrow a free context, or a new one if none is free, while the block runs."""
        loan = self.borrow_free() or self.make()
        yield loan.context

    def drop_borrowed(self) -> None:
        """Drop the contexts in use from the pool; their borrowers may continue to use them."""
        self._contexts = [(context, loans) for context, loans in self._contexts if not any(loan() for loan in loans)]


_living: weakref.WeakSet[Pool] = weakref.WeakSet()


def _drop_borrowed() -> None:
    for pool in list(_living):
        pool.drop_borrowed()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_borrowed)
