"""Blocks of plain text in a file, which can be read from anywhere, and the documents in a block.

Block k ends at the first line that starts at byte (k+1) * BLOCK_BYTES or after it; if none does within another
BLOCK_BYTES, and the file does not end there, at the first character. In a block a document is a paragraph with the
blank lines after it, or a line. All documents together are the text of the file, without a byte order mark.

A blank line is white space with a line break.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO, NamedTuple

from impls.core.errors import InvalidFile

BLOCK_BYTES = 1 << 20
_LOOK_AHEAD = 1 << 16
"""Bytes read beyond the end of a block at first, to find the line that starts there."""


class Block(NamedTuple):
    """Bytes of a file, and their offset in it."""

    offset: int
    content: memoryview


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


def decoded(content: bytes | memoryview, name: str, offset: int = 0) -> str:
    """Return the text of bytes at `offset` of a file; raise `InvalidFile` if it is not UTF-8."""
    try:
        return str(content, "utf-8")
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
    # Whether a line starts at a block's first byte is seen by the line break before it.
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
    """Return where the first line at or after `limit`, and before `end`, begins, or None."""
    at = buffer.find(b"\n", max(0, limit - 1), end - 1)
    return None if at < 0 else at + 1
