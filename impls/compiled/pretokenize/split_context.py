"""The part of a context that splits: slots and working space of one thread, and the tables of a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from impls.compiled import layout
from impls.compiled.codegen.build import kernel_address
from impls.compiled.codegen.native import address
from impls.compiled.pages import aligned_zeros
from impls.compiled.pretokenize.layout import OTHERS, Masks, StageRecord
from impls.compiled.slots import DeclaredSlots
from impls.core.pattern.tables import SplitTables

_ARRAYS = ("transitions", "ascii_classes", "pages", "page_classes")
"""The arrays of an automaton, by the names they have in `SplitTables` and in `Automaton`."""


@dataclass(frozen=True, slots=True)
class FlagTables:
    """The flags of `core/pattern/flags` as a two-level table."""

    pages: np.ndarray
    """uint16 of shape (0x4400,): the page of each 64 code points."""
    flags: np.ndarray
    """uint8 of shape (n_pages * 64,): the flags of each code point of a page."""


@dataclass(frozen=True, slots=True)
class Splitting:
    """The splitter of a context, and its tables."""

    splitter: int
    """`WHOLE_TEXT` and so on: no pattern, an automaton, stages, or windows over an automaton."""
    tables: SplitTables | None
    flags: FlagTables | None = None
    stages: tuple[SplitTables, ...] = ()
    pairs: np.ndarray | None = None
    """uint8 of shape (65536,): whether `tables` cut between two ASCII characters, by first | second << 8."""

    @property
    def automata(self) -> tuple[SplitTables, ...]:
        """Return the automaton of each stage."""
        return self.stages if self.tables is None else (self.tables,)


class SplitContext(DeclaredSlots):
    """The slots of a context, which kernels read by address. Not safe for two threads at once."""

    def __init__(self, splitting: Splitting | None) -> None:
        super().__init__(layout.ContextRecord)
        self._work()
        if splitting is not None:
            self._splitting(splitting)

    def _work(self) -> None:
        """Hold the working space of a block, and let fields point at its parts."""
        most, pad = layout.MOST_BOUNDS, layout.PAD_BYTES
        parts = {
            "masks": Masks.dtype.itemsize,
            "ends": 4 * most,
            "keys": layout.Key.dtype.itemsize * most,
            "slots": 8 * most,
            "longer": most // 8,
            "listed": 8 * layout.MOST_LISTED,
            "tail": layout.TAIL_BYTES + 2 * pad,
        }
        sizes = [-(-n_bytes // 64) * 64 for n_bytes in parts.values()]
        self.hold("work", aligned_zeros(sum(sizes)))
        starts = accumulate(sizes, initial=self["work"])
        for field, start in zip(parts, starts, strict=False):
            self[field] = start

    def _splitting(self, splitting: Splitting) -> None:
        self["splitter"] = splitting.splitter
        if splitting.splitter in OTHERS:
            self["split_otherwise"] = kernel_address("split_otherwise")
        tables = splitting.tables
        if tables is not None:
            for field in _ARRAYS:
                self.hold(f"automaton.{field}", getattr(tables, field))
            self["automaton.end_class"] = tables.end
        if splitting.flags is not None:
            self.hold("flag_pages", splitting.flags.pages)
            self.hold("character_flags", splitting.flags.flags)
        if splitting.pairs is not None:
            self.hold("ascii_cuts", splitting.pairs)
        if splitting.stages:
            self._stages(splitting.stages)

    def _stages(self, stages: tuple[SplitTables, ...]) -> None:
        rows = np.zeros(len(stages), StageRecord.dtype)
        for number, tables in enumerate(stages):
            for field in _ARRAYS:
                array = getattr(tables, field)
                self.keep(f"{field} of stage {number}", array)
                rows[number]["automaton"][field] = address(array)
            rows[number]["automaton"]["end_class"] = tables.end
            rows[number]["has_gaps"] = tables.has_gaps
        self.hold("stages", rows)
        self["n_stages"] = len(stages)
