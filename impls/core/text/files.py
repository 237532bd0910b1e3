"""Text in files: plain text, JSON lines or Parquet, compressed or not, read as documents in bounded memory.

Plain text is read in blocks of a mebibyte: block k ends at the first line that starts at byte (k+1) * BLOCK_BYTES or
after it; where none does within another BLOCK_BYTES, and the file does not end there, at the first character. So blocks
can be read from anywhere, and several at a time. In a block a document is a paragraph with the blank lines after it, or
a line. All documents together are the text of the file, without a byte order mark.

A line is blank that is white space with a line break. In JSON lines a document is the string of a field, in Parquet
that of a column.
"""

from __future__ import annotations

import codecs
import io
import json
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

from impls.core.errors import InvalidFile, Missing

BLOCK_BYTES = 1 << 20
_LOOK_AHEAD = 1 << 16
"""Bytes read beyond the end of a block at first, to find the line that starts there."""
_JSON = (".jsonl", ".ndjson")
_PARQUET = ".parquet"
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


class Part(NamedTuple):
    """Blocks `first` to `end` of a file (None: to its end), and the file's size and time of change when planned."""

    file: TextFile
    first: int
    end: int | None
    size: int
    changed: int

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of plain text; raise `InvalidFile` where the file has become shorter."""
        return self.file.blocks(self.first, self.end, None if self.file.is_compressed else self.size or None)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of text; `path` None is standard input."""

    path: Path | None
    documents: Literal["paragraphs", "lines"] = "paragraphs"
    """What a document of plain text is."""
    field: str = "text"
    """The field of JSON lines, or the column of Parquet."""
    errors: Literal["strict", "replace"] = "strict"
    """Bytes that are not UTF-8: an error, or U+FFFD."""

    @property
    def name(self) -> str:
        """The path as given."""
        return "standard input" if self.path is None else str(self.path)

    @property
    def kind(self) -> str:
        """`text`, `json` or `parquet`, by the name without the suffix of a compression."""
        suffixes = [] if self.path is None else [suffix for suffix in self.path.suffixes if suffix not in _COMPRESSED]
        last = suffixes[-1] if suffixes else ""
        return "json" if last in _JSON else "parquet" if last == _PARQUET else "text"

    @property
    def is_compressed(self) -> bool:
        """Whether the name says so: .gz, .bz2, .xz or .zst."""
        return self.path is not None and self.path.suffix in _COMPRESSED

    def parts(self, n_blocks: int) -> list[Part]:
        """Return the parts of so many blocks that can be read one by one: all of what cannot be read from within.

        Raises `InvalidFile` where there is no such file, or it cannot be read.
        """
        if self.path is None:
            return [Part(self, 0, None, 0, 0)]
        with _readable(self.name):
            about = self.path.stat()
        size, changed = about.st_size, about.st_mtime_ns
        if self.kind != "text" or self.is_compressed or not stat.S_ISREG(about.st_mode):
            return [Part(self, 0, None, size, changed)]
        with self._open():
            pass
        total = -(-size // BLOCK_BYTES)
        ends = [*range(n_blocks, total, n_blocks), None]
        return [Part(self, first, end, size, changed) for first, end in zip([0, *ends[:-1]], ends, strict=True)]

    def texts(self) -> Iterator[str]:
        """Yield the documents. Raises `InvalidFile` naming the place of what cannot be read."""
        if self.kind == "text":
            for offset, content in self.blocks():
                yield from documents_of(self.decoded(offset, content), self.documents)
        elif self.kind == "json":
            yield from self._json_lines()
        else:
            yield from self._column()

    def decoded(self, offset: int, content: bytes | memoryview) -> str:
        """Return the text of bytes at `offset`; raise `InvalidFile` for one that is not UTF-8, unless replaced."""
        return decoded(content, self.name, offset, self.errors)

    def blocks(self, first: int = 0, end: int | None = None, n_bytes: int | None = None) -> Iterator[Block]:
        """Yield the offset and the bytes of each block, valid until the next one; at most the first `n_bytes` are read.

        Raises `InvalidFile` for a file that has become shorter than `n_bytes`.
        """
        with self._open() as source:
            yield from blocks_of(source, self.name, first, end, n_bytes)

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        if self.path is None:
            if sys.stdin is None:
                raise InvalidFile(self.name, "is closed; name a file, or pipe something in")
            yield sys.stdin.buffer
            return
        with _readable(self.name), _opened(self.path) as source:
            yield source

    def _json_lines(self) -> Iterator[str]:
        with self._open() as source:
            for number, line in enumerate(self._lines(source), 1):
                if not line.strip():
                    continue
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError) as error:
                    reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too large"
                    raise InvalidFile(self.name, f"line {number} is not JSON: {reason}") from None
                found = entry.get(self.field) if isinstance(entry, dict) else None
                if not isinstance(found, str):
                    raise InvalidFile(self.name, f'line {number} has no field "{self.field}" that is a string')
                yield found

    def _lines(self, source: IO[bytes]) -> Iterator[str]:
        at = 0
        for line in source:
            text = self.decoded(at, line)
            yield text.removeprefix("\ufeff") if at == 0 else text
            at += len(line)

    def _column(self) -> Iterator[str]:
        try:
            from pyarrow import ArrowInvalid, parquet
        except ModuleNotFoundError:
            raise Missing("Parquet", "pyarrow") from None
        try:
            with parquet.ParquetFile(self.path) as file:
                if self.field not in file.schema_arrow.names:
                    raise InvalidFile(
                        self.name, f"has no column {self.field!r}; its columns: {file.schema_arrow.names}"
                    )
                for batch in file.iter_batches(batch_size=1024, columns=[self.field]):
                    for value in batch.column(0):
                        text = value.as_py()
                        if text is not None and not isinstance(text, str):
                            raise InvalidFile(self.name, f"its column {self.field!r} holds {value.type}, not text")
                        if text:
                            yield text
        except (ArrowInvalid, OSError) as error:
            raise InvalidFile(self.name, f"cannot be read as Parquet: {error}") from None


