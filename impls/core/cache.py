"""Files in the user's cache: written atomically, read back only if intact and under their own name. Knows no format.

A checksum is not a signature: machine code and unchecked tables are read from no file that another user can have
written. A file must be a regular one, not a link, of this user or root, and not writable by its group or others; the
same for its folder. One line on standard error says why one is not used. Nothing is checked on Windows, where a user's
folders are private.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

DIGEST_BYTES = 32
MOST_BYTES = 1 << 29
"""Limit for all files of one kind (suffix) in one folder."""
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK"))


def cache_folder() -> Path:
    """Return the folder that `BPEBENCH_CACHE` names, or else the user's cache folder for `bpebench`."""
    if chosen := os.environ.get("BPEBENCH_CACHE"):
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


def make_folder(folder: Path) -> None:
    """Create a folder, and its missing parents, which only this user may write; raise `OSError`."""
    for path in (*reversed(folder.parents), folder):
        if not path.is_dir():
            path.mkdir(mode=0o700, exist_ok=True)


def is_private(folder: Path) -> bool:
    """Return whether no other user can write `folder`, creating it if it is missing; report once why it is not used."""
    try:
        make_folder(folder)
        return _is_own(folder, folder.stat())
    except OSError:
        return False


def _is_own(path: Path, about: os.stat_result) -> bool:
    """Return whether only this user or root can have written a file or folder; report once why not."""
    if not hasattr(os, "geteuid"):
        return True
    if about.st_uid not in (os.geteuid(), 0):
        _report(f"{path} belongs to another user ({about.st_uid})")
        return False
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        _report(f"others may write {path} (mode {stat.S_IMODE(about.st_mode):o}); run chmod go-w on it")
        return False
    return True


@cache
def _report(message: str) -> None:
    print(f"bpebench: the cache is not used: {message}", file=sys.stderr, flush=True)


def read_checked(path: Path, allocate: Callable[[int], Any] = bytearray) -> CachedFile | None:
    """Return the content of a file of `write_checked`, read into what `allocate` returns for its number of bytes; None
    if it is missing, damaged, or writable by others."""
    try:
        if not _is_own(path.parent, path.parent.stat()):
            return None
        with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | _FLAGS)) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or not _is_own(path, about):
                return None
            header = file.read(DIGEST_BYTES)
            content = allocate(max(0, about.st_size - DIGEST_BYTES))
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
        newest = sorted(folder.glob(f"*{suffix}"), key=lambda path: -path.stat().st_mtime_ns)
        ends = list(accumulate(path.stat().st_size for path in newest))
        for path in newest[bisect_right(ends, MOST_BYTES) :]:
            path.unlink(missing_ok=True)
