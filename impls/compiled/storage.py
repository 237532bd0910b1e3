"""Files in the user's cache: written whole, read back only when intact. Knows no format."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import platformdirs

_DIGEST_BYTES = 32


def cache_folder() -> Path:
    """Where compiled kernels and prepared tables are kept: in `BPEBENCH_CACHE`, or in the user's cache folder."""
    chosen = os.environ.get("BPEBENCH_CACHE")
    folder = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("bpebench", appauthor=False)
    return folder / "compiled"


def read_checked(path: Path) -> bytes | None:
    """The content of a file of `write_checked`; None where it is missing, unreadable or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = data[_DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == data[:_DIGEST_BYTES] else None


def write_checked(path: Path, content: bytes) -> bool:
    """Writes a file whole, behind its SHA-256; False where the place cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest())
                file.write(content)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True
