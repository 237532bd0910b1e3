"""Typed pointers in kernels: `places[i].rank` reads a field of a record, `ids[i] = symbol` writes a number.

The classes are those of `typed_memory`, which mypy checks. A pointer is an address (int64) to LLVM; its type says how
many bytes an item has, so that an index is all a kernel writes. Numbers may lie at any address, and every number that
is read is an int64. In the checked build every access is checked (`memory.reached`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast, lower_getattr_generic, lower_setattr_generic
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, register_model

from impls.compiled.language.memory import inlined, operation, reached
from impls.compiled.language.typed_memory import (
    POINTERS,
    SCALARS,
    I32s,
    I64s,
    Record,
    Rows,
    U8s,
    U16s,
    U32s,
    rows_of_pointer,
)

R = TypeVar("R", bound=Record)
P = TypeVar("P")

_i64 = ir.IntType(64)
_address = types.int64


class AddressType(types.Type):
    """The type of a record or of a pointer."""

    def can_convert_to(self, context: Any, other: Any) -> Any:
        """Let a record or pointer be passed as its address."""
        return Conversion.safe if other == _address else None


class RecordType(AddressType):
    """The type of one record, by its address."""

    def __init__(self, kind: type[Record]) -> None:
        module, self.size = kind.module(), kind.dtype.itemsize
        self.fields: dict[str, Any] = dict(kind.dtype.fields or {})
        self.kinds = {name: type_named(kind.__annotations__[name], module) for name in self.fields}
        self.scalars = {name: note if note in SCALARS else "i64" for name, note in kind.__annotations__.items()}
        super().__init__(kind.__name__)


class PointerType(AddressType):
    """The type of a pointer to `item`: records, or numbers of a name in `typed_memory.SCALARS`."""

    def __init__(self, item: RecordType | str) -> None:
        self.item, self.size = item, int(item[1:]) // 8 if isinstance(item, str) else item.size
        super().__init__(f"{item}s" if isinstance(item, str) else f"Rows{item.name}")


record_type = cast(Callable[[type[Record]], RecordType], cache(RecordType))
pointer_type = cast(Callable[[RecordType | str], PointerType], cache(PointerType))


def type_named(annotation: str, module: dict[str, Any]) -> Any:
    """Return the type of what an annotation in a module says, as a kernel sees it: int64, a pointer or a record."""
    if annotation == "int" or annotation in SCALARS:
        return _address
    if annotation in POINTERS:
        return pointer_type(POINTERS[annotation])
    rows = rows_of_pointer(annotation)
    return record_type(module[annotation]) if rows is None else pointer_type(record_type(module[rows]))


@register_model(RecordType)
@register_model(PointerType)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _i64)


@lower_cast(AddressType, _address)
def _to_address(context: Any, builder: Any, kind: Any, to: Any, value: Any) -> Any:
    return value


@infer_getattr
class _Fields(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: Any, field: str) -> Any:  # type: ignore[override]
        return record.kinds.get(field)


@infer_global(operator.getitem)
@infer_global(operator.setitem)
class _Item(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        pointer, *others = arguments
        if not isinstance(pointer, PointerType):
            return None
        item = _address if isinstance(pointer.item, str) else pointer.item
        return signature(item if len(others) == 1 else types.void, pointer, *[_address] * len(others))


def _place(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    """Return the LLVM pointer to a number at an address."""
    return builder.inttoptr(reached(context, builder, address, kind.width // 8), kind.as_pointer())


def _load(context: Any, builder: Any, scalar: str, address: Any) -> Any:
    """Read a number as int64."""
    kind = ir.IntType(int(scalar[1:]))
    value = builder.load(_place(context, builder, kind, address), align=1)
    return value if kind.width == 64 else (builder.sext if scalar[0] == "i" else builder.zext)(value, _i64)


def _store(context: Any, builder: Any, scalar: str, address: Any, value: Any) -> None:
    """Write an int64 as a number."""
    kind = ir.IntType(int(scalar[1:]))
    number = value if kind.width == 64 else builder.trunc(value, kind)
    builder.store(number, _place(context, builder, kind, address), align=1)


def _item_address(builder: Any, kind: Any, pointer: Any, index: Any) -> Any:
    return builder.add(pointer, builder.mul(index, _i64(kind.size)))


@lower_builtin(operator.getitem, PointerType, _address)
def _get_item(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
    kind, address = call.args[0], _item_address(builder, call.args[0], *arguments)
    return _load(context, builder, kind.item, address) if isinstance(kind.item, str) else address


@lower_builtin(operator.setitem, PointerType, _address, _address)
def _set_item(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
    kind, (*item, value) = call.args[0], arguments
    _store(context, builder, kind.item, _item_address(builder, kind, *item), value)
    return context.get_dummy_value()


def _field_address(builder: Any, kind: Any, record: Any, field: str) -> Any:
    return builder.add(record, _i64(kind.fields[field][1]))


@lower_getattr_generic(RecordType)
def _get_field(context: Any, builder: Any, kind: Any, record: Any, field: str) -> Any:
    address = _field_address(builder, kind, record, field)
    if isinstance(kind.kinds[field], RecordType):
        return address
    return _load(context, builder, kind.scalars[field], address)


@lower_setattr_generic(RecordType)
def _set_field(context: Any, builder: Any, call: Any, arguments: Any, field: str) -> None:
    kind, (record, value) = call.args[0], arguments
    _store(context, builder, kind.scalars[field], _field_address(builder, kind, record, field), value)


@cache
def _view(kind: Any) -> Any:
    """Return an operation that takes an address (int64) as a pointer or record."""
    return intrinsic(lambda typing, address: (kind(_address), lambda context, builder, call, values: values[0]))


u8s: Callable[[int], U8s] = _view(pointer_type("u8"))
u16s: Callable[[int], U16s] = _view(pointer_type("u16"))
i32s: Callable[[int], I32s] = _view(pointer_type("i32"))
u32s: Callable[[int], U32s] = _view(pointer_type("u32"))
i64s: Callable[[int], I64s] = _view(pointer_type("i64"))
"""Take an address as a pointer to numbers."""


def record_at(kind: type[R]) -> Callable[[int], R]:
    """Return an operation that takes an address as a record."""
    return cast(Callable[[int], R], _view(record_type(kind)))


def rows_of(kind: type[R]) -> Callable[[int], Rows[R]]:
    """Return an operation that takes an address as a pointer to records."""
    return cast(Callable[[int], Rows[R]], _view(pointer_type(record_type(kind))))


def _from_item(typing: Any, pointer: Any, n: Any) -> Any:
    return pointer(pointer, _address), lambda context, builder, call, values: _item_address(builder, pointer, *values)


def _address_of_field(typing: Any, record: Any, field: Any) -> Any:
    def emit(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return _field_address(builder, record, values[0], field.literal_value)

    return _address(record, field), emit


from_item = cast(Callable[[P, int], P], intrinsic(_from_item))
"""Return the pointer to item `n` of what a pointer points at."""
address_of = cast(Callable[[Any], int], operation(1, lambda builder, address: address))
"""Return the address that a pointer, or a record, has."""
field_address = cast(Callable[[Any, str], int], intrinsic(prefer_literal=True)(_address_of_field))
"""Return the address of a record's field, given its name."""


@inlined
def two_bytes(data: U8s, i: int) -> int:
    """Return 2 bytes from the one at an index on, as a number."""
    return u16s(address_of(data) + i)[0]


@inlined
def word_at(data: U8s, i: int) -> int:
    """Return 8 bytes from the one at an index on, as a number."""
    return i64s(address_of(data) + i)[0]


@inlined
def set_word(data: U8s, i: int, value: int) -> None:
    """Write 8 bytes from the one at an index on."""
    i64s(address_of(data) + i)[0] = value
