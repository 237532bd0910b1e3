"""Reading and writing whole files: one clear `InvalidFile` for whatever is wrong, atomic writes.

Knows no format. JSON is parsed strictly: a key given twice, a number of absurd length and endless nesting are errors.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from impls.errors import InvalidFile

MAX_TABLE_ID = 2**22 - 1
"""The largest id of a token; tokens are kept in a table by id, and the largest vocabulary in use has 262,144."""


def read_bytes(path: Path) -> bytes:
    """The content of the file; raises `InvalidFile` where it cannot be read or is empty."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InvalidFile(str(path), "no such file") from None
    except IsADirectoryError:
        raise InvalidFile(str(path), "this is a folder, not a file") from None
    except (OSError, ValueError) as error:
        raise InvalidFile(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not content.strip():
        raise InvalidFile(str(path), "the file is empty")
    return content


def decode_utf8(content: bytes, path: str) -> str:
    """`content` as text, a byte order mark left out; raises `InvalidFile` naming the line that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidFile(
            path, f"line {line}: not UTF-8 at byte {error.start}; the file is damaged, get it again"
        ) from None


def parse_json(content: bytes, path: str) -> Any:
    """The JSON document; raises `InvalidFile` naming line and column, or the key that stands twice in an object."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise InvalidFile(path, f"the key {twice!a} stands twice in one object; remove one of the two")
        return found

    text = decode_utf8(content, path)
    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InvalidFile(
            path,
            f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}); "
            "the file is cut short or damaged, get it again",
        ) from None
    except RecursionError:
        raise InvalidFile(path, "the JSON is nested too deeply; this is no model file") from None
    except ValueError as error:  # a number with thousands of digits
        raise InvalidFile(path, f"a number is too long: {error}") from None


def token_table(tokens: Iterable[tuple[bytes, int]], path: str) -> tuple[bytes | None, ...]:
    """Tokens by id, None for gaps; raises `InvalidFile` for an id two tokens have or one too large for a table."""
    by_id: dict[int, bytes] = {}
    for token, i in tokens:
        if i > MAX_TABLE_ID:
            raise InvalidFile(path, f"the token {token!r} has the id {i}; ids go up to {MAX_TABLE_ID}")
        if i in by_id:
            raise InvalidFile(
                path, f"the tokens {by_id[i]!r} and {token!r} have the same id {i}; every id is given once"
            )
        by_id[i] = token
    return tuple(map(by_id.get, range(max(by_id, default=-1) + 1)))


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, then rename: readers see the old file or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
