"""The user's cache folder: verified files, written atomically. Knows nothing of where they come from."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

from harness.data.errors import DataError
from impls.core.cache import cache_folder as cache_folder
from impls.core.cache import make_folder
from impls.formats.files import write_atomically


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of `content` in hex."""
    return hashlib.sha256(content).hexdigest()


def read_stored(path: str, sha256: str) -> bytes | None:
    """Return a file of the cache, or None if there is none; a file with another digest is removed."""
    file = cache_folder() / path
    if not file.is_file():  # reading a pipe would block
        return None
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    if sha256_of(content) != sha256:
        file.unlink(missing_ok=True)
        return None
    return content


def store(path: str, content: bytes, sha256: str) -> None:
    """Write a file to the cache atomically. Raise `DataError` for a wrong digest and for a full disk."""
    got = sha256_of(content)
    if got != sha256:
        raise DataError(f"{path}: wrong digest: expected sha256 {sha256}, got {got}; nothing was kept")
    file = cache_folder() / path
    try:
        make_folder(file.parent)
        if not file.is_file():
            file.unlink(missing_ok=True)  # writing to a pipe would block
        write_atomically(file, content)
    except OSError as error:
        raise disk_error(error, file) from None


def disk_error(error: OSError, file: Path) -> DataError:
    """Return the error of writing `file`, with what to do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DataError(
            f"{file}: the disk is full; free some space, or set BPEBENCH_CACHE to a folder with room, and run it again"
        )
    return DataError(f"{file}: cannot be written: {error.strerror}; set BPEBENCH_CACHE to a folder of your own")
