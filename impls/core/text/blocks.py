"""Blocks of plain text in a file, which can be read from anywhere, and the documents in a block.

Block k ends at the first line that starts at byte (k+1) * BLOCK_BYTES or after it; if none does within another
BLOCK_BYTES, and the file does not end there, at the first character. In a block a document is a paragraph with the
blank lines after it, or a line. All documents together are the text of the file, without a byte order mark.

A blank line is white space with a line break.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from collections.abc import Iterator
from typing import IO, NamedTuple

from impls.core.errors import InvalidFile

BLOCK_BYTES = 1 << 20
_LINE_BREAK = ord("\n")
_CONTINUATIONS = bytes(range(0x80, 0xC0))
"""Bytes that continue a character."""
_BLANK = r"(?:[^\S\n]*+\n)"
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_PARAGRAPHS = re.compile(rf"{_BLANK}*+(?:(?!{_BLANK})[^\n]+\n?)*+{_BLANK}*+")


class Block(NamedTuple):
    """Bytes of a file, and their offset in it."""

    offset: int
    content: memoryview


def documents_of(text: str, documents: str) -> Iterator[str]:
    """Yield the documents of a block's text: `paragraphs`, each with the blank lines after it, or `lines`."""
    return filter(None, (_LINES if documents == "lines" else _PARAGRAPHS).findall(text))


def decoded(content: bytes | memoryview, name: str, offset: int = 0) -> str:
    """Return the text of bytes at `offset` of a file; raise `InvalidFile` if it is not UTF-8."""
    try:
        return str(content, "utf-8")
    except UnicodeDecodeError as error:
        at, byte = offset + error.start, error.object[error.start]
        hint = "it looks like UTF-16; " if at == 0 and byte in (0xFE, 0xFF) else ""
        raise InvalidFile(name, f"not UTF-8 at byte {at} (0x{byte:02X}); {hint}convert it to UTF-8 first") from None


def blocks_of(source: IO[bytes], first: int, end: int | None, *, whole_lines: bool = False) -> Iterator[Block]:
    """Yield the blocks of an open file, see `TextFile.blocks`; with `whole_lines` no line is cut, however long."""
    # Whether a line starts at a block's first byte is seen by the line break before it.
    offset, number = max(0, first * BLOCK_BYTES - 1), first - (first > 0)
    if offset:
        source.seek(offset)
    view, rest = memoryview(bytearray(2 * BLOCK_BYTES)), b""
    while end is None or number < end:
        limit = (number + 1) * BLOCK_BYTES - offset
        if limit <= 0:  # within a line
            number += 1
            continue
        size = io.BytesIO(rest).readinto(view) or source.readinto(view[:limit])  # type: ignore[attr-defined]
        is_last, content, rest = size < limit, view[:size], b""
        if not is_last and view[size - 1] != _LINE_BREAK:
            most = sys.maxsize if whole_lines else BLOCK_BYTES
            line = source.readline(most)
            n_kept = len(line) if len(line) < most else len(line) - len(line.lstrip(_CONTINUATIONS))
            if n_kept <= BLOCK_BYTES:
                view[size : size + n_kept], rest = line[:n_kept], line[n_kept:]
                content = view[: size + n_kept]
            else:
                content = memoryview(bytes(content) + line)
        if number >= first and content:
            skipped = len(codecs.BOM_UTF8) if offset == 0 and bytes(content[:3]) == codecs.BOM_UTF8 else 0
            if len(content) > skipped:
                yield Block(offset + skipped, content[skipped:])
        if is_last:
            return
        offset, number = offset + len(content), number + 1
