"""The user's own files as documents, streamed: never more than a few documents are in memory.

`.jsonl`: the field `text` of each line. Anything else is read as text: a document is a paragraph with the blank lines
after it, cut at `MAX_DOCUMENT_CHARACTERS` where it is longer, if possible at the end of a line. So all documents
together are the text of the file, without a byte order mark.
"""

from __future__ import annotations

import codecs
import glob
import json
from collections.abc import Iterator
from pathlib import Path

from harness.data.errors import DataError

MAX_DOCUMENT_CHARACTERS = 1_000_000
_CHUNK_BYTES = 1 << 18


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
        with file.open("rb") as source:
            if file.suffix == ".jsonl":
                yield from _json_lines(file, iter(source))
            else:
                yield from _paragraphs(_decoded(file, iter(lambda: source.read(_CHUNK_BYTES), b"")))
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}") from None


def documents_of(content: bytes, name: str) -> Iterator[str]:
    """Yield the documents of a text that is not in a file. Raise `DataError` naming the invalid byte."""
    return _paragraphs(_decoded(name, iter([content])))


def _json_lines(file: Path, lines: Iterator[bytes]) -> Iterator[str]:
    position = 0
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _not_utf8(file, position + error.start, error) from None
        position += len(line)
        if not text.strip():
            continue
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too large"
            raise DataError(f"{file}: line {number} is not JSON: {reason}") from None
        found = entry.get("text") if isinstance(entry, dict) else None
        if not isinstance(found, str):
            raise DataError(f'{file}: line {number} has no field "text" that is a string')
        yield found


def _decoded(file: Path | str, chunks: Iterator[bytes]) -> Iterator[str]:
    """Decode `chunks`, which may be cut inside characters, without a byte order mark at the start."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    for chunk in chunks:
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            raise _not_utf8(file, position - pending + error.start, error) from None
        yield text.removeprefix("\ufeff") if position == 0 else text
        position += len(chunk)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _not_utf8(file, position - len(error.object) + error.start, error) from None


def _not_utf8(file: Path | str, offset: int, error: UnicodeDecodeError) -> DataError:
    return DataError(
        f"{file}: not UTF-8 at byte {offset} (0x{error.object[error.start]:02X}); convert it to UTF-8 first"
    )


def _paragraphs(parts: Iterator[str]) -> Iterator[str]:
    lines: list[str] = []
    size = 0
    has_text = ended = False
    for line in _lines(parts):
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


def _lines(parts: Iterator[str]) -> Iterator[str]:
    """Yield lines with their ends (`\\n`), a very long one in pieces of `MAX_DOCUMENT_CHARACTERS`."""
    rest: list[str] = []
    size = 0
    for part in parts:
        for piece in _split_keeping_ends(part):
            rest.append(piece)
            size += len(piece)
            ended = piece.endswith("\n")
            if ended or size > MAX_DOCUMENT_CHARACTERS:
                line = "".join(rest)
                while len(line) > MAX_DOCUMENT_CHARACTERS:
                    yield line[:MAX_DOCUMENT_CHARACTERS]
                    line = line[MAX_DOCUMENT_CHARACTERS:]
                if ended:
                    yield line
                rest, size = ([], 0) if ended else ([line], len(line))
    if size:
        yield "".join(rest)


def _split_keeping_ends(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
