"""Inspection of a vocabulary file: its format, which vocabulary it holds whatever its name, and anything unusual.

A published vocabulary is recognised by its tokens, in any format and under any name.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path

from harness.data.catalogue import all_items
from impls.core.model.model import Model
from impls.core.text.patterns import NAMED, name_of
from impls.formats import load_with_format
from impls.formats.known import KNOWN, Known
from impls.formats.tiktoken_ranks import digest_of


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of inspecting a file."""

    format: str
    sha256: str | None
    """Digest of the file; None for a folder."""
    n_bytes: int
    published_file: str | None
    """The published vocabulary whose file this is, byte for byte."""
    vocabulary: str | None
    """The published vocabulary whose tokens these are, id by id."""
    model: Model
    findings: tuple[str, ...]
    """Problems, one line each."""
    notes: tuple[str, ...]
    """Assumptions and omissions of the reader."""

    def document(self) -> dict[str, object]:
        """Return what the file is, for JSON and tables; the model is described elsewhere."""
        return {
            "format": self.format,
            "bytes": self.n_bytes,
            "sha256": self.sha256,
            "published_file": self.published_file,
            "published_vocabulary": self.vocabulary,
            "findings": list(self.findings),
            "notes": list(self.notes),
        }


def inspect(path: Path) -> Inspection:
    """Inspect a file or folder; raise `InvalidFile` if it is not a readable vocabulary."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        format, model = load_with_format(path)
    content = path.read_bytes() if path.is_file() else None
    sha256 = None if content is None else hashlib.sha256(content).hexdigest()
    known = KNOWN.get(digest_of(model.id_by_token))
    findings = [
        *_other_rules(model, known),
        *(f"irregular: {line}" for line in model.irregularities if known is None),
    ]
    return Inspection(
        format=format,
        sha256=sha256,
        n_bytes=len(content) if content is not None else sum(file.stat().st_size for file in path.iterdir()),
        published_file=_published_as(sha256),
        vocabulary=None if known is None else known.name,
        model=model,
        findings=tuple(findings),
        notes=tuple(str(warning.message) for warning in caught),
    )


def _published_as(sha256: str | None) -> str | None:
    return next((item.name.partition("/")[0] for item in all_items().values() if item.sha256 == sha256), None)


def _other_rules(model: Model, known: Known | None) -> list[str]:
    """Return how a model's rules differ from those of the published vocabulary's publisher, which changes the ids."""
    if known is None or known.pattern is None or model.pattern == NAMED[known.pattern]:
        return []
    if name_of(model.pattern) in (f"{known.pattern}-0.14",):
        return []
    return [f"pattern: {name_of(model.pattern) or 'another'}, where {known.name} is used with {known.pattern}"]
