"""What decoding the ids of a text must give, by the model alone."""

from __future__ import annotations

from impls import Model
from impls.core.text.sentencepiece_rules import SPACE_MARK, write_text
from impls.core.text.text import special_matcher
from impls.core.text.tracing import Rewriting


def round_trip_text(model: Model, text: str) -> str | None:
    """Return the decoded text of the ids of `text`, which has no surrogate; None if the model alone does not determine
    it.

    >>> round_trip_text(Model(tokens=(b"e", "é".encode()), alphabet="chars", normalization="nfc"), "e\\u0301")
    'é'
    """
    if model.round_trip == "lossy":
        return None
    if model.added_tokens and (model.whole_token_flags or special_matcher(frozenset(model.added_tokens)).search(text)):
        return text if model.round_trip == "exact" else None
    text = Rewriting(model.normalization_steps, model.charsmap)(text, True)
    rules = model.sentencepiece
    if rules is None:
        return text
    if rules.remove_extra_spaces and SPACE_MARK in text:
        return None  # it depends on how many marks begin a token how many are removed
    written = write_text(text, rules, model.user_defined_texts)
    if (model.decoder or "").startswith("metaspace") and SPACE_MARK in written[1:]:
        return None  # it depends on how many marks the first token holds
    if rules.hides_prefix:
        written = written.removeprefix(SPACE_MARK)
    return written.replace(SPACE_MARK, " ") if rules.escape_spaces else written
