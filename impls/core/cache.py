"""Files in the user's cache: written atomically, read back only if intact and under their own name. Knows no format.

A checksum is not a signature: a file or folder that another user can write is neither read nor written
(`private_files`), and one line on standard error says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from impls.core.private_files import Unsafe, check_folder, make_folder, open_checked

DIGEST_BYTES = 32
MOST_BYTES = 1 << 29
"""Limit for all files of one kind (suffix) in one folder."""


def cache_folder() -> Path:
    """Return the folder that `BPEBENCH_CACHE` names, or else the user's cache folder for `bpebench`."""
    chosen = os.environ.get("BPEBENCH_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("bpebench", appauthor=False))


class CachedFile(NamedTuple):
    """The content of a file of the cache, and its digest."""

    content: Any
    """What `read_checked` allocated."""
    sha256: str
    """SHA-256 of the content in hex."""


def checksum(path: Path, sha256: bytes) -> bytes:
    """Return the header of a file whose content has this SHA-256. It depends on the file's name as well, so that a file
    copied over another counts as damaged."""
    return hashlib.sha256(path.name.encode() + b"\0" + sha256).digest()


def is_private(folder: Path) -> bool:
    """Return whether no other user can write `folder`, creating it if it is missing; report once why it is not used."""
    try:
        make_folder(folder)
        check_folder(folder)
    except Unsafe as error:
        _report(str(error))
        return False
    except OSError:
        return False
    return True


def open_cached(path: Path) -> int:
    """Open a file of the cache and return its descriptor; raise `OSError`, also for a file that others can write."""
    try:
        return open_checked(path)
    except Unsafe as error:
        _report(str(error))
        raise PermissionError(str(error)) from None


@cache
def _report(message: str) -> None:
    print(f"bpebench: the cache is not used: {message}", file=sys.stderr, flush=True)


def read_checked(path: Path, allocate: Callable[[int], Any] = bytearray) -> CachedFile | None:
    """Return the content of a file of `write_checked`, read into what `allocate` returns for its number of bytes; None
    if it is missing, damaged, or writable by others."""
    try:
        with os.fdopen(open_cached(path), "rb", buffering=0) as file:
            header = file.read(DIGEST_BYTES)
            content = allocate(max(0, os.fstat(file.fileno()).st_size - DIGEST_BYTES))
            if file.readinto(content) != len(content):
                return None
    except (OSError, ValueError):
        return None
    digest = hashlib.sha256(content)
    return CachedFile(content, digest.hexdigest()) if checksum(path, digest.digest()) == header else None


def write_checked(path: Path, content: Any) -> bool:
    """Write a file atomically, its checksum first; return False if the folder is not writable, or writable by others.

    Deletes the oldest files with its suffix beyond `MOST_BYTES` in the folder, left by other releases.
    """
    if not is_private(path.parent):
        return False
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(checksum(path, hashlib.sha256(content).digest()))
                file.write(content)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:
        return False
    _delete_oldest(path.parent, path.suffix)
    return True


def _delete_oldest(folder: Path, suffix: str) -> None:
    with contextlib.suppress(OSError):
        found = [(entry.stat(), entry) for entry in os.scandir(folder) if entry.name.endswith(suffix)]
        n_bytes = 0
        for about, entry in sorted(found, key=lambda each: -each[0].st_mtime_ns):
            n_bytes += about.st_size
            if n_bytes > MOST_BYTES:
                Path(entry).unlink(missing_ok=True)
