"""Inspection of a vocabulary file: its format, which vocabulary it holds whatever its name, and anything unusual.

A published vocabulary is recognised by its tokens, in any format and under any name.
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import NamedTuple

from harness.data.catalogue import all_items
from impls.core.model.model import Model
from impls.core.text.patterns import NAMED, name_of
from impls.formats import load_with_format
from impls.formats.known import KNOWN, Known
from impls.formats.tiktoken_ranks import digest_of


class Inspection(NamedTuple):
    """The result of inspecting a file."""

    format: str
    bytes: int
    sha256: str | None
    """Digest of the file; None for a folder."""
    published_file: str | None
    """The published vocabulary whose file this is, byte for byte."""
    published_vocabulary: str | None
    """The published vocabulary whose tokens these are, id by id."""
    findings: list[str]
    """Problems, one line each."""
    notes: list[str]
    """Assumptions and omissions of the reader."""
    model: Model

    def document(self) -> dict[str, object]:
        """Return what the file is, for JSON and tables; the model is described elsewhere."""
        return {name: value for name, value in self._asdict().items() if name != "model"}


def inspect(path: Path) -> Inspection:
    """Inspect a file or folder; raise `InvalidFile` if it is not a readable vocabulary."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        format, model = load_with_format(path)
    content = path.read_bytes() if path.is_file() else None
    sha256 = None if content is None else hashlib.sha256(content).hexdigest()
    known = KNOWN.get(digest_of(model.id_by_token))
    irregular = [f"irregular: {line}" for line in model.irregularities if known is None]
    return Inspection(
        format=format,
        bytes=len(content) if content is not None else sum(file.stat().st_size for file in path.iterdir()),
        sha256=sha256,
        published_file=next((i.name.partition("/")[0] for i in all_items().values() if i.sha256 == sha256), None),
        published_vocabulary=None if known is None else known.name,
        findings=[*_other_rules(model, known), *irregular],
        notes=[str(warning.message) for warning in caught],
        model=model,
    )


def _other_rules(model: Model, known: Known | None) -> list[str]:
    """Return how a model's rules differ from those of the published vocabulary's publisher, which changes the ids."""
    if known is None or known.pattern is None or model.pattern == NAMED[known.pattern]:
        return []
    name = name_of(model.pattern) or "another"
    is_equal = name == f"{known.pattern}-0.14"
    return [] if is_equal else [f"pattern: {name}, where {known.name} is used with {known.pattern}"]
