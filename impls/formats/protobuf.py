"""Reading (with every bound checked) and writing the wire format of protocol buffers.

Knows field numbers and wire types, no messages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from impls.core.errors import InvalidFile

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
Value = int | bytes

_LONGEST_VARINT = 10


def fields(content: bytes, path: str, what: str) -> Iterator[tuple[int, int, Value]]:
    """Yield (number, wire type, value) of each field of a message; a varint is an int, any other value its bytes.

    Raise `InvalidFile` naming `what` the message is and the byte in it.
    """
    at, end = 0, len(content)
    while at < end:
        start = at
        key, at = _varint(content, at, path, what)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise _broken(path, what, start, "a field numbered 0")
        value: Value
        if wire == VARINT:
            value, at = _varint(content, at, path, what)
        elif wire in (FIXED64, FIXED32, LENGTH):
            size = 8 if wire == FIXED64 else 4
            if wire == LENGTH:
                size, at = _varint(content, at, path, what)
            if size > end - at:
                raise _broken(path, what, start, f"a field of {size} bytes where {end - at} are left")
            value, at = content[at : at + size], at + size
        else:
            raise _broken(path, what, start, f"the wire type {wire}, which is not used")
        yield number, wire, value


def _varint(content: bytes, at: int, path: str, what: str) -> tuple[int, int]:
    """Return the number and the offset at which it ends."""
    if at < len(content) and content[at] < 0x80:
        return content[at], at + 1
    number = 0
    for k, byte in enumerate(content[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * k
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, at + k + 1
    raise _broken(path, what, at, "a number that does not end")


def _broken(path: str, what: str, at: int, found: str) -> InvalidFile:
    return InvalidFile(path, f"{what}: {found}, at byte {at} of it; the file is cut short or damaged, get it again")


def varint(number: int, value: int) -> bytes:
    """Return a varint field; negative numbers are in two's complement, as int32 and int64 are."""
    return _number(number << 3 | VARINT) + _number(value & 0xFFFFFFFFFFFFFFFF)


def length(number: int, value: bytes) -> bytes:
    """Return a field of bytes, UTF-8 or a message."""
    return _number(number << 3 | LENGTH) + _number(len(value)) + value


def float32(number: int, value: float) -> bytes:
    """Return a field of a 32-bit float."""
    return _number(number << 3 | FIXED32) + struct.pack("<f", value)


def _number(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
