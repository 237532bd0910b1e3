"""Stores the corpus as one row of cells: distinct words between separators, a cell per base symbol.

A cell also holds the weight of its word, which is the word's count. A merged symbol takes as many cells as its parts
and is written in the first and the last of them: both neighbours see it without links. The cell where an absorbed
symbol began holds no symbol any more, so a list of places may be stale.

    | l o w | l o w e r |       l+o merges:     | lo lo w | lo lo w e r |
    lo+w merges:                                | low . low | low . low e r |
"""

from __future__ import annotations

from impls.compiled.language.memory import inlined, kernel
from impls.compiled.language.pointers import address_of, from_item, i32s
from impls.compiled.language.typed_memory import I32s, Rows, U8s
from impls.compiled.pretokenize.scan import code_point, width
from impls.compiled.training.layout import MOST_WEIGHT, SEPARATOR, SYMBOL_BYTES, Cell, CountingRecord, LearningRecord


@inlined
def _write(cells: Rows[Cell], place: int, symbol: int, weight: int) -> None:
    cells[place].symbol = symbol
    cells[place].weight = weight


@inlined
def _symbol_of(word: U8s, at: int, n_bytes: int, inner: I32s, last: I32s) -> tuple[int, int]:
    """Return the symbol at byte offset `at` of a word, and the number of bytes it takes."""
    if inner == 0:
        return i32s(address_of(word) + at)[0], SYMBOL_BYTES
    byte = word[at]
    if last == 0:
        return inner[byte], 1
    size, code = width(byte), byte
    if byte >= 0x80:
        code = code_point(from_item(word, at), byte)
    return (last[code] if at + size == n_bytes else inner[code]), size


@kernel
def fill_cells(counting: CountingRecord, inner: I32s, last: I32s, cells: Rows[Cell]) -> int:
    """Write the words of two symbols or more; return the number of cells.

    `inner` and `last` are by character: its symbol, and its symbol at the end of a word. If `last` is 0, `inner` is by
    byte, and words have no special end. If both are 0, words are spelled in symbols, SYMBOL_BYTES each. A word more
    frequent than the maximum weight is written repeatedly.
    """
    _write(cells, 0, SEPARATOR, 0)
    place = 1
    for number in range(counting.n_pieces):
        n_bytes, left = counting.lengths[number], counting.counts[number]
        word = from_item(counting.arena, counting.starts[number])
        while left > 0:
            weight, at, begin = min(left, MOST_WEIGHT), 0, place
            while at < n_bytes:
                symbol, size = _symbol_of(word, at, n_bytes, inner, last)
                _write(cells, place, symbol, weight)
                place += 1
                at += size
            if place - begin < 2:
                place = begin
                break
            _write(cells, place, SEPARATOR, 0)
            place += 1
            left -= weight
    return place


@kernel
def compact_cells(learning: LearningRecord) -> int:
    """Give every symbol one cell again and drop words of one symbol; return the number of cells.

    The caller must reset the spans to 1.
    """
    cells, spans = learning.cells, learning.spans
    to, word, place = 1, 1, 1
    while place < learning.n_cells:
        symbol, weight = cells[place].symbol, cells[place].weight
        if symbol >= 0:
            _write(cells, to, symbol, weight)
            to += 1
            place += spans[symbol]
        else:
            if to - word < 2:
                # The separator before a dropped word is dropped too.
                to = word - 1
            _write(cells, to, symbol, weight)
            to += 1
            word = to
            place += 1
    learning.n_cells = to
    return to
