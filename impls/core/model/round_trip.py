"""Whether decoding an encoded text restores it, as far as the model decides that."""

from __future__ import annotations

from typing import Literal

from impls.core.model.data import ModelData
from impls.core.text.normalization import is_settled
from impls.core.text.patterns import drops_text
from impls.core.text.sentencepiece_rules import SentencePieceRules

RoundTrip = Literal["exact", "normalising", "lossy"]


def round_trip_of(model: ModelData) -> tuple[RoundTrip, str | None]:
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


def _swallows_spaces(model: ModelData) -> bool:
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
