"""Read (with every bound checked) and write protocol buffers, by a table of their fields.

    schema   {1: ("name", str), 3: ("size", int), 4: ("part", [{1: ("text", str)}])}
    message  {"name": "a", "part": [{"text": "b"}, {"text": "c"}]}

Knows no particular messages.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from impls.core.errors import InvalidModel
from impls.formats.files import MAX_TABLE_ID

Schema = Mapping[int, tuple[str, Any]]
"""Field number -> its name and kind: `int`, `float` (32 bits), `bytes`, `str`, another schema, or for a repeated field
a list of one schema."""
Message = dict[str, Any]

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_N_BYTES = {_VARINT: 0, _FIXED64: 8, _LENGTH: 0, _FIXED32: 4}
_LONGEST_VARINT = 10
_WORD = (1 << 64) - 1


def read(content: bytes, schema: Schema, what: str) -> Message:
    """Return the fields of a message that are in `schema`; of a field given twice the last counts.

    Raise `InvalidModel` naming `what` the message is, and the byte or field in it.
    """
    message: Message = {}
    at = 0
    while at < len(content):
        start = at
        key, at = _varint(content, at, what)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise _broken(what, start, "a field numbered 0")
        if wire not in _N_BYTES:
            raise _broken(what, start, f"the unknown wire type {wire}")
        n_bytes = _N_BYTES[wire]
        if wire in (_VARINT, _LENGTH):
            n_bytes, at = _varint(content, at, what)
        value: Any = n_bytes
        if wire != _VARINT:
            if n_bytes > len(content) - at:
                raise _broken(what, start, f"a field of {n_bytes} bytes where {len(content) - at} are left")
            value, at = content[at : at + n_bytes], at + n_bytes
        if number in schema:
            _keep(message, number, wire, value, schema, what)
    return message


def _keep(message: Message, number: int, wire: int, value: Any, schema: Schema, what: str) -> None:
    """Add the value of a field to a message, converted to its kind."""
    name, kind = schema[number]
    wanted = _VARINT if kind is int else _FIXED32 if kind is float else _LENGTH
    if wire != wanted:
        raise InvalidModel(f"{what}: field {number} has the wire type {wire}, not {wanted}")
    if isinstance(kind, list):
        items = message.setdefault(name, [])
        if len(items) > MAX_TABLE_ID:
            raise InvalidModel(f"{what}: field {number} occurs more than {MAX_TABLE_ID + 1} times")
        items.append(read(value, kind[0], f"{name} {len(items)}"))
    elif isinstance(kind, Mapping):
        message[name] = message.get(name, {}) | read(value, kind, name)
    elif kind is str:
        try:
            message[name] = value.decode()
        except UnicodeDecodeError:
            raise InvalidModel(f"{what}: {value[:40]!r} is not UTF-8; the file is damaged, get it again") from None
    else:
        message[name] = struct.unpack("<f", value)[0] if kind is float else value


def write(message: Message, schema: Schema) -> bytes:
    """Return a message, its fields in the order of `schema`."""
    parts: list[bytes] = []
    for number, (name, kind) in schema.items():
        if name in message:
            values, kind = (message[name], kind[0]) if isinstance(kind, list) else ([message[name]], kind)
            parts += [field(number, write(value, kind) if isinstance(kind, Mapping) else value) for value in values]
    return b"".join(parts)


def field(number: int, value: float | str | bytes) -> bytes:
    """Return one field of an int (negative ones in two's complement, as int32 and int64), a float, text or bytes."""
    if isinstance(value, int):
        return _number(number << 3 | _VARINT) + _number(value & _WORD)
    if isinstance(value, float):
        return _number(number << 3 | _FIXED32) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | _LENGTH) + _number(len(data)) + data


def _varint(content: bytes, at: int, what: str) -> tuple[int, int]:
    """Return the number and the offset at which it ends."""
    if at < len(content) and content[at] < 0x80:
        return content[at], at + 1
    number = 0
    for k, byte in enumerate(content[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * k
        if byte < 0x80:
            return number & _WORD, at + k + 1
    raise _broken(what, at, "a number that does not end")


def _broken(what: str, at: int, problem: str) -> InvalidModel:
    return InvalidModel(f"{what}: {problem}, at byte {at} of it; the file is cut short or damaged, get it again")


def _number(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
