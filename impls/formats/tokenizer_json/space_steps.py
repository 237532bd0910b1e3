"""Hugging Face's steps that treat white space as SentencePiece does <-> `SentencePieceRules`.

A converted SentencePiece model has `Prepend` and `Replace` (Llama 2, Mistral) or `Replace` alone (Gemma) as its
normalizer, or `Metaspace` as its pre-tokenizer; `Precompiled` holds the compiled normalisation. These steps are read
and written, as are removal of spaces in the form we write it and, before them, the steps of `core.text.normalization`;
every other normalizer is refused by name.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

import regex

from impls.core.errors import InvalidModel, InvalidPattern
from impls.core.model import Model
from impls.core.text.normalization import PREFIX_SPACE, call, steps_of
from impls.core.text.patterns import MAX_CHARACTERS
from impls.core.text.sentencepiece_rules import SPACE_MARK, DummyPrefix, SentencePieceRules
from impls.formats.tokenizer_json.oniguruma import from_oniguruma, match_lengths, to_oniguruma

WORDS_STAGE = f"{SPACE_MARK}[^{SPACE_MARK}]*|[^{SPACE_MARK}]+"
"""How `Metaspace` splits: before every mark."""

_DROPPED: list[dict[str, Any]] = [
    {"type": "Replace", "pattern": {"Regex": r"\A +"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": rf"[ {SPACE_MARK}]+\z"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
]


@dataclass(slots=True)
class Spaces:
    """The effect of the steps, collected while reading them one by one."""

    steps: list[str] = field(default_factory=list)
    """The steps of `Model.normalization`."""
    escape_spaces: bool = False
    dummy_prefix: DummyPrefix = "never"
    remove_extra_spaces: bool = False
    charsmap: bytes = b""
    prepended: str = ""
    """Text that `Prepend` puts before a text."""
    can_place_normalized: bool = True
    """Whether a model can express which steps come before the search for normalized tokens, and which after."""
    notes: list[UserWarning] = field(default_factory=list)
    """What the model leaves out of the file, or does differently."""

    @property
    def marks(self) -> bool:
        """Return whether white space is rewritten."""
        return self.escape_spaces or self.dummy_prefix != "never" or self.remove_extra_spaces

    @property
    def rewrites(self) -> bool:
        """Return whether SentencePiece's rules rewrite texts."""
        return self.marks or bool(self.charsmap)


class OlderUnicode(UserWarning):
    """Hugging Face's library applies this step by older Unicode tables than ours."""


def read_normalizer(normalizer: Any) -> Spaces:
    """Return the effect of the `normalizer`; raise `InvalidModel` naming a step that is not supported."""
    spaces = Spaces()
    steps = flat_steps(normalizer, "normalizer", "normalizers")
    k = 0
    while k < len(steps):
        if [step for _, step in steps[k : k + len(_DROPPED)]] == _DROPPED and not spaces.marks:
            spaces.remove_extra_spaces = True
            k += len(_DROPPED)
        else:
            _read_step(*steps[k], spaces)
            k += 1
    return spaces


def flat_steps(value: Any, where: str, key: str) -> list[tuple[str, dict[str, Any]]]:
    """Return (place in the file, step) of a step, or of all steps in a `Sequence`, whose list is under `key`."""
    if value is None:
        return []
    if not isinstance(value, dict):
        raise InvalidModel(f"{where}: expected an object, not {type(value).__name__}")
    if value.get("type") != "Sequence":
        return [(where, value)]
    steps = value.get(key)
    if not isinstance(steps, list):
        raise InvalidModel(f"{where}.{key}: expected a list")
    return [placed for k, step in enumerate(steps) for placed in flat_steps(step, f"{where}.{key}[{k}]", key)]


_KINDS = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt")
_STRIPPED = {"strip": (True, True), "strip-left": (True, False), "strip-right": (False, True), "": (False, False)}
_PLAIN: dict[str, dict[str, Any]] = {
    **{kind.lower(): {"type": kind} for kind in _KINDS},
    "strip-accents": {"type": "StripAccents"},
    **{name: {"type": "Strip", "strip_left": left, "strip_right": right} for name, (left, right) in _STRIPPED.items()},
}
"""Steps of `Model.normalization` without arguments -> their form in the file; "" does nothing."""

