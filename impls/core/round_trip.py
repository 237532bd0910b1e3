"""Whether decoding an encoded text restores it, as far as the model decides that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from impls.core.text.normalization import is_settled
from impls.core.text.patterns import drops_text
from impls.core.text.sentencepiece_rules import SPACE_MARK, SentencePieceRules, write_text
from impls.core.text.text import special_matcher

if TYPE_CHECKING:
    from impls.core.model import Model

RoundTrip = Literal["exact", "normalising", "lossy"]


def round_trip_of(model: Model) -> tuple[RoundTrip, str | None]:
    """Return how exact the round trip is, and why it is not exact, or None.

    `exact`: every text is restored (except lone surrogates, which become U+FFFD). `normalising`: a normal form of it,
    which a second round trip does not change. `lossy`: what is lost cannot be derived from the ids.
    """
    if model.belongs_to is not None:
        return "lossy", f"{model.belongs_to} reads its ids, and not as every text was"
    if drops_text(model.pattern):
        return "lossy", "text that the pattern leaves out is dropped"
    if (prefix := model.continuing_prefix) is not None:
        return "lossy", f"continuing_prefix: {prefix!r} of a text itself is not kept where a token begins"
    if model.end_of_word is not None:
        return "lossy", "end_of_word: white space around words is not kept"
    rules = model.sentencepiece
    if model.alphabet == "chars" and model.unknown is not None and not (rules and rules.spells_all):
        return "lossy", "characters outside the alphabet become the unknown token"
    if model.normalization is not None and not model.has_charsmap_only:
        marks = rules is not None and rules.escape_spaces
        if not is_settled(model.normalization, space_of_mark=marks):
            return "lossy", f"normalization {model.normalization}: done again it may change a text again"
    if _swallows_spaces(model):
        return "lossy", "white space around some added tokens is not kept"
    reasons = [] if model.normalization is None else [f"normalization {model.normalization}"]
    if rules is not None:
        reasons += _changes(rules)
    return ("normalising", "; ".join(reasons)) if reasons else ("exact", None)


def _swallows_spaces(model: Model) -> bool:
    """Return whether tokens that are always recognised absorb white space, or the mark before them."""
    swallows = {"lstrip", "rstrip"} if model.sentencepiece is None else {"lstrip", "rstrip", "normalized"}
    return any(swallows & set(model.whole_token_flags.get(text, ())) for text in model.added_tokens)


def _changes(rules: SentencePieceRules) -> list[str]:
    changes: list[str] = []
    if rules.remove_extra_spaces:
        changes.append("of several spaces one is kept, at the ends none")
    elif rules.dummy_prefix in ("missing", "first"):
        changes.append("a space that begins a text is not kept")
    if rules.dummy_prefix != "never" and not rules.escape_spaces:
        changes.append("a space is put before the text")
    if rules.escape_spaces:
        changes.append("U+2581 becomes a space")
    return changes


def comes_back_as(model: Model, text: str) -> str | None:
    """Return the text that decoding gives after encoding `text`, which has no surrogate; None where the model alone
    does not decide it.

    >>> from impls.core.model import Model
    >>> comes_back_as(Model(tokens=(b"e", "é".encode()), alphabet="chars", normalization="nfc"), "e\\u0301")
    'é'
    """
    if model.round_trip == "lossy":
        return None
    if model.added_tokens and (model.whole_token_flags or special_matcher(frozenset(model.added_tokens)).search(text)):
        return text if model.round_trip == "exact" else None
    text = model.normalizer(text)
    rules = model.sentencepiece
    if rules is None:
        return text
    if rules.remove_extra_spaces and SPACE_MARK in text:
        return None  # how many marks begin a token decides how many are left out
    written = write_text(text, rules, model.user_defined_texts)
    if rules.hides_prefix:
        written = written.removeprefix(SPACE_MARK)
    return written.replace(SPACE_MARK, " ") if rules.escape_spaces else written
