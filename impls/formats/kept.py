"""Models of large files, kept in the user's cache by the digest of the file: read once, restored from then on.

What is kept was checked when the file was read. The key covers the file, what was given beside it, and the sources that
read and check; so another file, another release or another `regex` finds nothing. A cache that cannot be written costs
reading again.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

import regex

from impls.core.cache import cache_folder, read_checked, write_checked
from impls.core.model import Model
from impls.core.model.packed import pack, unpack

LEAST_BYTES = 1 << 18
"""Smaller files are read as quickly as they are found."""

_HERE = Path(__file__).parent
_SOURCES = (
    *(f"../core/{name}.py" for name in ("cache", "private_files")),
    *(f"../core/model/{name}.py" for name in ("__init__", "checks", "model", "packed", "whole_tokens")),
    *(
        f"../core/text/{name}.py"
        for name in ("charsmap", "normal_forms", "normalization", "patterns", "sentencepiece_rules")
    ),
    *(f"{name}.py" for name in ("files", "kept", "known", "own", "tiktoken_ranks")),
)


class Place:
    """Where the model of a file is kept. `given` is what it depends on beside the content."""

    def __init__(self, format: str, content: bytes, sha256: str, *given: Any) -> None:
        self._path: Path | None = None
        if len(content) < LEAST_BYTES or (sources := _digest_of_sources()) is None:
            return
        key = hashlib.sha256(repr((sources, format, sha256, given)).encode()).hexdigest()
        self._path = cache_folder() / "read" / f"{key[:32]}.bin"

    def find(self) -> Model | None:
        """The model, or None where it is not kept."""
        kept = None if self._path is None else read_checked(self._path)
        return None if kept is None else Model.restored(unpack(kept.content, kept.sha256))

    def keep(self, model: Model) -> Model:
        """Keeps `model` and gives it back."""
        if self._path is not None:
            # A count too large to be packed, or no room for it, is no reason to fail.
            with contextlib.suppress(OverflowError, MemoryError):
                write_checked(self._path, pack(model).content)
        return model


@cache
def _digest_of_sources() -> str | None:
    """SHA-256 (hex) of what reads and checks; None where the sources are not files."""
    hasher = hashlib.sha256(f"{regex.__version__} {sys.version} {sys.byteorder}".encode())
    try:
        for name in _SOURCES:
            hasher.update((_HERE / name).read_bytes())
    except OSError:
        return None
    return hasher.hexdigest()
