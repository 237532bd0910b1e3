"""Read and write whole files: any fault is an `InvalidFile`, and writes are atomic.

Knows no format. A fault in a file's content is an `InvalidModel` without the file's name, which `naming` adds. JSON is
parsed strictly: duplicate keys, absurdly long numbers and deep nesting are errors.
"""

from __future__ import annotations

import codecs
import gc
import json
import os
import stat
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from impls.core.errors import InvalidFile, InvalidModel, InvalidPattern

Kind = TypeVar("Kind")

MAX_TABLE_ID = 2**20 - 1
"""The largest id of a token; tokens are stored in a table by id, and the largest vocabulary in use has 262,144."""

MAX_FILE_BYTES = 48 << 20
"""Larger files are refused: with this and `MAX_JSON_ENTRIES`, parsing takes at most 512 MiB of memory. The largest file
in use, with 262,144 tokens and 515,000 merges, has 33 MB."""

MAX_JSON_ENTRIES = 5 << 19
MAX_JSON_KEYS = 5 << 17
"""Limits on the list entries and object keys of a JSON document; the largest files in use have 1.9 and 0.45 million."""


_PACKED = "unpack it and name the file inside"
_OTHER_KINDS = {
    b"PK\x03\x04": f"this is a zip archive; {_PACKED}",
    b"\x1f\x8b": f"this is compressed by gzip; {_PACKED}",
    b"BZh91AY&SY": f"this is compressed by bzip2; {_PACKED}",
    b"\xfd7zXZ": f"this is compressed by xz; {_PACKED}",
    b"\x28\xb5\x2f\xfd": f"this is compressed by zstd; {_PACKED}",
    b"7z\xbc\xaf": f"this is a 7z archive; {_PACKED}",
    b"\xff\xfe": "this is UTF-16; save it as UTF-8",
    b"\xfe\xff": "this is UTF-16; save it as UTF-8",
    b"GGUF\x03\0\0\0": "this is a GGUF file of weights; name the tokenizer's own file",
    b"version https://git-lfs": "this is a Git LFS pointer, not the file itself; run `git lfs pull`",
    b"<!DOCTYPE": "this is a web page, not a vocabulary; download it again",
    b"<html": "this is a web page, not a vocabulary; download it again",
}
"""First bytes of files that are sometimes mistaken for vocabularies."""


@contextmanager
def without_collecting() -> Iterator[None]:
    """Disable garbage collection inside the `with` block.

    Parsing a million entries creates only live objects, and scanning them again and again takes most of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Raise errors from inside the `with` block as an `InvalidFile` of `path`."""
    try:
        yield
    except (InvalidModel, InvalidPattern) as error:
        raise InvalidFile(str(path), str(error)) from None
    except RecursionError:
        raise InvalidFile(str(path), "it is nested too deeply; this is not a model file") from None
    except MemoryError:
        raise InvalidFile(str(path), "reading it needs too much memory; this is not a model file") from None


