"""Whether a text may hold a special token at all, decided quickly: most texts hold none."""

from __future__ import annotations

from impls.model import Model
from impls.text import special_matcher

_MOST_NEEDLES = 4


class Specials:
    """The special and added tokens of a model, as strings to look for."""

    def __init__(self, model: Model) -> None:
        texts = list(model.whole_token_ids)
        prefix = _common_prefix(texts)
        self._needles = (prefix,) if prefix else tuple(texts) if len(texts) <= _MOST_NEEDLES else ()
        self._texts = frozenset(texts)
        self.needle: str | None = "" if not texts else prefix or None
        """A text that every special text begins with: '' where there are no special texts, None where none does."""

    def absent(self, text: str) -> bool:
        """True only where `text` holds no special text, so it is encoded as it stands."""
        for needle in self._needles:
            if needle in text:
                return False
        return bool(self._needles) or not self._texts or special_matcher(self._texts).search(text) is None


def _common_prefix(texts: list[str]) -> str:
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]
