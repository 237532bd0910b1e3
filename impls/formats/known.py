"""Published vocabularies by content: their names, and the pattern and special tokens their rank files lack.

A vocabulary is identified by the SHA-256 of its rank file: its tokens in order of id, as tiktoken writes them. It is
thus recognised in every format and under every file name. `known.json` lists them: special tokens by the first id of
each run of ids. mistral-v3's control symbols are added tokens in its tokenizer.json, which has therefore a digest of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec


@dataclass(frozen=True, slots=True)
class Known:
    """A published vocabulary."""

    name: str
    pattern: str | None = None
    """Name of the pattern its rank file is used with; None if its own format has one."""
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    """The special tokens its rank file is used with."""


class _Entry(msgspec.Struct):
    sha256: list[str]
    pattern: str | None = None
    special_tokens: dict[int, list[str]] = {}


def _read(content: bytes) -> dict[str, Known]:
    known: dict[str, Known] = {}
    for name, entry in msgspec.json.decode(content, type=dict[str, _Entry]).items():
        special = {text: i for first, texts in entry.special_tokens.items() for i, text in enumerate(texts, first)}
        known |= dict.fromkeys(entry.sha256, Known(name, entry.pattern, special))
    return known


KNOWN = _read(Path(__file__).with_suffix(".json").read_bytes())
"""SHA-256 of the rank file -> the vocabulary."""
