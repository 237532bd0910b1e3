"""Decides how the pattern of a model is run: by which automaton, or why by none. Caches tables on disk, by pattern.

Builds the part of a context that splits: slots and working space of one thread, and the tables of the pattern.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import regex

from impls.compiled import layout
from impls.compiled.codegen.build import source_digest
from impls.compiled.codegen.native import Slots
from impls.compiled.pages import address, aligned_zeros, cache_folder, packed, read_checked, unpacked, write_checked
from impls.compiled.pretokenize.layout import (
    AUTOMATON,
    CL100K,
    DEEPSEEK,
    GPT2,
    O200K,
    QWEN,
    STAGES_IN_TURN,
    TEKKEN,
    WHOLE_TEXT,
    Automaton,
    Masks,
)
from impls.core.pattern.classes import paged
from impls.core.pattern.flags import Kind, character_flags
from impls.core.pattern.syntax import NotExpressible
from impls.core.pattern.tables import SplitTables, cuts_outside, split_tables, stage_tables
from impls.core.text.patterns import NAMED

_ARRAYS = ("transitions", "ascii_classes", "pages", "page_classes")
"""The arrays of an automaton, by the names they have in `SplitTables` and in `Automaton`."""


@dataclass(frozen=True, slots=True)
class Splitting:
    """The splitter of a context, and its tables."""

    splitter: int
    """`WHOLE_TEXT` and so on: no pattern, an automaton, stages, or windows over these."""
    stages: tuple[SplitTables, ...] = ()
    """The automaton of each stage."""
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Other tables, by the field of `layout.ContextRecord` that points at each."""

    @property
    def automaton(self) -> SplitTables | None:
        """Return the only automaton; None if there are several stages, or gaps."""
        return self.stages[0] if len(self.stages) == 1 and not self.stages[0].has_gaps else None


class SplitContext(Slots):
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
            "tail": layout.TAIL_BYTES + 2 * pad,
        }
        sizes = [-(-n_bytes // 64) * 64 for n_bytes in parts.values()]
        self.hold("work", aligned_zeros(sum(sizes)))
        starts = accumulate(sizes, initial=self["work"])
        for name, start in zip(parts, starts, strict=False):
            self[name] = start

    def _splitting(self, splitting: Splitting) -> None:
        self["splitter"] = splitting.splitter
        for name, array in splitting.arrays.items():
            self.hold(name, array)
        rows = np.zeros(len(splitting.stages), Automaton.dtype)
        for number, tables in enumerate(splitting.stages):
            for name in _ARRAYS:
                array = getattr(tables, name)
                self.keep(f"{name} of stage {number}", array)
                rows[number][name] = address(array)
            rows[number]["end_class"] = tables.end
            rows[number]["has_gaps"] = tables.has_gaps
        self.hold("stages", rows)
        self["n_stages"] = len(rows)


_FORMAT = 4
_WINDOWS = {
    "gpt2": GPT2,
    "gpt2-0.14": GPT2,
    "cl100k": CL100K,
    "cl100k-0.14": CL100K,
    "llama3": CL100K,
    "qwen": QWEN,
    "o200k": O200K,
    "tekken": TEKKEN,
    "deepseek": DEEPSEEK,
}
_FLAGS_OF: dict[int, Kind] = {O200K: "with case", TEKKEN: "with case", DEEPSEEK: "deepseek"}
"""The kind of the flags that windows look up, if not "without case"."""


@lru_cache(maxsize=64)
def splitting_of(stages: tuple[str, ...]) -> tuple[Splitting | None, str]:
    """Return what splits by `stages`, and its description: 'automaton', or 'regex: ' and the reason it is not one.

    'automaton, windows' means that a bit-parallel twin of the pattern runs before the automaton, 'automaton, 3 stages'
    that there is one automaton per stage.
    """
    if not stages:
        return Splitting(WHOLE_TEXT), "automaton"
    tables: list[SplitTables] = []
    flags: Mapping[str, np.ndarray]
    for number, stage in enumerate(stages, 1):
        try:
            tables.append(stage_tables(stage, _split_tables))
        except NotExpressible as error:
            return None, f"regex: {error}" if len(stages) == 1 else f"regex: stage {number}: {error}"
    first, *others = tables
    has_stages = bool(others) or first.has_gaps
    words = f"automaton, {len(tables)} stages" if others else "automaton, gaps" if has_stages else "automaton"
    splitter, flags = STAGES_IN_TURN if has_stages else AUTOMATON, {}
    if named := [number for name, number in _WINDOWS.items() if NAMED[name] == stages]:
        splitter, flags, words = named[0], _flag_tables(_FLAGS_OF.get(named[0], "without case")), f"{words}, windows"
    return Splitting(splitter, tuple(tables), flags), words


def with_borders(splitting: Splitting, borders: SplitTables) -> tuple[Splitting, str]:
    """Return a splitting that cuts by `splitting`, then at `borders`; and its description."""
    stages = (*splitting.stages, borders)
    if len(stages) > 1:
        return Splitting(STAGES_IN_TURN, stages), f"automaton, {len(stages) - 1} stages, borders"
    return Splitting(AUTOMATON, stages), "automaton, borders"


def cuts_of(splitting: Splitting, kept_whole: Iterable[str]) -> np.ndarray | None:
    """Return where texts may be cut, but never inside one of `kept_whole`: int64 of shape (n_classes,).

    None if there are stages, or no cuts.
    """
    return None if splitting.automaton is None else cuts_outside(splitting.automaton, kept_whole)


def _split_tables(pattern: str) -> SplitTables:
    def make() -> dict[str, np.ndarray]:
        tables = split_tables(pattern)
        return {each.name: np.array(getattr(tables, each.name)) for each in fields(tables)}

    kept: dict[str, Any] = {name: array if array.ndim else array.item() for name, array in _kept(pattern, make).items()}
    return SplitTables(**kept)


@lru_cache(maxsize=3)
def _flag_tables(kind: Kind) -> Mapping[str, np.ndarray]:
    """Return the flags of `core/pattern/flags` as a two-level table, by the fields that point at it."""
    return _kept(
        f"flags, {kind}",
        lambda: dict(zip(("flag_pages", "character_flags"), paged(character_flags(kind)), strict=True)),
    )


def _kept(what: str, make: Callable[[], Mapping[str, np.ndarray]]) -> Mapping[str, np.ndarray]:
    """Return the arrays that `make` builds, from the user's cache if it holds them."""
    # The digest covers the kernels; the code that makes the tables is pure Python, with a version number.
    key = hashlib.sha256("\0".join((str(_FORMAT), regex.__version__, source_digest(), what)).encode()).hexdigest()
    path = cache_folder() / "patterns" / f"{key[:32]}.bin"
    kept = read_checked(path)
    if kept is not None:
        return unpacked(kept)
    arrays = make()
    write_checked(path, packed(arrays))
    return arrays
