"""Typed memory: an annotated class gives a NumPy dtype, the fields that kernels access, and the types mypy checks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    i64 = int
else:
    i64 = "int64"


class Record:
    """Memory with fields. A subclass annotates them in order: `i64`, or a record defined before it in its module."""

    dtype: ClassVar[np.dtype]

    def __init_subclass__(cls) -> None:
        module = vars(sys.modules[cls.__module__])
        fields = cls.__annotations__.items()
        cls.dtype = np.dtype([(name, np.int64 if kind == "i64" else module[kind].dtype) for name, kind in fields])


def places(dtype: np.dtype, within: str = "", start: int = 0) -> dict[str, int]:
    """Return the byte offset of every field; fields of nested records by dotted name."""
    found: dict[str, int] = {}
    for name, (kind, offset, *_) in (dtype.fields or {}).items():
        if kind.fields is None:
            found[within + name] = start + offset
        else:
            found |= places(kind, f"{within}{name}.", start + offset)
    return found
