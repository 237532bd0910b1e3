"""Hugging Face's steps that do what SentencePiece does to white space <-> `SentencePieceRules`.

A converted SentencePiece model has `Prepend` and `Replace` (Llama 2, Mistral) or `Replace` alone (Gemma) as its
normalizer, or `Metaspace` as its pre-tokenizer; `Precompiled` holds the compiled normalisation. These steps are read
and written, and spaces that are dropped as we write that; every other normalizer is refused by name.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

from impls.errors import InvalidFile
from impls.model import Model
from impls.sentencepiece_rules import SPACE_MARK, DummyPrefix, SentencePieceRules

WORDS_STAGE = f"{SPACE_MARK}[^{SPACE_MARK}]*|[^{SPACE_MARK}]+"
"""How `Metaspace` splits: before every mark."""

_DECODER_STEPS: list[dict[str, Any]] = [
    {"type": "Replace", "pattern": {"String": SPACE_MARK}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
]
_STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
_DROPPED: list[dict[str, Any]] = [
    {"type": "Replace", "pattern": {"Regex": r"\A +"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": rf"[ {SPACE_MARK}]+\z"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
]


@dataclass(slots=True)
class Spaces:
    """What the steps say, found one by one."""

    normalization: str | None = None
    escape_spaces: bool = False
    dummy_prefix: DummyPrefix = "never"
    remove_extra_spaces: bool = False
    charsmap: bytes = b""
    stages: list[str] = field(default_factory=list)
    """Split stages that go before all others."""
    prepended: str = ""
    """What `Prepend` puts before a text."""

    @property
    def rewrites(self) -> bool:
        """Whether a text is written otherwise, but for its normal form NFC."""
        return self.escape_spaces or self.dummy_prefix != "never" or self.remove_extra_spaces or bool(self.charsmap)


def read_normalizer(normalizer: Any, path: str) -> Spaces:
    """What the `normalizer` says; raises `InvalidFile` naming the step that is not supported."""
    spaces = Spaces()
    steps = _flat(normalizer, "normalizer", "normalizers", path)
    kinds = [step for _, step in steps]
    for start in range(len(kinds) - len(_DROPPED) + 1):
        if kinds[start : start + len(_DROPPED)] == _DROPPED:
            spaces.remove_extra_spaces = True
            del steps[start : start + len(_DROPPED)]
            break
    for where, step in steps:
        _read_step(step, where, spaces, path)
    return spaces


def _flat(value: Any, where: str, key: str, path: str) -> list[tuple[str, dict[str, Any]]]:
    if value is None:
        return []
    if not isinstance(value, dict):
        raise InvalidFile(path, f"{where}: an object is expected, not {type(value).__name__}")
    if value.get("type") != "Sequence":
        return [(where, value)]
    steps = value.get(key)
    if not isinstance(steps, list):
        raise InvalidFile(path, f"{where}.{key}: a list is expected")
    return [found for k, step in enumerate(steps) for found in _flat(step, f"{where}.{key}[{k}]", key, path)]


def _read_step(step: dict[str, Any], where: str, spaces: Spaces, path: str) -> None:
    kind = step.get("type")
    marks = (" ", SPACE_MARK) if not spaces.escape_spaces else (SPACE_MARK,)
    if kind == "NFC" and not spaces.rewrites:
        spaces.normalization = "nfc"
    elif kind == "Prepend" and step.get("prepend") in marks and spaces.dummy_prefix == "never":
        spaces.dummy_prefix = "always"
        spaces.prepended = step["prepend"]
    elif kind == "Replace" and step.get("pattern") == {"String": " "} and step.get("content") == SPACE_MARK:
        spaces.escape_spaces = True
    elif kind == "Precompiled" and not spaces.rewrites and spaces.normalization is None:
        spaces.charsmap = _charsmap(step.get("precompiled_charsmap"), where, path)
        spaces.normalization = "charsmap" if spaces.charsmap else None
    else:
        raise InvalidFile(
            path,
            f"{where}.type: {kind!r} is not supported as it is given here; supported are NFC, Precompiled, and Prepend "
            f"and Replace for white space as {SPACE_MARK!a}",
        )


def _charsmap(value: Any, where: str, path: str) -> bytes:
    try:
        return base64.b64decode(value or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise InvalidFile(path, f"{where}.precompiled_charsmap: base64 is expected") from None


def read_metaspace(step: dict[str, Any], where: str, spaces: Spaces, path: str) -> None:
    """Adds what a `Metaspace` pre-tokenizer says, which must be the first step of all."""
    if step.get("replacement", SPACE_MARK) != SPACE_MARK:
        raise InvalidFile(path, f"{where}.replacement: only {SPACE_MARK!a} is supported")
    scheme = step.get("prepend_scheme", "always" if step.get("add_prefix_space", True) else "never")
    prefixes: dict[Any, DummyPrefix] = {"always": "missing", "first": "first", "never": "never"}
    if scheme not in prefixes:
        raise InvalidFile(path, f"{where}.prepend_scheme: {scheme!r} is not one of: {', '.join(prefixes)}")
    spaces.escape_spaces = True
    if spaces.dummy_prefix == "never":
        spaces.dummy_prefix = prefixes[scheme]
    if step.get("split", True):
        spaces.stages.append(WORDS_STAGE)


def check_prefix(spaces: Spaces, path: str) -> None:
    """Raises `InvalidFile` for a mark that is put before texts whose spaces stay spaces."""
    if spaces.prepended == SPACE_MARK and not spaces.escape_spaces:
        raise InvalidFile(path, f"normalizer.type: 'Prepend' of {SPACE_MARK!a} is not supported without a Replace")


# --- writing ---------------------------------------------------------------------------------------------------


def write_normalizer(model: Model) -> dict[str, Any] | None:
    """The `normalizer` of a model."""
    steps: list[dict[str, Any]] = []
    rules = model.sentencepiece
    if model.normalization == "nfc":
        steps.append({"type": "NFC"})
    if rules is not None:
        if rules.charsmap:
            steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(rules.charsmap).decode()})
        if rules.remove_extra_spaces:
            steps += _DROPPED
        if rules.dummy_prefix == "always":
            steps.append({"type": "Prepend", "prepend": SPACE_MARK if rules.escape_spaces else " "})
        if rules.escape_spaces and not _by_metaspace(rules):
            steps.append({"type": "Replace", "pattern": {"String": " "}, "content": SPACE_MARK})
    if len(steps) < 2:
        return steps[0] if steps else None
    return {"type": "Sequence", "normalizers": steps}


def write_metaspace(model: Model) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The `Metaspace` step that goes first, where there must be one, and the split stages it leaves."""
    rules, stages = model.sentencepiece, model.pattern
    if rules is None or not _by_metaspace(rules):
        return None, stages
    split = stages[:1] == (WORDS_STAGE,)
    scheme = "always" if rules.dummy_prefix == "missing" else "first"
    step = {"type": "Metaspace", "replacement": SPACE_MARK, "prepend_scheme": scheme, "split": split}
    return step, stages[1:] if split else stages


def _by_metaspace(rules: SentencePieceRules) -> bool:
    return rules.dummy_prefix in ("missing", "first")


def write_decoder(rules: SentencePieceRules) -> dict[str, Any]:
    """The `decoder` that reads ids as SentencePiece does."""
    steps = _DECODER_STEPS if rules.escape_spaces else _DECODER_STEPS[1:]
    return {"type": "Sequence", "decoders": [*steps, _STRIP] if rules.hides_prefix else steps}
