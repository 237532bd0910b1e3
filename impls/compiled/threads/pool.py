"""Contexts for threads: a call borrows one; as many exist as were ever in use at once.

A worker is free again once its loan exists no more, however its borrower ended, so that no interrupt can lose one.
Borrowing takes no lock: a finalizer or a signal handler that borrows meanwhile, or waits for a thread that does,
waits for nobody. In a forked child only the thread that forked goes on: what others were borrowing is given up there,
as they may have been halfway through writing it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from impls.compiled.context import Context
from impls.compiled.cpython.builtins import Builtins, available, list_items_offset, shared_integers
from impls.compiled.cpython.numpy_api import numpy_api
from impls.compiled.cpython.str_layout import str_layout
from impls.compiled.pretokenize.specials import SoughtTable
from impls.compiled.pretokenize.split_context import Splitting
from impls.compiled.tables import ModelTables


@dataclass(frozen=True, slots=True)
class Worker:
    """A context and, where the interpreter allows, its built-ins."""

    context: Context
    builtins: Builtins | None


class Loan:
    """The use of a worker, as long as this object exists."""

    __slots__ = ("__weakref__", "worker")

    def __init__(self, worker: Worker) -> None:
        self.worker = worker


class Pool:
    """Workers over one model and pattern.

    `sought` is the table of its special texts; `cuts`, where there are some, is for `Context.take_in_parts`.
    """

    def __init__(
        self, tables: ModelTables, splitting: Splitting, sought: SoughtTable, cuts: np.ndarray | None = None
    ) -> None:
        self._make: Callable[[], Worker] = lambda: _worker(tables, splitting, sought, cuts)
        self._workers: list[tuple[Worker, list[weakref.ref[Loan]]]] = []
        """Each with its loans: the first that still exists has it. None of the others that tried at once has."""
        _living.add(self)

    def new(self) -> Worker:
        """A worker of one's own."""
        return self._make()

    def take_free(self) -> Loan | None:
        """A worker nobody else uses, if there is one that need not be made."""
        for worker, loans in self._workers:
            loan = Loan(worker)
            loans.append(weakref.ref(loan))
            existing = [reference for reference in loans if reference() is not None]
            if existing and existing[0]() is loan:
                loans[:] = existing
                return loan
        return None

    def make(self) -> Loan:
        """A new worker for threads."""
        worker = self._make()
        worker.context.touch_buffers()
        loan = Loan(worker)
        self._workers.append((worker, [weakref.ref(loan)]))
        return loan

    def take(self) -> Loan:
        """A worker nobody else uses."""
        return self.take_free() or self.make()

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        """A worker nobody else uses while the block runs."""
        loan = self.take()
        yield loan.worker

    def give_up_borrowed(self) -> None:
        """Forget the workers in use; who uses them may go on."""
        self._workers = [(worker, loans) for worker, loans in self._workers if all(one() is None for one in loans)]


_living: weakref.WeakSet[Pool] = weakref.WeakSet()


def _give_up_borrowed() -> None:
    for pool in list(_living):
        pool.give_up_borrowed()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up_borrowed)


def _worker(tables: ModelTables, splitting: Splitting, sought: SoughtTable, cuts: np.ndarray | None) -> Worker:
    context = Context(tables, splitting)
    if not available():
        return Worker(context, None)
    n_ids = max(tables.n_symbols, int(tables.ids.max(initial=0)) + 1)
    context.hand_out_integers(shared_integers(n_ids), list_items_offset())
    context.look_for(sought)
    api = numpy_api()
    if api is not None:
        context.make_arrays(api)
    strings = str_layout()
    if strings is not None:
        context.read_strings(strings)
        if cuts is not None:
            context.take_in_parts(cuts)
    return Worker(context, Builtins.of(context))
