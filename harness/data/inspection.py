"""Inspection of a vocabulary file: its format, which vocabulary it holds whatever its name, and anything unusual.

A published vocabulary is recognised by its tokens, in any format and under any name. The label of a file is the part
of its name, or else of its folder's, that names a vocabulary.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from harness.data.catalogue import all_items, vocabularies
from impls.core.model.model import Model
from impls.core.text.patterns import NAMED, name_of
from impls.formats import load_with_format
from impls.formats.known import KNOWN, Known
from impls.formats.tiktoken_ranks import digest_of

_MISTRAL = frozenset({"mistral-v1", "mistral-v2", "mistral-v3", "tekken"})
_LABELS: dict[str, frozenset[str]] = {
    r"o200k|gpt-?4o|gpt-?4\.1|gpt-?5|o[134]-": frozenset({"o200k_base"}),
    r"cl100k|gpt-?4|gpt-?3\.5": frozenset({"cl100k_base"}),
    r"p50k|codex|davinci": frozenset({"p50k_base"}),
    r"r50k|gpt-?2": frozenset({"r50k_base"}),
    r"whisper": frozenset({"whisper", "r50k_base"}),
    r"llama[-_ ]?[34]": frozenset({"llama3"}),
    r"llama[-_ ]?2|llama[-_ ]?1": frozenset({"llama2"}),
    r"tekken|nemo|pixtral": frozenset({"tekken"}),
    r"mistral|mixtral|codestral": _MISTRAL,
    r"qwen": frozenset({"qwen", "qwen3.6"}),
    r"deepseek": frozenset({"deepseek"}),
}
"""Pattern of a name -> the published vocabularies it may mean; the first match counts."""


@dataclass(frozen=True, slots=True)
class _Label:
    source: str
    """Where the name was found."""
    text: str
    """The part of it that matches."""
    meant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of inspecting a file."""

    path: str
    format: str
    sha256: str | None
    """Digest of the file; None for a folder."""
    n_bytes: int
    published_file: str | None
    """The published vocabulary whose file this is, byte for byte."""
    vocabulary: str | None
    """The published vocabulary whose tokens these are, id by id."""
    label: str | None
    """The name that suggests what the file should hold."""
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
            "called": self.label,
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
    label = _label(path)
    findings = [
        *_mislabelled(path, known, label),
        *_other_rules(model, known),
        *(f"irregular: {line}" for line in model.irregularities if known is None),
    ]
    return Inspection(
        path=str(path),
        format=format,
        sha256=sha256,
        n_bytes=len(content) if content is not None else sum(file.stat().st_size for file in path.iterdir()),
        published_file=_published_as(sha256),
        vocabulary=None if known is None else known.name,
        label=None if label is None else label.text,
        model=model,
        findings=tuple(findings),
        notes=tuple(str(warning.message) for warning in caught),
    )


def _published_as(sha256: str | None) -> str | None:
    return next((item.name.partition("/")[0] for item in all_items().values() if item.sha256 == sha256), None)


def _label(path: Path) -> _Label | None:
    """Return the nearest name that matches a label, or None."""
    whole = path.resolve()
    folder = whole if whole.is_dir() else whole.parent
    names = {"its name": whole.name} | ({} if folder == whole else {"its folder": folder.name})
    for source, name in names.items():
        for pattern, meant in _LABELS.items():
            if found := re.search(pattern, name, re.IGNORECASE):
                return _Label(source, found[0].lower(), meant)
    return None


def _mislabelled(path: Path, known: Known | None, label: _Label | None) -> list[str]:
    if label is not None and known is not None and known.name not in label.meant:
        return [f"mislabelled: {label.source} says {label.text}, but its tokens are those of {known.name}"]
    stem = path.name.partition(".")[0]
    if label is not None and known is None and stem in vocabularies():
        return [f"mislabelled: it is called {stem}, but its tokens are not those of {stem}, nor of another known one"]
    return []


def _other_rules(model: Model, known: Known | None) -> list[str]:
    """Return how a model's rules differ from those of the published vocabulary's publisher, which changes the ids."""
    if known is None or known.pattern is None or model.pattern == NAMED[known.pattern]:
        return []
    if name_of(model.pattern) in (f"{known.pattern}-0.14",):
        return []
    return [f"pattern: {name_of(model.pattern) or 'another'}, where {known.name} is used with {known.pattern}"]
