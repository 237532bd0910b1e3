"""Typed memory: an annotated class gives a NumPy dtype, the fields that kernels access, and the types mypy checks."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    u8 = int
    u16 = int
    i32 = int
    u32 = int
    i64 = int
else:
    u8, u16, i32, u32, i64 = "u8", "u16", "i32", "u32", "i64"

SCALARS = {"u8": np.uint8, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64}


class Record:
    """Memory with fields. A subclass annotates them in order.

    A field is a number (`i64` and so on), a pointer, or a record defined before it in its module.
    """

    dtype: ClassVar[np.dtype]
    kinds: ClassVar[dict[str, str | type[Record]]]
    """The kind of each field: a name of `SCALARS`, the name of a class of pointers, or a record."""

    def __init_subclass__(cls) -> None:
        module = vars(sys.modules[cls.__module__])
        cls.kinds = {
            name: kind if kind in SCALARS or kind in POINTERS or "[" in kind else module[kind]
            for name, kind in cls.__annotations__.items()
        }
        cls.dtype = np.dtype([(name, _dtype_of(kind)) for name, kind in cls.kinds.items()])

    @classmethod
    def rows_in(cls, field: str) -> type[Record] | None:
        """Return the kind of the rows that a field points at, or None if it points at numbers or is no pointer."""
        kind = cls.kinds[field]
        found = re.fullmatch(r"Rows\[(\w+)\]", kind) if isinstance(kind, str) else None
        rows: type[Record] | None = None if found is None else vars(sys.modules[cls.__module__])[found[1]]
        return rows


def _dtype_of(kind: str | type[Record]) -> np.dtype:
    return np.dtype(SCALARS.get(kind, np.int64)) if isinstance(kind, str) else kind.dtype


R = TypeVar("R", bound=Record)


class Numbers:
    """A pointer to numbers, as kernels see it: `ids[i]` is the number at index `i`."""

    def __getitem__(self, i: int) -> int:
        raise NotImplementedError("only kernels access memory")

    def __setitem__(self, i: int, value: int) -> None:
        raise NotImplementedError("only kernels access memory")

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError("only kernels access memory")

    __hash__ = None  # type: ignore[assignment]


class U8s(Numbers):
    """A pointer to uint8."""


class U16s(Numbers):
    """A pointer to uint16."""


class I32s(Numbers):
    """A pointer to int32."""


class U32s(Numbers):
    """A pointer to uint32."""


class I64s(Numbers):
    """A pointer to int64."""


POINTERS = {"U8s": "u8", "U16s": "u16", "I32s": "i32", "U32s": "u32", "I64s": "i64"}
"""The numbers that each class of pointers points at."""


class Rows(Generic[R]):
    """A pointer to records, as kernels see it: `places[i].rank` is a field of the record at index `i`."""

    def __getitem__(self, i: int) -> R:
        raise NotImplementedError("only kernels access memory")

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError("only kernels access memory")

    __hash__ = None  # type: ignore[assignment]


def places(dtype: np.dtype, within: str = "", start: int = 0) -> dict[str, int]:
    """Return the byte offset of every field; fields of nested records by dotted name."""
    found: dict[str, int] = {}
    for name, (kind, offset, *_) in (dtype.fields or {}).items():
        if kind.fields is None:
            found[within + name] = start + offset
        else:
            found |= places(kind, f"{within}{name}.", start + offset)
    return found
