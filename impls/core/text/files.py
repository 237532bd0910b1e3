"""Text in files: plain text, JSON lines or Parquet, compressed or not, read as documents in bounded memory.

Documents of plain text are those of `impls.core.text.blocks`; in JSON lines a document is the string of a field, in
Parquet that of a column.
"""

from __future__ import annotations

import io
import json
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, cast

from impls.core.errors import InvalidFile, Missing
from impls.core.text import blocks
from impls.core.text.blocks import Block, blocks_of, decoded, documents_of

if TYPE_CHECKING:
    import pyarrow

_KINDS = {".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
_COMPRESSED = (*_MODULES, ".zst")
_ROWS = 1024
"""Rows of Parquet read at a time."""


class Part(NamedTuple):
    """Blocks `first` to `end` of a file (None: to its end), with the file's size and modification time when planned."""

    file: TextFile
    first: int
    end: int | None
    size: int
    changed: int


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of text; `path` None is standard input."""

    path: Path | None
    documents: Literal["paragraphs", "lines"] = "paragraphs"
    """What a document of plain text is."""
    field: str = "text"
    """The field of JSON lines, or the column of Parquet."""

    @property
    def name(self) -> str:
        """Return the path as given."""
        return "standard input" if self.path is None else str(self.path)

    @property
    def kind(self) -> str:
        """Return `text`, `json` or `parquet`, by the file name without the suffix of a compression."""
        suffixes = [suffix for suffix in Path(self.path or "").suffixes if suffix not in _COMPRESSED]
        return _KINDS.get("".join(suffixes[-1:]), "text")

    @property
    def is_compressed(self) -> bool:
        """Return whether the file name says it is compressed: .gz, .bz2, .xz or .zst."""
        return self.path is not None and self.path.suffix in _COMPRESSED

    def parts(self, n_blocks: int) -> list[Part]:
        """Return parts of `n_blocks` blocks that can be read separately; a single part for a file without random
        access.

        Raises `InvalidFile` if there is no such file, or it cannot be read.
        """
        if self.path is None:
            return [Part(self, 0, None, 0, 0)]
        with _readable(self.name):
            about = self.path.stat()
        size, changed = about.st_size, about.st_mtime_ns
        if self.is_compressed or not stat.S_ISREG(about.st_mode):
            return [Part(self, 0, None, size, changed)]
        with self._open():
            pass
        ends = [*range(n_blocks, -(-size // blocks.BLOCK_BYTES), n_blocks), None]
        return [Part(self, first, end, size, changed) for first, end in zip([0, *ends[:-1]], ends, strict=True)]

    def texts(self) -> Iterator[str]:
        """Yield the documents. Raises `InvalidFile` naming the place of the error."""
        if self.kind == "text":
            for offset, content in self.blocks():
                yield from documents_of(self.decoded(offset, content), self.documents)
        elif self.kind == "json":
            for at, lines in self.lines():
                yield from self.json_texts(at, lines)
        else:
            for column in self.columns():
                yield from self.column_texts(column)

    def decoded(self, offset: int, content: bytes | memoryview) -> str:
        """Return the text of bytes at `offset`; raise `InvalidFile` for invalid UTF-8."""
        return decoded(content, self.name, offset)

    def blocks(self, first: int = 0, end: int | None = None) -> Iterator[Block]:
        """Yield the offset and the bytes of each block from `first` to `end`, valid until the next one."""
        with self._open() as source:
            yield from blocks_of(source, first, end)

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        if self.path is None:
            if sys.stdin is None:
                raise InvalidFile(self.name, "is closed; name a file, or pipe something in")
            yield sys.stdin.buffer
            return
        with _readable(self.name), _opened(self.path) as source:
            yield source

    def lines(self, first: int = 0, end: int | None = None) -> Iterator[tuple[int, list[bytes]]]:
        """Yield lines, about a block at a time, with the offset of the first: all that begin in the blocks `first` to
        `end`, counted in bytes."""
        with self._open() as source:
            for at, content in blocks_of(source, first, end, whole_lines=True):
                yield at, io.BytesIO(content).readlines()

    def json_texts(self, at: int, lines: Iterable[bytes]) -> Iterator[str]:
        """Yield the documents of JSON lines, the first of which begins at `at`; raise `InvalidFile` naming the line."""
        for line in lines:
            text = self.decoded(at, line)
            if text.strip():
                try:
                    entry = json.loads(text)
                except (ValueError, RecursionError) as error:
                    reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too large"
                    raise InvalidFile(self.name, f"{self._place(at)} is not JSON: {reason}") from None
                value = entry.get(self.field) if isinstance(entry, dict) else None
                if not isinstance(value, str):
                    raise InvalidFile(self.name, f'{self._place(at)} has no field "{self.field}" that is a string')
                yield value
            at += len(line)

    def _place(self, at: int) -> str:
        """Name the line that begins at byte `at`, by its number if the file can be read again."""
        if self.path is None or not self.path.is_file():
            return f"the line at byte {at}"
        starts = (start for first, lines in self.lines() for start in accumulate(map(len, lines[:-1]), initial=first))
        return f"line {1 + sum(1 for _ in takewhile(lambda start: start < at, starts))}"

    def columns(self, first: int = 0, end: int | None = None) -> Iterator[pyarrow.Array]:
        """Yield the column of Parquet, some rows at a time: of all row groups that begin in the blocks `first` to
        `end`, counted in bytes."""
        try:
            from pyarrow import ArrowInvalid, parquet
        except ModuleNotFoundError:
            raise Missing("Parquet", "pyarrow") from None
        try:
            with parquet.ParquetFile(self.path) as file:
                if self.field not in (names := file.schema_arrow.names):
                    raise InvalidFile(self.name, f"has no column {self.field!r}; its columns: {names}")
                for group in range(file.num_row_groups):
                    column = file.metadata.row_group(group).column(0)
                    offset = min(column.data_page_offset, column.dictionary_page_offset or column.data_page_offset)
                    if offset // blocks.BLOCK_BYTES in range(first, sys.maxsize if end is None else end):
                        for batch in file.iter_batches(_ROWS, [group], [self.field], use_threads=False):
                            yield batch.column(0)
        except (ArrowInvalid, OSError) as error:
            raise InvalidFile(self.name, f"cannot be read as Parquet: {error}") from None

    def column_texts(self, column: pyarrow.Array) -> Iterator[str]:
        """Yield the documents of a column."""
        for value in column:
            text = value.as_py()
            if text is not None and not isinstance(text, str):
                raise InvalidFile(self.name, f"its column {self.field!r} contains {value.type}, not text")
            if text:
                yield text


class TextFiles:
    """Several files as one sequence of documents; each pass reads them again, except standard input."""

    def __init__(self, files: Sequence[TextFile]) -> None:
        self.files = tuple(files)

    def __iter__(self) -> Iterator[str]:
        for file in self.files:
            yield from file.texts()


def _opened(path: Path) -> IO[bytes]:
    if (module := _MODULES.get(path.suffix)) is not None:
        return cast(IO[bytes], import_module(module).open(path))
    if path.suffix == ".zst":
        try:
            import pyarrow
        except ModuleNotFoundError:
            raise Missing("zstd", "pyarrow") from None
        opened: Any = pyarrow.CompressedInputStream(str(path), "zstd")
        return io.BufferedReader(opened)
    return path.open("rb")


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn errors of the system and the decompressors into `InvalidFile`."""
    import zlib
    from lzma import LZMAError

    try:
        yield
    except OSError as error:
        raise InvalidFile(name, f"cannot be read: {error.strerror or error}") from None
    except (EOFError, LZMAError, zlib.error) as error:
        raise InvalidFile(name, f"cannot be decompressed: {error}") from None


def check_unchanged(parts: Iterable[Part]) -> None:
    """Raise `InvalidFile` if a file was changed after its parts were planned."""
    for file, _, _, size, changed in parts:
        about = None if file.path is None else file.path.stat()
        if about is not None and (about.st_size, about.st_mtime_ns) != (size, changed):
            raise InvalidFile(file.name, "was changed while it was read; copy it first, then count the copy")
