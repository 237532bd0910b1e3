"""Finds the layout of a str: what the macros PyUnicode_KIND and PyUnicode_DATA of the public headers compute.

It is read off sample strings and tested on others; if anything is not as expected, no layout is returned.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

_TYPE_AT, _LENGTH_AT = 8, 16
_SAMPLES = {
    1: "caf\xe9 au lait, na\xefve",
    2: "pas\u0327a\u011f\u0131n \u20ac \u0130zmir",
    4: "emoji \U0001f44d, more \U0001f680",
}


@dataclass(frozen=True, slots=True)
class StrLayout:
    """Offsets within a str object whose characters follow its header."""

    state: int
    """Offset of the 32-bit word that holds the kind (three bits) and the flags compact and ASCII (one bit each)."""
    shift: int
    """Bit position of the kind within that word."""
    utf8: int
    """Offset of the address of the cached UTF-8, which is 0 if none is cached."""
    data: int
    """Offset of the characters of a str that is not all ASCII."""


def str_layout() -> StrLayout | None:
    """Return the layout of this interpreter's strings; None if it is not as expected."""
    # New objects: neither interned nor with cached UTF-8.
    samples = {kind: "".join(list(text)) for kind, text in _SAMPLES.items()}
    sizes = {sys.getsizeof(text) - kind * (len(text) + 1) for kind, text in samples.items()}
    if len(sizes) != 1:
        return None
    data = sizes.pop()
    if not 48 <= data <= 96 or any(not _holds(text, data, kind) for kind, text in samples.items()):
        return None
    ascii_text = "".join(["plain", " text"])
    for state in range(_LENGTH_AT + 8, data - 4, 4):
        words = {kind: _word(text, state) for kind, text in samples.items()}
        for shift in range(2, 24):
            if all(word >> shift & 31 == kind | 8 for kind, word in words.items()) and (
                _word(ascii_text, state) >> shift & 31 == 1 | 8 | 16
            ):
                utf8 = _utf8_offset(samples[2], data)
                return None if utf8 is None else StrLayout(state, shift, utf8, data)
    return None


def _word(text: str, offset: int) -> int:
    return ctypes.c_uint32.from_address(id(text) + offset).value


def _holds(text: str, data: int, kind: int) -> bool:
    """Return whether a str has its type and length at the expected offsets, and its characters at `data`."""
    if ctypes.c_void_p.from_address(id(text) + _TYPE_AT).value != id(str):
        return False
    if ctypes.c_ssize_t.from_address(id(text) + _LENGTH_AT).value != len(text):
        return False
    characters = ctypes.string_at(id(text) + data, kind * len(text))
    return characters == b"".join(ord(character).to_bytes(kind, "little") for character in text)


def _utf8_offset(text: str, data: int) -> int | None:
    """Return the offset of the cached UTF-8's address, which is 0 until the UTF-8 is asked for."""
    words = range(_LENGTH_AT + 8, data, 8)
    before = {offset: ctypes.c_void_p.from_address(id(text) + offset).value for offset in words}
    as_utf8 = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
    as_utf8.restype, as_utf8.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_void_p]
    place = as_utf8(text, None)
    found = [o for o in words if before[o] is None and ctypes.c_void_p.from_address(id(text) + o).value == place]
    return found[0] if len(found) == 1 and place is not None else None
