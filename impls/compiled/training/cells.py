"""Stores the corpus as one row of cells: distinct words between separators, a cell per base symbol.

A cell also holds the weight of its word, which is the word's count. A merged symbol takes as many cells as its parts
and is written in the first and the last of them: both neighbours see it without links. The cell where an absorbed
symbol began holds no symbol any more, so a list of positions may be stale.

If merges also join pieces, the words are followed by the rows of pieces in which that may happen: a cell per piece,
with the weight of its row. A symbol there is written in the first of the cells it takes; the others are absorbed.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    shift_right,
    store_32,
    store_64,
)
from impls.compiled.pretokenize.scan import code_point, width
from impls.compiled.training.layout import (
    ABSORBED,
    CELL_BYTES,
    FIRST_WAITING,
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
def place_of(cells: int, cell: int) -> int:
    """Return the place of the cell at an address."""
    return shift_right(cell - cells, 3)  # cells have 8 bytes; a division would include code that raises


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
    cells, spans, rows = learning.cells, learning.spans, learning.rows
    to, word, place = 1, 1, 1
    n_cells = learning.n_cells
    while place < min(rows, n_cells):
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
    if rows < n_cells:
        learning.rows = to
        for place in range(rows, n_cells):
            symbol = load_i32(cell_at(cells, place))
            if symbol != ABSORBED:
                _write(cells, to, symbol, load_i32(cell_at(cells, place) + 4))
                to += 1
    learning.n_cells = to
    return to


@inlined
def next_in_row(cell: int, step: int) -> int:
    """Return the next cell of a row of pieces, in steps of +-CELL_BYTES, that is a symbol's first, or a separator."""
    cell += step
    while load_i32(cell) == ABSORBED:
        cell += step
    return cell


@kernel
def sort_places(places: int, n_places: int) -> None:
    """Sort int32 places (Shell 1959, "A high-speed sorting procedure"); most of them are in order."""
    gap = n_places >> 1
    while gap > 0:
        for i in range(gap, n_places):
            place, at = load_i32(places + 4 * i), i
            while at >= gap and load_i32(places + 4 * (at - gap)) > place:
                store_32(places + 4 * at, load_i32(places + 4 * (at - gap)))
                at -= gap
            store_32(places + 4 * at, place)
        gap >>= 1


@kernel
def n_woken(learning: LearningRecord, left: int, right: int, places: int, n_places: int) -> int:
    """Return the maximum number of cells in rows whose piece becomes one symbol by merging a pair at these places."""
    cells, spans, starts = learning.cells, learning.spans, learning.waiting_starts
    n_cells = 0
    for i in range(n_places):
        place = load_i32(places + 4 * i)
        cell = cell_at(cells, place)
        before = load_i32(cell - CELL_BYTES)
        if place < learning.rows and before <= FIRST_WAITING and load_i32(cell) == left:
            second = cell + CELL_BYTES * load_i32(spans + 4 * left)
            if load_i32(second) == right and load_i32(second + CELL_BYTES * load_i32(spans + 4 * right)) < 0:
                start = starts + 8 * (FIRST_WAITING - before)
                n_cells += load_i64(start + 8) - load_i64(start)
    return n_cells


@kernel
def list_waiting(learning: LearningRecord) -> int:
    """Write to WAITING the places, in rows, of the pieces that are not one symbol yet; return 0.

    WAITING_STARTS holds where each piece's places end in WAITING, and afterwards where they begin.
    """
    starts = learning.waiting_starts
    for place in range(learning.n_cells - 1, learning.rows - 1, -1):
        symbol = load_i32(cell_at(learning.cells, place))
        if symbol <= FIRST_WAITING:
            start = starts + 8 * (FIRST_WAITING - symbol)
            at = load_i64(start) - 1
            store_64(start, at)
            store_32(learning.waiting + 4 * at, place)
    return 0