_KEEP_THE_START = frozenset({"nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip-right"})
"""Steps that never remove the first character of a text."""


def _read_step(where: str, step: dict[str, Any], spaces: Spaces) -> None:
    kind = step.get("type")
    marks = (" ", SPACE_MARK) if not spaces.escape_spaces else (SPACE_MARK,)
    if kind == "Prepend" and step.get("prepend") in marks and spaces.dummy_prefix == "never":
        spaces.dummy_prefix = "always"
        spaces.prepended = step["prepend"]
    elif kind == "Replace" and step.get("pattern") == {"String": " "} and step.get("content") == SPACE_MARK:
        spaces.escape_spaces = True
    elif kind == "Precompiled":
        if spaces.rewrites or spaces.steps:
            raise InvalidModel(f"{where}.type: 'Precompiled' is supported only as the first step of a normalizer")
        spaces.charsmap = _charsmap(step.get("precompiled_charsmap"), where)
        spaces.steps += ["charsmap"] if spaces.charsmap else []
    elif (name := _step_name(step, where)) is None:
        raise InvalidModel(
            f"{where}.type: {kind!r} is not supported; supported are NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, "
            "Strip, Nmt, Replace, Prepend and Precompiled"
        )
    elif spaces.marks:
        raise InvalidModel(f"{where}.type: {kind!r} after the steps that mark or remove white space is not supported")
    else:
        spaces.steps += [name] if name else []


def _step_name(step: dict[str, Any], where: str) -> str | None:
    """Return the name of a step in `Model.normalization`, "" for one that does nothing, None for an unknown one."""
    kind = step.get("type")
    plain = {name: step.get(name) is True for name in ("strip_left", "strip_right")} if kind == "Strip" else {}
    for name, written in _PLAIN.items():
        if written == {"type": kind, **plain}:
            return name
    if kind == "Prepend" and isinstance(before := step.get("prepend"), str):
        return call("prepend", before) if before else None  # the library may repeat the first character
    return read_replace(step, where) if kind == "Replace" else None


def read_replace(step: dict[str, Any], where: str) -> str:
    """Return a `Replace` of a normalizer or decoder; raise `InvalidModel` for one that is not supported."""
    match step.get("pattern"), step.get("content"):
        case {"String": str() as old, **others}, str() as new if old and not others:
            return call("replace", old, new)
        case {"Regex": str() as expression, **others}, str() as new if not others:
            pattern = read_expression(expression, where)
            if match_lengths(pattern)[0] == 0:
                raise InvalidModel(f"{where}.pattern: it may match the empty text, which is not replaced: {expression}")
            return call("replace-regex", pattern, new)
    raise InvalidModel(f"{where}: Replace needs one String or Regex as 'pattern', and a text as 'content'")


def read_expression(text: str, where: str, *, literal: bool = False) -> str:
    """Return an expression of the file, or a text to match literally (`literal`), in our dialect; raise `InvalidModel`
    for one that has no equivalent here."""
    try:
        if len(text) > MAX_CHARACTERS:
            raise InvalidPattern(f"{len(text)} characters; at most {MAX_CHARACTERS} are allowed")
        expression: str = regex.escape(text) if literal else from_oniguruma(text)
        regex.compile(expression)
        match_lengths(expression)
    except (InvalidPattern, regex.error) as error:
        raise InvalidModel(f"{where}.pattern: {error}") from None
    return expression


