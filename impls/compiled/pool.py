"""Contexts for threads: a call takes one and gives it back; as many exist as were ever in use at once.

Taking and giving back are single list operations, which are atomic. In a forked child no thread but the one that
forked goes on, so what the others had in use is free again.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from impls.compiled.builtins import Builtins, available, list_items_offset, shared_integers
from impls.compiled.context import Context
from impls.compiled.layout import BUSY
from impls.compiled.numpy_api import numpy_api
from impls.compiled.specials import SoughtTable
from impls.compiled.split_context import Splitting
from impls.compiled.str_layout import str_layout
from impls.compiled.tables import ModelTables

_living: weakref.WeakSet[Context] = weakref.WeakSet()


def _all_idle() -> None:
    for context in _living:
        context.slots[BUSY >> 3] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_all_idle)


@dataclass(frozen=True, slots=True)
class Worker:
    """A context and, where the interpreter allows, its built-ins."""

    context: Context
    builtins: Builtins | None


class Pool:
    """Workers over one model and pattern.

    `sought` is the table of its special texts; `cuts`, where there are some, is for `Context.take_in_parts`.
    """

    def __init__(
        self, tables: ModelTables, splitting: Splitting, sought: SoughtTable, cuts: np.ndarray | None = None
    ) -> None:
        self._make: Callable[[], Worker] = lambda: _worker(tables, splitting, sought, cuts)
        self._free: list[Worker] = []

    def new(self) -> Worker:
        """A worker of one's own."""
        return self._make()

    def take_free(self) -> Worker | None:
        """A worker nobody else uses until it is given back, if there is one that need not be made."""
        try:
            return self._free.pop()
        except IndexError:
            return None

    def make(self) -> Worker:
        """A worker for threads, nobody else's until it is given to the pool."""
        worker = self._make()
        worker.context.touch_buffers()
        return worker

    def take(self) -> Worker:
        """A worker nobody else uses until it is given back."""
        return self.take_free() or self.make()

    def give(self, worker: Worker) -> None:
        """Gives back what `take` gave."""
        self._free.append(worker)

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        """A worker nobody else uses while the block runs."""
        worker = self.take()
        try:
            yield worker
        finally:
            self.give(worker)


def _worker(tables: ModelTables, splitting: Splitting, sought: SoughtTable, cuts: np.ndarray | None) -> Worker:
    context = Context(tables, splitting)
    _living.add(context)
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
