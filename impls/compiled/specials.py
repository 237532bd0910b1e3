"""Whether a text holds a special token, decided quickly: most texts hold none."""

from __future__ import annotations

from impls.model import Model
from impls.text import special_matcher
from impls.whole_tokens import WholeTokens

_MOST_NEEDLES = 4


class Specials:
    """The special and added tokens of a model, as strings to look for."""

    def __init__(self, model: Model) -> None:
        texts = list(model.whole_token_ids)
        prefix = common_prefix(texts)
        self.needle = prefix.encode() if prefix or not texts else None
        """What every special text begins with: b"" where there are none, None where they share no beginning."""
        self.none = not texts
        """Whether the model has no special texts."""
        self._hidden = WholeTokens(model).hidden
        self._prefix = prefix
        self._texts = frozenset(texts)

    def absent(self, text: str) -> bool:
        """Whether `text` holds no special text, so it is encoded as it stands."""
        if self._hidden:
            return False
        if self.none or (self._prefix and self._prefix not in text):
            return True
        if len(self._texts) <= _MOST_NEEDLES:
            return not any(special in text for special in self._texts)
        return special_matcher(self._texts).search(text) is None


def common_prefix(texts: list[str]) -> str:
    """What all of them begin with."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]
