"""Files in the user's cache: written whole, read back only when intact and under their own name. Knows no format.

A checksum is no signature: what somebody else can write is neither read nor added to (`private_files`), with one
line on standard error that says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from impls.core.private_files import Unsafe, check_folder, make_folder, open_checked

DIGEST_BYTES = 32
MOST_BYTES = 1 << 29
"""Of files of one kind in one folder."""


def cache_folder() -> Path:
    """`BPEBENCH_CACHE`, or the user's cache folder for `bpebench`."""
    chosen = os.environ.get("BPEBENCH_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("bpebench", appauthor=False))


class CachedFile(NamedTuple):
    """What a file of the cache holds."""

    content: memoryview
    sha256: str
    """Of the content, hex."""


def checksum(path: Path, sha256: bytes) -> bytes:
    """What stands in front of a content of that SHA-256: a file copied over another is as bad as a damaged one."""
    return hashlib.sha256(path.name.encode() + b"\0" + sha256).digest()


def is_private(folder: Path) -> bool:
    """Whether nobody else can write `folder`, which is made where it is missing; says once why it is not used."""
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
    """A descriptor of a file of the cache to read; raises `OSError`, also for a file somebody else can write."""
    try:
        return open_checked(path)
    except Unsafe as error:
        _report(str(error))
        raise PermissionError(str(error)) from None


@cache
def _report(message: str) -> None:
    print(f"bpebench: the cache is not used: {message}", file=sys.stderr, flush=True)


def read_checked(path: Path) -> CachedFile | None:
    """What a file of `write_checked` holds; None where it is missing, damaged, or open to others."""
    try:
        with os.fdopen(open_cached(path), "rb", buffering=0) as file:
            everything = memoryview(file.read())
    except (OSError, ValueError):
        return None
    content = everything[DIGEST_BYTES:]
    digest = hashlib.sha256(content)
    if checksum(path, digest.digest()) != everything[:DIGEST_BYTES]:
        return None
    return CachedFile(content, digest.hexdigest())


def write_checked(path: Path, content: Any) -> bool:
    """Writes a file whole, behind its checksum; False where the place cannot be written, or others can write it.

    Of files of its kind in the folder the oldest go that are past `MOST_BYTES`: what other releases have left.
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
    _forget_oldest(path.parent, path.suffix)
    return True


def _forget_oldest(folder: Path, suffix: str) -> None:
    with contextlib.suppress(OSError):
        found = [(entry.stat(), entry) for entry in os.scandir(folder) if entry.name.endswith(suffix)]
        n_bytes = 0
        for about, entry in sorted(found, key=lambda each: -each[0].st_mtime_ns):
            n_bytes += about.st_size
            if n_bytes > MOST_BYTES:
                Path(entry).unlink(missing_ok=True)
