"""Whether a text holds a special token, decided quickly: most texts hold none."""

from __future__ import annotations

from typing import NamedTuple

from impls.model import Model
from impls.text import special_matcher
from impls.whole_tokens import WholeTokens

_MOST_NEEDLES = 4


class Sought(NamedTuple):
    """Special texts, as the kernels look for them."""

    needle: bytes | None
    """What all of them begin with: b"" where there are none, None where they share no beginning."""
    rests: tuple[bytes, ...]
    """What is behind it in each, in the order of bytes, but for those that begin with another of them."""


class Specials:
    """The special and added tokens of a model, as strings to look for."""

    def __init__(self, model: Model) -> None:
        texts = list(model.whole_token_ids)
        prefix = common_prefix(texts)
        self.sought = _sought(texts, prefix)
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


def _sought(texts: list[str], prefix: str) -> Sought:
    rests: list[bytes] = []
    for text in sorted(texts):
        rest = text[len(prefix) :].encode()
        if not rests or not rest.startswith(rests[-1]):
            rests.append(rest)
    return Sought(prefix.encode() if prefix or not texts else None, tuple(rests))


def common_prefix(texts: list[str]) -> str:
    """What all of them begin with."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]