class Block(NamedTuple):
    """Bytes of a file, and where in it they begin."""

    offset: int
    content: memoryview


class TextFiles:
    """Several files as one sequence of documents; each pass reads them again, except standard input."""

    def __init__(self, files: Sequence[TextFile]) -> None:
        self.files = tuple(files)

    def __iter__(self) -> Iterator[str]:
        for file in self.files:
            yield from file.texts()


def documents_of(text: str, documents: str) -> Iterator[str]:
    """Yield the documents of a block's text: `paragraphs`, each with the blank lines after it, or `lines`."""
    lines = text.split("\n")
    whole = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    if documents == "lines":
        yield from whole
        return
    begun: list[str] = []
    has_text = ended = False
    for line in whole:
        is_blank = not line.strip() and line.endswith("\n")
        if ended and not is_blank:
            yield "".join(begun)
            begun, has_text = [], False
        has_text |= not is_blank
        ended = is_blank and has_text
        begun.append(line)
    if begun:
        yield "".join(begun)


def decoded(content: bytes | memoryview, name: str, offset: int = 0, errors: str = "strict") -> str:
    """Return the text of bytes at `offset` of a file; raise `InvalidFile` for one that is not UTF-8."""
    try:
        return str(content, "utf-8", errors)
    except UnicodeDecodeError as error:
        at, byte = offset + error.start, error.object[error.start]
        hint = "it looks like UTF-16; " if at == 0 and byte in (0xFE, 0xFF) else ""
        raise InvalidFile(name, f"not UTF-8 at byte {at} (0x{byte:02X}); {hint}convert it to UTF-8 first") from None


def blocks_of(
    source: IO[bytes], name: str, first: int = 0, end: int | None = None, n_bytes: int | None = None
) -> Iterator[Block]:
    """Yield the blocks of an open file; see `TextFile.blocks`."""
    buffer = bytearray(2 * BLOCK_BYTES + _LOOK_AHEAD)
    view = memoryview(buffer)
    # The line that starts at a block's first byte is found by the line break before it.
    offset = max(0, first * BLOCK_BYTES - 1)
    if offset:
        source.seek(offset)
    filled, number, at_end = 0, first - (first > 0), False
    while end is None or number < end:
        limit = (number + 1) * BLOCK_BYTES - offset
        wanted = limit + _LOOK_AHEAD
        while True:
            while filled < wanted and not at_end:
                room = wanted - filled if n_bytes is None else min(wanted - filled, n_bytes - offset - filled)
                read = source.readinto(view[filled : filled + room]) if room else 0  # type: ignore[attr-defined]
                if not read:
                    at_end = True
                    if n_bytes is not None and offset + filled < n_bytes:
                        raise InvalidFile(name, f"it shrank below {n_bytes} bytes while it was read")
                filled += read or 0
            cut = _line_start(buffer, limit, min(filled, limit + BLOCK_BYTES))
            if cut is not None or at_end or filled >= limit + BLOCK_BYTES:
                break
            wanted = limit + BLOCK_BYTES
        if cut is None and filled >= limit + BLOCK_BYTES:
            cut = limit
            while cut < filled and buffer[cut] & 0xC0 == 0x80:
                cut += 1
        size = filled if cut is None else cut
        if number >= first and size:
            skipped = len(codecs.BOM_UTF8) if offset == 0 and buffer.startswith(codecs.BOM_UTF8) else 0
            if size > skipped:
                yield Block(offset + skipped, view[skipped:size])
        if at_end and size == filled:
            return
        buffer[: filled - size] = buffer[size:filled]
        offset, filled, number = offset + size, filled - size, number + 1


def _line_start(buffer: bytearray, limit: int, end: int) -> int | None:
    """Return where the first line begins at `limit` or after it and before `end`, or None."""
    at = buffer.find(b"\n", max(0, limit - 1), end - 1)
    return None if at < 0 else at + 1


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        import gzip

        return cast(IO[bytes], gzip.open(path))
    if path.suffix == ".bz2":
        import bz2

        return bz2.open(path)
    if path.suffix == ".xz":
        import lzma

        return lzma.open(path)
    if path.suffix == ".zst":
        try:
            import pyarrow
        except ModuleNotFoundError:
            raise Missing("zstd", "pyarrow") from None
        opened: Any = pyarrow.CompressedInputStream(str(path), "zstd")
        return io.BufferedReader(opened)
    return path.open("rb", buffering=0 if path.suffix not in _JSON else -1)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn what the system and the decompressors raise into `InvalidFile`."""
    import zlib
    from lzma import LZMAError

    try:
        yield
    except OSError as error:
        raise InvalidFile(name, f"cannot be read: {error.strerror or error}") from None
    except (EOFError, LZMAError, zlib.error) as error:
        raise InvalidFile(name, f"cannot be decompressed: {error}") from None


def check_unchanged(parts: Iterable[Part]) -> None:
    """Raise `InvalidFile` where a file was changed after its parts were planned."""
    for file, size, changed in dict.fromkeys((part.file, part.size, part.changed) for part in parts):
        if file.path is None:
            continue
        about = file.path.stat()
        if (about.st_size, about.st_mtime_ns) != (size, changed):
            raise InvalidFile(file.name, "was changed while it was read; copy it first, then count the copy")
