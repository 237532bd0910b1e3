"""Typed pointers in kernels: `places[i].rank` reads a field of a record, `ids[i] = symbol` writes a number.

The classes are those of `impls.compiled.typed_memory`, which mypy checks. A pointer is an address (int64) to LLVM; its
type says how many bytes an item has, so that an index is all a kernel writes. Numbers may lie at any address, and every
number that is read is an int64. In the checked build `_load` and `_store` check every access (`memory.reachable`).
"""

from __future__ import annotations

import operator
import re
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

from impls.compiled.codegen.memory import CHECKED, reachable
from impls.compiled.typed_memory import POINTERS, I32s, I64s, Record, Rows, U8s, U16s, U32s

R = TypeVar("R", bound=Record)
P = TypeVar("P")

_i64 = ir.IntType(64)
_address = types.int64


class RecordType(types.Type):
    """The type of one record, by its address."""

    def __init__(self, kind: type[Record]) -> None:
        self.kind, self.size = kind, kind.dtype.itemsize
        self.offsets = {name: offset for name, (_, offset, *_) in (kind.dtype.fields or {}).items()}
        super().__init__(kind.__name__)

    def can_convert_to(self, context: Any, other: Any) -> Any:
        """Let a record be passed as its address."""
        return Conversion.safe if other == _address else None


class PointerType(types.Type):
    """The type of a pointer to `item`: records, or numbers of a name in `typed_memory.SCALARS`."""

    def __init__(self, item: RecordType | str) -> None:
        self.item = item
        self.size = int(item[1:]) // 8 if isinstance(item, str) else item.size
        super().__init__(f"{item}s" if isinstance(item, str) else f"Rows{item.name}")

    def can_convert_to(self, context: Any, other: Any) -> Any:
        """Let a pointer be passed as its address."""
        return Conversion.safe if other == _address else None


@register_model(RecordType)
@register_model(PointerType)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _i64)


@lower_cast(RecordType, _address)
@lower_cast(PointerType, _address)
def _to_address(context: Any, builder: Any, kind: Any, to: Any, value: Any) -> Any:
    return value


record_type = cast(Callable[[type[Record]], RecordType], cache(RecordType))
pointer_type = cast(Callable[[RecordType | str], PointerType], cache(PointerType))


def type_of_field(kind: type[Record], field: str) -> Any:
    """Return the type of a field as a kernel reads it: int64, a pointer or a record."""
    of = kind.kinds[field]
    if not isinstance(of, str):
        return record_type(of)
    if of in POINTERS:
        return pointer_type(POINTERS[of])
    rows = kind.rows_in(field)
    return _address if rows is None else pointer_type(record_type(rows))


# --- types ---------------------------------------------------------------------------------------------------------


@infer_getattr
class _Fields(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: Any, field: str) -> Any:  # type: ignore[override]
        return type_of_field(record.kind, field) if field in record.offsets else None