def _charsmap(value: Any, where: str) -> bytes:
    try:
        return base64.b64decode(value or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise InvalidModel(f"{where}.precompiled_charsmap: expected base64") from None


def read_metaspace(step: dict[str, Any], where: str, spaces: Spaces) -> None:
    """Add the effect of a `Metaspace` pre-tokenizer, which must be the first step."""
    if step.get("replacement", SPACE_MARK) != SPACE_MARK:
        raise InvalidModel(f"{where}.replacement: only {SPACE_MARK!a} is supported")
    scheme = step.get("prepend_scheme", "always" if step.get("add_prefix_space", True) else "never")
    prefixes: dict[str, DummyPrefix] = {"always": "missing", "first": "first", "never": "never"}
    if not isinstance(scheme, str) or scheme not in prefixes:
        raise InvalidModel(f"{where}.prepend_scheme: {scheme!r} is not one of: {', '.join(prefixes)}")
    if scheme == "first" and not _KEEP_THE_START.issuperset(spaces.steps):
        after = "after a normalizer that may drop characters"
        raise InvalidModel(f"{where}.prepend_scheme: 'first' {after} is not supported")
    if spaces.dummy_prefix == "never":
        spaces.dummy_prefix = prefixes[scheme]
    # Added tokens are searched in the result of the normalizer, before this step marks spaces.
    marks_late = not spaces.escape_spaces and spaces.dummy_prefix in ("missing", "first")
    spaces.can_place_normalized = marks_late and not spaces.remove_extra_spaces
    spaces.escape_spaces = True


def settle_prefix(spaces: Spaces, byte_level: bool) -> None:
    """Make a step of a mark, or before bytes a space, that is prepended to texts whose spaces remain spaces.

    Raise `InvalidModel` for a mark after the removal of spaces, which comes after all steps.
    """
    if spaces.escape_spaces or not (spaces.prepended == SPACE_MARK or (byte_level and spaces.prepended == " ")):
        return
    if spaces.prepended == SPACE_MARK and spaces.remove_extra_spaces:
        raise InvalidModel(f"normalizer.type: 'Prepend' of {SPACE_MARK!a} is not supported without a Replace")
    spaces.steps.insert(len(spaces.steps) - (spaces.steps[-1:] == [PREFIX_SPACE]), call("prepend", spaces.prepended))
    spaces.dummy_prefix, spaces.prepended = "never", ""


# --- writing ---------------------------------------------------------------------------------------------------


def write_normalizer(model: Model) -> dict[str, Any] | None:
    """Return the `normalizer` of a model."""
    steps: list[dict[str, Any]] = []
    rules = model.sentencepiece
    if model.charsmap:
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(model.charsmap).decode()})
    steps += filter(None, (_written(name, texts) for name, texts in steps_of(model.normalization_steps or "")))
    if rules is not None:
        if rules.remove_extra_spaces:
            steps += _DROPPED
        if rules.dummy_prefix == "always":
            steps.append({"type": "Prepend", "prepend": SPACE_MARK if rules.escape_spaces else " "})
        if rules.escape_spaces and not _by_metaspace(rules):
            steps.append({"type": "Replace", "pattern": {"String": " "}, "content": SPACE_MARK})
    return in_sequence(steps, "normalizers")


def in_sequence(steps: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """Return one step that applies all `steps`, the inverse of `flat_steps`."""
    return {"type": "Sequence", key: steps} if len(steps) > 1 else steps[0] if steps else None


def _written(name: str, texts: list[str]) -> dict[str, Any] | None:
    match name:
        case "prepend":
            return {"type": "Prepend", "prepend": texts[0]}
        case "replace" | "replace-regex":
            return write_replace(name, *texts)
    return _PLAIN.get(name)  # None for "charsmap" and `PREFIX_SPACE`: written as Precompiled and ByteLevel


def write_replace(name: str, old: str, new: str) -> dict[str, Any]:
    """Return the `Replace` of a step `replace` or `replace-regex`."""
    pattern = {"String": old} if name == "replace" else {"Regex": to_oniguruma(old)}
    return {"type": "Replace", "pattern": pattern, "content": new}


def write_metaspace(model: Model) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Return the `Metaspace` step that comes first, if the model needs one, and the remaining split stages."""
    rules, stages = model.sentencepiece, model.pattern
    if rules is None or not _by_metaspace(rules):
        return None, stages
    split = stages[:1] == (WORDS_STAGE,)
    scheme = "always" if rules.dummy_prefix == "missing" else "first"
    step = {"type": "Metaspace", "replacement": SPACE_MARK, "prepend_scheme": scheme, "split": split}
    return step, stages[1:] if split else stages


def _by_metaspace(rules: SentencePieceRules) -> bool:
    return rules.dummy_prefix in ("missing", "first")
