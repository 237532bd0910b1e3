"""The user's own files as documents, streamed: never more than a few documents are in memory.

`.jsonl`: the field `text` of each line. Anything else is read as text: a document is a paragraph with the blank lines
after it, cut at `MAX_DOCUMENT_CHARACTERS` where it is longer, if possible at the end of a line. So all documents
together are the text of the file, without a byte order mark.
"""

from __future__ import annotations

import glob
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from harness.data.errors import DataError

MAX_DOCUMENT_CHARACTERS = 1_000_000


def matching_files(pattern: str) -> list[Path]:
    """Return the files of a path or a glob, sorted; raise `DataError` where there is none, or for a folder."""
    path = Path(pattern)
    try:
        if path.is_dir():
            raise DataError(f"{pattern}: is a folder; name a file, or its files by a glob such as '{pattern}/*.txt'")
        if path.exists():
            return [path]
        found = sorted(map(Path, glob.glob(pattern, recursive=True)))  # noqa: PTH207 (Path.glob takes no absolute one)
    except (OSError, ValueError) as error:
        raise DataError(f"{pattern!a}: cannot be a path: {error}") from None
    files = [file for file in found if file.is_file()]
    if not files:
        raise DataError(f"{pattern}: there is no such file")
    return files


def read_documents(file: Path) -> Iterator[str]:
    """Yield the documents of one file. Raise `DataError` naming the invalid place."""
    try:
        with file.open(encoding="utf-8", newline="\n") as source:
            yield from (_json_lines if file.suffix == ".jsonl" else _paragraphs)(source, str(file))
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}") from None


def documents_of(content: bytes, name: str) -> Iterator[str]:
    """Yield the documents of a text that is not in a file. Raise `DataError` naming the invalid byte."""
    return _paragraphs(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="\n"), name)


def _lines(source: io.TextIOWrapper, name: str, max_characters: int = -1) -> Iterator[str]:
    """Yield lines with their ends (`\\n`), a longer one in pieces; without a byte order mark at the start."""
    try:
        if first := source.readline(max_characters).removeprefix("\ufeff"):
            yield first
        yield from iter(lambda: source.readline(max_characters), "")
    except UnicodeDecodeError as error:
        read: IO[bytes] = source.buffer  # type: ignore[assignment]  # its stub is of what every such object has
        place = f" at byte {read.tell() - len(error.object) + error.start}" if read.seekable() else ""
        raise DataError(
            f"{name}: not UTF-8{place} (0x{error.object[error.start]:02X}); convert it to UTF-8 first"
        ) from None


def _json_lines(source: io.TextIOWrapper, name: str) -> Iterator[str]:
    for number, line in enumerate(_lines(source, name), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too large"
            raise DataError(f"{name}: line {number} is not JSON: {reason}") from None
        found = entry.get("text") if isinstance(entry, dict) else None
        if not isinstance(found, str):
            raise DataError(f'{name}: line {number} has no field "text" that is a string')
        yield found


def _paragraphs(source: io.TextIOWrapper, name: str) -> Iterator[str]:
    lines: list[str] = []
    size = 0
    has_text = ended = False
    for line in _lines(source, name, MAX_DOCUMENT_CHARACTERS):
        is_blank = not line.strip() and line.endswith("\n")
        if lines and ((ended and not is_blank) or size + len(line) > MAX_DOCUMENT_CHARACTERS):
            yield "".join(lines)
            lines, size, has_text = [], 0, False
        has_text |= not is_blank
        ended = is_blank and has_text
        lines.append(line)
        size += len(line)
    if lines:
        yield "".join(lines)
