"""Typed memory: a class of annotations is a NumPy dtype, what kernels reach by field, and what mypy checks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    i64 = int
else:
    i64 = "int64"

_Class = TypeVar("_Class", bound=type)


def record(kind: _Class) -> _Class:
    """Give a class the dtype of its annotations, in order: `i64`, or another record of its module."""
    module = vars(sys.modules[kind.__module__])
    fields = [(name, np.int64 if hint == "i64" else module[hint].dtype) for name, hint in kind.__annotations__.items()]
    kind.dtype = np.dtype(fields, align=True)  # type: ignore[attr-defined]
    return kind


def places(dtype: np.dtype, within: str = "", start: int = 0) -> dict[str, int]:
    """Return the byte offset of every field, those of a record in it by dotted name."""
    found: dict[str, int] = {}
    for name, (kind, offset, *_) in (dtype.fields or {}).items():
        if kind.fields is None:
            found[within + name] = start + offset
        else:
            found |= places(kind, f"{within}{name}.", start + offset)
    return found
