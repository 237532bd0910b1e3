"""Files in the user's cache: written whole, read back only when intact. Knows no format."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import numpy as np
import platformdirs

from impls.compiled.pages import aligned_zeros

_DIGEST_BYTES = 32


def cache_folder() -> Path:
    """Where compiled kernels and prepared tables are kept: in `BPEBENCH_CACHE`, or in the user's cache folder."""
    chosen = os.environ.get("BPEBENCH_CACHE")
    folder = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("bpebench", appauthor=False)
    return folder / "compiled"


def read_checked(path: Path) -> np.ndarray | None:
    """The content of a file of `write_checked` as uint8, 64-byte aligned; None where it is missing or damaged."""
    try:
        with path.open("rb") as file:
            digest = file.read(_DIGEST_BYTES)
            n_bytes = os.fstat(file.fileno()).st_size - _DIGEST_BYTES
            if n_bytes < 0:
                return None
            content = aligned_zeros(n_bytes)
            if file.readinto(content.data) != n_bytes:
                return None
    except OSError:
        return None
    return content if hashlib.sha256(content.data).digest() == digest else None


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
