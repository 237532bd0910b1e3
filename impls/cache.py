"""Files in the user's cache: written whole, read back only when intact and under their own name. Knows no format."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

DIGEST_BYTES = 32


def cache_folder() -> Path:
    """`BPEBENCH_CACHE`, or the user's cache folder for `bpebench`."""
    chosen = os.environ.get("BPEBENCH_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("bpebench", appauthor=False))


def checksum(path: Path, content: Any) -> bytes:
    """SHA-256 of a file's name and content: a file that was copied over another is as bad as a damaged one."""
    hasher = hashlib.sha256(path.name.encode() + b"\0")
    hasher.update(content)
    return hasher.digest()


def read_checked(path: Path) -> memoryview | None:
    """The content of a file of `write_checked`; None where it is missing or damaged."""
    try:
        with path.open("rb", buffering=0) as file:
            content = file.read()
    except (OSError, ValueError):
        return None
    found = memoryview(content)[DIGEST_BYTES:]
    return found if checksum(path, found) == content[:DIGEST_BYTES] else None


def write_checked(path: Path, content: Any) -> bool:
    """Writes a file whole, behind its checksum; False where the place cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(checksum(path, content))
                file.write(content)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True
