"""Decides how the pattern of a model is run: by which automaton, or why by none. Caches tables on disk, by pattern."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np
import regex

from impls.compiled.codegen.build import source_digest
from impls.compiled.pretokenize.layout import (
    AUTOMATON,
    CL100K,
    DEEPSEEK,
    GPT2,
    NEIGHBOURS,
    O200K,
    QWEN,
    STAGES_IN_TURN,
    TEKKEN,
    WHOLE_TEXT,
)
from impls.compiled.pretokenize.split_context import FlagTables, Splitting
from impls.compiled.storage import cache_folder, packed, read_checked, unpacked, write_checked
from impls.core.pattern.borders import ascii_pairs
from impls.core.pattern.classes import paged
from impls.core.pattern.flags import Kind, character_flags
from impls.core.pattern.syntax import NotExpressible
from impls.core.pattern.tables import SplitTables, cuts_outside, split_tables, stage_tables
from impls.core.text.patterns import NAMED

_FORMAT = 3
_WINDOWS = {
    "gpt2": GPT2,
    "gpt2-0.14": GPT2,
    "cl100k": CL100K,
    "cl100k-0.14": CL100K,
    "llama3": CL100K,
    "qwen": QWEN,
    "o200k": O200K,
    "tekken": TEKKEN,
}


@lru_cache(maxsize=64)
def splitting_of(stages: tuple[str, ...], *, with_windows: bool = True) -> tuple[Splitting | None, str]:
    """Return what splits by `stages`, and its description: 'automaton', or 'regex: ' and the reason it is not one.

    'automaton, windows' means that a bit-parallel twin of the pattern runs before the automaton, 'automaton, 3 stages'
    that there is one automaton per stage.
    """
    if not stages:
        return Splitting(WHOLE_TEXT, None), "automaton"
    tables: list[SplitTables] = []
    for number, stage in enumerate(stages, 1):
        try:
            tables.append(stage_tables(stage, _split_tables))
        except NotExpressible as error:
            return None, f"regex: {error}" if len(stages) == 1 else f"regex: stage {number}: {error}"
    if len(tables) > 1:
        words = f"automaton, {len(tables)} stages"
        if stages == NAMED["deepseek"] and with_windows:
            return Splitting(DEEPSEEK, None, _flag_tables("deepseek"), stages=tuple(tables)), f"{words}, windows"
        return Splitting(STAGES_IN_TURN, None, stages=tuple(tables)), words
    if tables[0].has_gaps:
        return Splitting(STAGES_IN_TURN, None, stages=tuple(tables)), "automaton, gaps"
    windows = next((splitter for name, splitter in _WINDOWS.items() if NAMED[name] == stages), AUTOMATON)
    if windows == AUTOMATON or not with_windows:
        return Splitting(AUTOMATON, tables[0]), "automaton"
    flags = _flag_tables("with case" if windows in (O200K, TEKKEN) else "without case")
    return Splitting(windows, tables[0], flags), "automaton, windows"


def with_borders(splitting: Splitting, borders: SplitTables, *, with_windows: bool = True) -> tuple[Splitting, str]:
    """Return a splitting that cuts by `splitting`, then at `borders`; and its description."""
    stages = (*splitting.automata, borders)
    if len(stages) == 1 and with_windows:
        return Splitting(NEIGHBOURS, borders, pairs=ascii_pairs(borders)), "automaton, borders, windows"
    if len(stages) == 1:
        return Splitting(AUTOMATON, borders), "automaton, borders"
    return Splitting(STAGES_IN_TURN, None, stages=stages), f"automaton, {len(stages) - 1} stages, borders"


def cuts_of(splitting: Splitting, kept_whole: Iterable[str]) -> np.ndarray | None:
    """Return where texts may be cut, but inside none of `kept_whole`: int64 by class; None if there are stages, or no
    cuts."""
    return None if splitting.tables is None else cuts_outside(splitting.tables, kept_whole)


def _split_tables(pattern: str) -> SplitTables:
    def make() -> dict[str, np.ndarray]:
        tables = split_tables(pattern)
        return {field.name: np.array(getattr(tables, field.name)) for field in fields(tables)}

    kept: dict[str, Any] = {name: one if one.ndim else one.item() for name, one in _kept(pattern, make).items()}
    return SplitTables(**kept)


@lru_cache(maxsize=3)
def _flag_tables(kind: Kind) -> FlagTables:
    def make() -> dict[str, np.ndarray]:
        pages, flags = paged(character_flags(kind))
        return {"pages": pages, "flags": flags}

    kept = _kept(f"flags, {kind}", make)
    return FlagTables(kept["pages"], kept["flags"])


def _kept(what: str, make: Callable[[], Mapping[str, np.ndarray]]) -> Mapping[str, np.ndarray]:
    """Return the arrays that `make` builds, from the user's cache if it holds them."""
    # The digest covers the kernels; the code that makes the tables is pure Python, with a version number.
    key = hashlib.sha256("\0".join((str(_FORMAT), regex.__version__, source_digest(), what)).encode()).hexdigest()
    path = cache_folder() / "patterns" / f"{key[:32]}.bin"
    kept = read_checked(path)
    if kept is not None:
        return unpacked(kept)
    made = make()
    write_checked(path, packed(made))
    return made
