"""SentencePiece's compiled normalisation: a table of replacements for prefixes of a text, in the library's format.

The table (`precompiled_charsmap`, which the names `nmt_nfkc`, `nfkc`, `nmt_nfkc_cf` and `nfkc_cf` refer to) is a
little-endian uint32 size, a double-array trie of that many bytes over UTF-8, then the replacements, each terminated by
a zero byte. A value of the trie is the offset of its replacement. The longest entry that begins a text is replaced.
Source of the trie's layout: Jun'ichi Aoe 1989, "An Efficient Digital Search Algorithm by Using a Double-Array
Structure", in the 32-bit units of Susumu Yata's darts-clone.
"""

from __future__ import annotations

import struct
from functools import cache

from impls.core.errors import InvalidModel

_HAS_LEAF = 1 << 8
_VALUE = (1 << 31) - 1
_LABEL = 1 << 31 | 0xFF


class Charsmap:
    """The table, for looking up prefixes. Raises `InvalidModel` if it is damaged."""

    def __init__(self, content: bytes) -> None:
        size = int.from_bytes(content[:4], "little")
        if size == 0 or size % 4 or size > len(content) - 4:
            raise InvalidModel(f"the charsmap of {len(content)} bytes is cut short or damaged")
        self._units = struct.unpack_from(f"<{size // 4}I", content, 4)
        self._replacements = content[4 + size :]
        if self._replacements and not self._replacements.endswith(b"\0"):
            raise InvalidModel("the charsmap ends within a replacement; it is cut short")

    def prefix(self, text: bytes, start: int, *, longest: bool = True) -> tuple[int, bytes] | None:
        """Return (length, replacement) of the longest (or shortest) entry of `text` at `start`, in bytes, or None.

        Raise `InvalidModel` if a value of the trie lies outside the replacements.
        """
        units = self._units
        n_units = len(units)
        longest_entry: tuple[int, int] | None = None
        node = _offset(units[0])
        for at in range(start, len(text)):
            byte = text[at]
            node ^= byte
            if node >= n_units or (unit := units[node]) & _LABEL != byte:
                break
            node ^= _offset(unit)
            if unit & _HAS_LEAF and node < n_units:
                longest_entry = at + 1 - start, units[node] & _VALUE
                if not longest:
                    break
        if longest_entry is None:
            return None
        length, place = longest_entry
        end = self._replacements.find(b"\0", place)
        if end < 0:
            raise InvalidModel(f"the charsmap has no replacement at {place}; it is damaged")
        return length, self._replacements[place:end]


charsmap_of = cache(Charsmap)


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 1 << 9) >> 6)
