"""Typed memory: an annotated class gives a NumPy dtype, the fields that kernels access, and the types mypy checks."""

from __future__ import annotations

import re
import sys
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

u8 = int
u16 = int
i32 = int
u32 = int
i64 = int
"""Kinds of fields: their names, in annotations, say how a number is stored; kernels read and write an int."""

SCALARS = {"u8": np.uint8, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64}


class Record:
    """Memory with fields. A subclass annotates them in order.

    A field is a number (`i64` and so on), a pointer, or a record defined before it in its module.
    """

    dtype: ClassVar[np.dtype]
    index: ClassVar[dict[str, int]]
    """The index of every field in a record seen as an int64 array."""

    def __init_subclass__(cls) -> None:
        module = cls.module()
        cls.dtype = np.dtype([(name, _dtype_of(kind, module)) for name, kind in cls.__annotations__.items()])
        cls.index = {name: field[1] >> 3 for name, field in (cls.dtype.fields or {}).items()}

    @classmethod
    def module(cls) -> dict[str, Any]:
        """Return the names that annotations of the fields use."""
        return vars(sys.modules[cls.__module__])


def _dtype_of(annotation: str, module: dict[str, Any]) -> np.dtype:
    if annotation in SCALARS or annotation in POINTERS or rows_of_pointer(annotation):
        return np.dtype(SCALARS.get(annotation, np.int64))
    kind: np.dtype = module[annotation].dtype
    return kind


def rows_of_pointer(annotation: str) -> str | None:
    """Return the name of the record in an annotation `Rows[name]`; None if it says anything else."""
    rows = re.fullmatch(r"Rows\[(\w+)\]", annotation)
    return None if rows is None else rows[1]


R = TypeVar("R", bound=Record)


class _Pointer:
    """A pointer as kernels see it, which may be compared with 0."""

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError("only kernels access memory")

    __hash__ = None  # type: ignore[assignment]


class Numbers(_Pointer):
    """A pointer to numbers: `ids[i]` is the number at index `i`."""

    def __getitem__(self, i: int) -> int:
        raise NotImplementedError("only kernels access memory")

    def __setitem__(self, i: int, value: int) -> None:
        raise NotImplementedError("only kernels access memory")


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


class Rows(_Pointer, Generic[R]):
    """A pointer to records: `places[i].rank` is a field of the record at index `i`."""

    def __getitem__(self, i: int) -> R:
        raise NotImplementedError("only kernels access memory")
