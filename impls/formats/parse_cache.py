"""Cache of parsed models: a large file is parsed once, then restored from the user's cache by the digest of the file.

A cached model was checked when its file was parsed. The key covers the file, what was given besides it, and the sources
that read and check; another file, release or version of `regex` is a cache miss. Where the cache cannot be written, the
file is parsed again.
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
"""Smaller files parse as fast as a cache lookup."""

_HERE = Path(__file__).parent
_SOURCES = (
    *(f"../core/{name}.py" for name in ("cache", "private_files")),
    *(f"../core/model/{name}.py" for name in ("__init__", "checks", "model", "packed", "whole_tokens")),
    *(
        f"../core/text/{name}.py"
        for name in ("charsmap", "normal_forms", "normalization", "patterns", "sentencepiece_rules")
    ),
    *(f"{name}.py" for name in ("files", "known", "own", "parse_cache", "tiktoken_ranks")),
)


class CacheEntry:
    """Where the model parsed from a file is cached; `given` is what it depends on besides the content."""

    def __init__(self, format: str, content: bytes, sha256: str, *given: Any) -> None:
        self._path: Path | None = None
        if len(content) < LEAST_BYTES or (sources := _digest_of_sources()) is None:
            return
        key = hashlib.sha256(repr((sources, format, sha256, given)).encode()).hexdigest()
        self._path = cache_folder() / "read" / f"{key[:32]}.bin"

    def load(self) -> Model | None:
        """Return the cached model, or None for a cache miss."""
        cached = None if self._path is None else read_checked(self._path)
        return None if cached is None else Model.restored(unpack(cached.content, cached.sha256))

    def store(self, model: Model) -> Model:
        """Write `model` to the cache and return it."""
        if self._path is not None:
            with contextlib.suppress(MemoryError):  # no room for it is no reason to fail
                write_checked(self._path, pack(model).content)
        return model


@cache
def _digest_of_sources() -> str | None:
    """Return the SHA-256 (hex) of the sources that read and check; None where they are not files."""
    hasher = hashlib.sha256(f"{regex.__version__} {sys.version} {sys.byteorder}".encode())
    try:
        for name in _SOURCES:
            hasher.update((_HERE / name).read_bytes())
    except OSError:
        return None
    return hasher.hexdigest()
