"""How the pattern of a model is run: which automaton, or why not; kept in the user's cache by pattern."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from functools import lru_cache

import numpy as np
import regex

from impls.compiled.arrays import packed, unpacked
from impls.compiled.build import source_digest
from impls.compiled.context import Splitting
from impls.compiled.pattern.syntax import NotExpressible
from impls.compiled.pattern.tables import SplitTables, split_tables
from impls.compiled.storage import cache_folder, read_checked, write_checked

WHOLE_TEXT, AUTOMATON = 0, 1


@lru_cache(maxsize=64)
def splitting_of(stages: tuple[str, ...]) -> tuple[Splitting | None, str]:
    """What splits by `stages`, and in words: 'automaton', or 'regex: ' and the reason why it is not one."""
    if not stages:
        return Splitting(WHOLE_TEXT, None), "automaton"
    if len(stages) > 1:
        return None, f"regex: {len(stages)} split stages"
    try:
        return Splitting(AUTOMATON, _tables(stages[0])), "automaton"
    except NotExpressible as error:
        return None, f"regex: {error}"


def _tables(pattern: str) -> SplitTables:
    key = hashlib.sha256("\0".join((regex.__version__, source_digest(), pattern)).encode()).hexdigest()
    path = cache_folder() / "patterns" / f"{key[:32]}.bin"
    names = [field.name for field in fields(SplitTables)]
    kept = read_checked(path)
    if kept is not None:
        arrays = unpacked(kept)
        if list(arrays) == names:
            return SplitTables(**{**arrays, "end": int(arrays["end"])})  # type: ignore[arg-type]
    tables = split_tables(pattern)
    arrays = {name: np.asarray(getattr(tables, name)) for name in names}
    write_checked(path, packed(arrays))
    return tables
