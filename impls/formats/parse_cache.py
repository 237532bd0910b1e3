"""Cache of parsed models: a large file is parsed once, then restored from the user's cache by the digest of the file.

A cached model was checked when its file was parsed. The key covers the file, the other arguments, and the source code
that reads and checks; another file, release or version of `regex` is a cache miss. If the cache cannot be written, the
file is parsed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import regex

from impls.core.cache import cache_folder, read_checked, write_checked
from impls.core.model import Model
from impls.core.model.packed import unpack

LEAST_BYTES = 1 << 18
"""Smaller files parse as fast as a cache lookup."""

_HERE = Path(__file__).parent


Note = tuple[str, str]
"""What a warning of the reader is called, and its text."""


def cached_model(parse: Callable[[], Model], format: str, content: bytes, sha256: str, *given: Any) -> Model:
    """Return the model parsed from `content`, from the cache if it was parsed before; `given` is what the result
    depends on in addition to the content."""
    return cached_with_notes(lambda: (parse(), []), format, content, sha256, *given)[0]


def cached_with_notes(
    parse: Callable[[], tuple[Model, list[Note]]], format: str, content: bytes, sha256: str, *given: Any
) -> tuple[Model, list[Note]]:
    """Return a model like `cached_model`, and the notes of its reader."""
    if len(content) < LEAST_BYTES or (sources := _digest_of_sources()) is None:
        return parse()
    key = hashlib.sha256(repr((sources, format, sha256, given)).encode()).hexdigest()
    path = cache_folder() / "read" / f"{key[:32]}.bin"
    if (cached := read_checked(path)) is not None:
        packed = unpack(cached.content, cached.sha256)
        return Model.restored(packed), [(kind, text) for kind, text in packed.parts.notes]
    model, notes = parse()
    with contextlib.suppress(MemoryError):  # without the memory to pack it, do not fail
        write_checked(path, model.packed(notes).content)
    return model, notes


@cache
def _digest_of_sources() -> str | None:
    """Return the SHA-256 (hex) of the source code that reads and checks; None if it is not in files."""
    hasher = hashlib.sha256(f"{regex.__version__} {sys.version} {sys.byteorder}".encode())
    sources = sorted([*_HERE.rglob("*.py"), *_HERE.glob("*.json"), *(_HERE.parent / "core").rglob("*.py")])
    try:
        for source in sources:
            hasher.update(source.read_bytes())
    except OSError:
        return None
    return hasher.hexdigest() if sources else None