@infer_global(operator.getitem)
class _Item(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        pointer, _ = arguments
        if not isinstance(pointer, PointerType):
            return None
        return signature(_address if isinstance(pointer.item, str) else pointer.item, pointer, _address)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        pointer = arguments[0]
        if not isinstance(pointer, PointerType) or not isinstance(pointer.item, str):
            return None
        return signature(types.void, pointer, _address, _address)


# --- code ----------------------------------------------------------------------------------------------------------


def _load(context: Any, builder: Any, scalar: str, address: Any) -> Any:
    """Read a number as int64; in the checked build it is 0 outside every region."""
    kind = ir.IntType(int(scalar[1:]))

    def read() -> Any:
        value = builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)
        if kind.width == 64:
            return value
        return (builder.sext if scalar[0] == "i" else builder.zext)(value, _i64)

    if not CHECKED:
        return read()
    with builder.goto_entry_block():
        found = builder.alloca(_i64)
    builder.store(_i64(0), found)
    with builder.if_then(_is_reachable(context, builder, address, kind.width // 8)):
        builder.store(read(), found)
    return builder.load(found)


def _store(context: Any, builder: Any, scalar: str, address: Any, value: Any) -> None:
    """Write an int64 as a number; the checked build does nothing outside every region."""
    kind = ir.IntType(int(scalar[1:]))

    def write() -> None:
        number = value if kind.width == 64 else builder.trunc(value, kind)
        builder.store(number, builder.inttoptr(address, kind.as_pointer()), align=1)

    if not CHECKED:
        write()
        return
    with builder.if_then(_is_reachable(context, builder, address, kind.width // 8)):
        write()


def _is_reachable(context: Any, builder: Any, address: Any, n_bytes: int) -> Any:
    check = types.Dispatcher(cast(Any, reachable))
    call = check.get_call_type(context.typing_context, (_address, _address), {})
    function = context.get_function(check, call)
    context.add_linking_libs(getattr(function, "libs", ()))
    return function(builder, (address, _i64(n_bytes)))


def _item_address(builder: Any, pointer: Any, kind: Any, index: Any) -> Any:
    return builder.add(pointer, builder.mul(index, _i64(kind.size)))


@lower_builtin(operator.getitem, PointerType, _address)
def _get_item(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
    (kind, _), (pointer, index) = call.args, arguments
    address = _item_address(builder, pointer, kind, index)
    return _load(context, builder, kind.item, address) if isinstance(kind.item, str) else address


@lower_builtin(operator.setitem, PointerType, _address, _address)
def _set_item(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
    kind, (pointer, index, value) = call.args[0], arguments
    _store(context, builder, kind.item, _item_address(builder, pointer, kind, index), value)
    return context.get_dummy_value()


@lower_getattr_generic(RecordType)
def _get_field(context: Any, builder: Any, record: Any, value: Any, field: str) -> Any:
    of, address = record.kind.kinds[field], builder.add(value, _i64(record.offsets[field]))
    if not isinstance(of, str):
        return address
    return _load(context, builder, of if of in ("u8", "u16", "i32", "u32") else "i64", address)


@lower_setattr_generic(RecordType)
def _set_field(context: Any, builder: Any, call: Any, arguments: Any, field: str) -> None:
    record, (value, new) = call.args[0], arguments
    of, address = record.kind.kinds[field], builder.add(value, _i64(record.offsets[field]))
    _store(context, builder, of if of in ("u8", "u16", "i32", "u32") else "i64", address, new)


# --- views and addresses -------------------------------------------------------------------------------------------


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


def view_of(annotation: str, known: dict[str, Any]) -> Callable[[int], Any]:
    """Return the operation that takes an address as what an annotation names, looked up in a module's globals."""
    if annotation in POINTERS:
        numbers: Callable[[int], Any] = _view(pointer_type(POINTERS[annotation]))
        return numbers
    rows = re.fullmatch(r"Rows\[(\w+)\]", annotation)
    return record_at(known[annotation]) if rows is None else rows_of(known[rows[1]])


def _from_item(typing: Any, pointer: Any, n: Any) -> Any:
    def codegen(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return _item_address(builder, values[0], pointer, values[1])

    return pointer(pointer, _address), codegen


def _field_address(typing: Any, record: Any, field: Any) -> Any:
    offset = record.offsets[field.literal_value]
    return _address(record, field), lambda context, builder, call, values: builder.add(values[0], _i64(offset))


def _word_in_bytes(scalar: str) -> Any:
    """Return an operation that reads a number at any offset within bytes."""

    def typed(typing: Any, pointer: Any, i: Any) -> Any:
        def codegen(context: Any, builder: Any, call: Any, values: Any) -> Any:
            return _load(context, builder, scalar, builder.add(values[0], values[1]))

        return _address(pointer, _address), codegen

    return intrinsic(typed)


def _set_word(typing: Any, pointer: Any, i: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, call: Any, values: Any) -> Any:
        _store(context, builder, "i64", builder.add(values[0], values[1]), values[2])
        return context.get_dummy_value()

    return types.void(pointer, _address, _address), codegen


two_bytes: Callable[[U8s, int], int]
four_bytes: Callable[[U8s, int], int]
word_at: Callable[[U8s, int], int]
two_bytes, four_bytes, word_at = map(_word_in_bytes, ("u16", "u32", "i64"))
"""Return 2, 4 or 8 bytes from the one at an index on, as a number."""
set_word = cast(Callable[[U8s, int, int], None], intrinsic(_set_word))
"""Write 8 bytes from the one at an index on."""
from_item = cast(Callable[[P, int], P], intrinsic(_from_item))
"""Return the pointer to item `n` of what a pointer points at."""
address_of = cast(
    Callable[[Any], int],
    intrinsic(lambda typing, of: (_address(of), lambda context, builder, call, values: values[0])),
)
"""Return the address that a pointer, or a record, has."""
field_address = cast(Callable[[Any, str], int], intrinsic(prefer_literal=True)(_field_address))
"""Return the address of a record's field, given its name."""