def is_folder(path: Path) -> bool:
    """Return whether `path` is a folder; False also for an invalid file name."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def read_bytes(path: Path) -> bytes:
    """Return the content; raise `InvalidFile` for a file that is unreadable, empty, too large, or of another kind."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise InvalidFile(str(path), "this is not a regular file; save its content to one first")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise InvalidFile(str(path), "no such file") from None
    except IsADirectoryError:
        raise InvalidFile(str(path), "this is a folder, not a file") from None
    except (OSError, ValueError) as error:
        raise InvalidFile(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    with naming(path):
        return checked_content(content)


def checked_content(content: bytes) -> bytes:
    """Return `content` without a byte order mark; raise `InvalidModel` if empty, too large, or of another kind."""
    if len(content) > MAX_FILE_BYTES:
        raise InvalidModel(f"more than {MAX_FILE_BYTES >> 20} MiB; no vocabulary is that large")
    content = content.removeprefix(codecs.BOM_UTF8)
    if content.isspace() or not content:
        raise InvalidModel("the file is empty")
    for magic, problem in _OTHER_KINDS.items():
        if content.startswith(magic):
            raise InvalidModel(problem)
    return content


def decode_utf8(content: bytes) -> str:
    """Return `content` as text without a byte order mark; raise `InvalidModel` naming the line that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidModel(f"line {line}: not UTF-8 at byte {error.start}; the file is damaged, get it again") from None


def check_lines(content: bytes, *, complete: bool = True) -> None:
    """Raise `InvalidModel` for more lines than a vocabulary has tokens, or (`complete`) without a line break at the
    end, which a truncated file may lack."""
    if (n_lines := content.count(b"\n")) > MAX_TABLE_ID + 1:
        raise InvalidModel(f"{n_lines} lines; no vocabulary has that many")
    if complete and not content.endswith(b"\n"):
        raise InvalidModel(f"line {n_lines + 1}: ends without a line break; the file is cut short, get it again")


def check_json_size(content: bytes) -> None:
    """Raise `InvalidModel` for a document with too many entries, which would take far more memory than its bytes."""
    *n_entries, n_keys = (np.count_nonzero(np.frombuffer(content or b" ", np.uint8) == mark) for mark in b",[{:")
    if sum(n_entries) > MAX_JSON_ENTRIES or n_keys > MAX_JSON_KEYS:
        raise InvalidModel("JSON of millions of entries; no vocabulary has that many")


def parse_json(content: bytes) -> Any:
    """Parse a JSON document; raise `InvalidModel` naming line and column, or the duplicate key of an object."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        by_key = dict(pairs)
        if len(by_key) != len(pairs):
            twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            raise InvalidModel(f"the key {twice!a} occurs twice in one object; remove one of the two")
        return by_key

    check_json_size(content)
    text = decode_utf8(content)
    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidModel(f"{place}: not JSON ({error.msg}); the file is cut short or damaged, get it again") from None
    except ValueError as error:  # a number with thousands of digits
        raise InvalidModel(f"a number is too long: {error}") from None


def converted(document: Any, kind: type[Kind]) -> Kind:
    """Return a parsed JSON document as an object of `kind`; raise `InvalidModel` naming the invalid field."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise InvalidModel(str(error)) from None
    except UnicodeEncodeError as error:
        raise InvalidModel(f"the text {error.object[:40]!a} contains a lone surrogate") from None


def token_table(tokens: Collection[bytes], ids: Collection[int]) -> tuple[bytes | None, ...]:
    """Return tokens by id, None for gaps; raise `InvalidModel` for a duplicate id or one too large for a table."""
    if len(ids) <= MAX_TABLE_ID and list(ids) == list(range(len(ids))):  # the usual order
        return tuple(tokens)
    by_id = dict(zip(ids, tokens, strict=True))
    if (highest := max(by_id, default=-1)) > MAX_TABLE_ID:
        raise InvalidModel(f"the token {by_id[highest]!r} has the id {highest}; ids go up to {MAX_TABLE_ID}")
    if len(by_id) < len(tokens):
        twice, _ = Counter(ids).most_common(1)[0]
        first, second, *_ = (token for token, i in zip(tokens, ids, strict=True) if i == twice)
        raise InvalidModel(f"the tokens {first!r} and {second!r} have the same id {twice}; ids must be unique")
    return tuple(map(by_id.get, range(highest + 1)))


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file next to `path`, then rename it: readers see the old file or the new one, never a part.

    The target of a link is replaced, not the link; a pipe or a device is written to directly. A new file keeps the
    permissions of the file it replaces. An `OSError` names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_atomically(path, content)
    except OSError as error:
        error.filename = str(path)
        raise


def _write_atomically(path: Path, content: bytes) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        mode = stat.S_IFREG | (0o666 & ~umask)
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        path.write_bytes(content)
        return
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(stat.S_IMODE(mode))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
