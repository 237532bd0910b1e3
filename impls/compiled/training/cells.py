"""Stores the corpus as one row of cells: distinct words between separators, a cell per base symbol.

A cell also holds the weight of its word, which is the word's count. A merged symbol takes as many cells as its parts
and is written in the first and the last of them: both neighbours see it without links. The cell where an absorbed
symbol began holds no symbol any more, so a list of positions may be stale.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    store_32,
)
from impls.compiled.pretokenize.scan import code_point, width
from impls.compiled.training.layout import (
    CELL_BYTES,
    MOST_WEIGHT,
    SEPARATOR,
    CountingRecord,
    LearningRecord,
)


@inlined
def cell_at(cells: int, place: int) -> int:
    """Return the address of the cell at a place."""
    return cells + CELL_BYTES * place


@inlined
def _write(cells: int, place: int, symbol: int, weight: int) -> None:
    store_32(cell_at(cells, place), symbol)
    store_32(cell_at(cells, place) + 4, weight)


@inlined
def _symbol_of(word: int, at: int, n_bytes: int, inner: int, last: int, by_bytes: bool) -> tuple[int, int]:
    """Return the symbol at byte offset `at` of a word, and the number of bytes it takes."""
    byte = load_u8(word + at)
    if by_bytes:
        return load_i32(inner + 4 * byte), 1
    size, code = width(byte), byte
    if byte >= 0x80:
        code = code_point(word + at, byte)
    return load_i32(choose(at + size == n_bytes, last, inner) + 4 * code), size


@kernel
def fill_cells(counting: CountingRecord, counts: int, inner: int, last: int, cells: int) -> int:
    """Write the words of two symbols or more; return the number of cells.

    `inner` and `last` are int32 by character: its symbol, and its symbol at the end of a word. If `last` is 0, `inner`
    is int32 by byte, and words have no special end. A word more frequent than the maximum weight is written repeatedly.
    """
    arena, starts = counting.arena, counting.starts
    lengths = counting.lengths
    _write(cells, 0, SEPARATOR, 0)
    place = 1
    for number in range(counting.n_pieces):
        n_bytes, left = load_i32(lengths + 4 * number), load_i64(counts + 8 * number)
        word = arena + load_i64(starts + 8 * number)
        while left > 0:
            weight, at, begin = min(left, MOST_WEIGHT), 0, place
            while at < n_bytes:
                symbol, size = _symbol_of(word, at, n_bytes, inner, last, last == 0)
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
    cells, spans, n_cells = learning.cells, learning.spans, learning.n_cells
    to, word, place = 1, 1, 1
    while place < n_cells:
        symbol, weight = load_i32(cell_at(cells, place)), load_i32(cell_at(cells, place) + 4)
        if symbol >= 0:
            _write(cells, to, symbol, weight)
            to += 1
            place += load_i32(spans + 4 * symbol)
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
