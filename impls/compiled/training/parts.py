"""Counts the pieces of parts of files in tables, which are written to disk before they grow too large."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from impls.compiled.codegen.native import native
from impls.compiled.layout import MOST_TEXT_BYTES, PAD_BYTES
from impls.compiled.pages import bounded_zeros
from impls.compiled.pretokenize.splitting import splitting_of
from impls.compiled.training.runs import Runs
from impls.compiled.training.words import Words
from impls.core.arguments import texts_in_turn
from impls.core.counts import PieceCounts
from impls.core.pattern.tables import PairCuts, cuts_outside
from impls.core.text.files import Part, TextFile
from impls.core.text.text import repair_surrogates

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")

_BATCH_BYTES = 1 << 20
_MOST_TEXTS = 1 << 13
"""Maximum number of texts that are counted at once."""
Progress = Callable[[int], None]
"""Receive the number of bytes counted since the last call, from any thread."""


def count_part(part: Part, words: Words) -> Iterator[int]:
    """Count a part of a file; yield the number of bytes of each step."""
    file = part.file
    if file.kind == "text":
        for offset, content in file.blocks(part.first, part.end):
            _add_block(words, file, offset, content)
            yield len(content)
    elif file.kind == "json":
        for offset, lines in file.lines(part.first, part.end):
            joined = b"".join(lines)
            parsed = _parsed(joined, file.field, sum(1 for line in lines if line.strip()))
            if parsed is None or not _add_column(words, parsed):
                _add_texts(words, file.json_texts(offset, lines))
            yield len(joined)
    else:
        for column in file.columns(part.first, part.end):
            if not _add_column(words, column):
                _add_texts(words, file.column_texts(column))
            yield column.nbytes


def _add_texts(words: Words, texts: Iterable[str]) -> None:
    for batch in batches(texts, None):
        words.add(batch)


def _add_block(words: Words, file: TextFile, offset: int, content: memoryview) -> None:
    """Count a block; raise `InvalidFile` for bytes that are not UTF-8.

    Lines between which the pattern certainly cuts are counted as one text.
    """
    block = np.frombuffer(content, np.uint8)
    if native.valid_bytes(block, len(block)) < len(block):
        # This raises, unless the file's invalid bytes are to be replaced.
        block = np.frombuffer(file.decoded(offset, content).encode(), np.uint8)
    # Kernels read beyond the end of the block.
    text, sizes = np.append(block, np.zeros(PAD_BYTES, np.uint8)), np.empty(_MOST_TEXTS, np.int64)
    how = int(file.documents == "lines"), _line_cuts(words.stages), sizes, _MOST_TEXTS
    while len(text) > PAD_BYTES:
        n_texts = native.text_sizes(words.context.address, text, len(text) - PAD_BYTES, *how)
        n_bytes = int(sizes[:n_texts].sum())
        words.add_texts(text[: n_bytes + PAD_BYTES], sizes[:n_texts])
        text = text[n_bytes:]


@cache
def _line_cuts(pattern: tuple[str, ...]) -> int:
    """Return, as a bit for each class, before which characters a text may be cut after a line break."""
    splitting, _ = splitting_of(pattern)
    tables = None if splitting is None else splitting.automaton
    if tables is None or (cuts := cuts_outside(tables, ())) is None:
        return 0
    return int(cuts[tables.class_of("\n")])


def _parsed(content: bytes, field: str, n_lines: int) -> pyarrow.Array | None:
    """Return a field of JSON lines as Arrow reads it; None if it cannot, or if it would accept what Python refuses."""
    try:
        import pyarrow
        from pyarrow import json
    except ModuleNotFoundError:
        return None
    schema = pyarrow.schema([(field, pyarrow.string())])
    how = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    at_once = json.ReadOptions(use_threads=False, block_size=len(content) + 1)
    block = np.frombuffer(content, np.uint8)
    if native.valid_bytes(block, len(block)) < len(block):
        return None
    try:
        table = json.read_json(pyarrow.BufferReader(content), at_once, how)
    except (pyarrow.ArrowException, OverflowError):
        return None
    column = table[field].combine_chunks()
    return None if column.null_count or len(column) != n_lines else column


def _add_column(words: Words, column: pyarrow.Array) -> bool:
    """Count the texts of a column if it holds UTF-8 texts; return whether it does."""
    import pyarrow
    from pyarrow import types

    if not types.is_string(column.type) and not types.is_large_string(column.type):
        return False
    column = column.drop_null().cast(pyarrow.large_string())
    if not len(column):
        return True
    _, offsets, content = column.buffers()
    ends = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    data = np.zeros(int(ends[-1] - ends[0]) + PAD_BYTES, np.uint8)
    if content is not None:
        data[:-PAD_BYTES] = np.frombuffer(content, np.uint8)[ends[0] : ends[-1]]
    sizes = np.diff(ends)
    first_bytes = data[(ends[:-1] - ends[0])[sizes > 0]]
    if (
        native.valid_bytes(data, len(data)) < len(data)
        or (first_bytes & 0xC0 == 0x80).any()
        or sizes.max() > MOST_TEXT_BYTES
    ):
        return False
    words.add_texts(data, sizes)
    return True


def count_group(parts: Sequence[Part], pattern: tuple[str, ...]) -> PieceCounts:
    """Count parts of files in a worker process, on this machine or another that sees the same files."""
    return Spill(pattern).words(parts, count_part).counted()


class Spill(ExitStack):
    """Counts in tables, and writes them to temporary runs before they take too much memory, if that has a limit."""

    def __init__(self, pattern: tuple[str, ...], memory_limit: int | None = None, n_tables: int = 1) -> None:
        """Let `n_tables` tables take `memory_limit` together."""
        super().__init__()
        self._pattern, self._limit = pattern, memory_limit
        if memory_limit is not None:
            folder = self.enter_context(TemporaryDirectory(prefix="bpebench-counts-"))
            self._runs, self._most_bytes = Runs(Path(folder), pattern), memory_limit // max(1, n_tables)

    def words(
        self, work: Iterable[T], count: Callable[[T, Words], Iterable[int]], progress: Progress | None = None
    ) -> Words:
        """Return tables in which all work was counted by `count`, which yields the number of bytes of each step."""
        words = Words(self._pattern)
        for each in work:
            for n_bytes in count(each, words):
                if progress is not None:
                    progress(n_bytes)
            words = self.emptied(words)
        return words

    def emptied(self, words: Words) -> Words:
        """Return the tables; if they would soon take too much memory, write them as a run and return new ones."""
        if self._limit is None or not words.may_outgrow(self._most_bytes):
            return words
        self._runs.write(words.counted())
        return Words(self._pattern)

    def sum(self, counts: PieceCounts) -> PieceCounts:
        """Return the sum of the counts and of all runs."""
        if self._limit is not None and len(self._runs):
            self._runs.write(counts)
            counts = self._runs.added(partial(bounded_zeros, limit=self._limit))
        return replace(counts, memory_limit=self._limit)


def batches(texts: Iterable[str], cuts: PairCuts | None) -> Iterator[list[bytes]]:
    """Yield lists of the texts' UTF-8, about a megabyte at a time; a longer text is cut where it may be."""
    batch: list[bytes] = []
    n_bytes = 0
    for text in texts_in_turn(texts):
        for data in _parts_of(repair_surrogates(text), cuts):
            batch.append(data)
            n_bytes += len(data)
            if n_bytes >= _BATCH_BYTES or len(batch) == _MOST_TEXTS:
                yield batch
                batch, n_bytes = [], 0
    if batch:
        yield batch


def _parts_of(text: str, cuts: PairCuts | None) -> Iterator[bytes]:
    begin, size = 0, _BATCH_BYTES
    while cuts is not None and begin + 2 * size < len(text):
        end = cuts.last(text[begin : begin + size])
        if end == 0:
            size *= 2
            continue
        yield text[begin : begin + end].encode()
        begin, size = begin + end, _BATCH_BYTES
    yield text[begin:].encode()
