"""Where special and added tokens allow a cut: none crosses it, and none depends on what is beyond it, whatever follows.

"a <|end|> b"    not after "<|": the text may become one token
"[x] a"          not before the space if [x] absorbs white space to its right
"""

from __future__ import annotations

import re
from collections.abc import Collection

from impls.core.model import Model
from impls.core.text.normalization import WHITE_SPACE

SURROGATE = re.compile("[\ud800-\udfff]")


class TokenBorders:
    """Decides whether special and added tokens allow a cut."""

    def __init__(self, model: Model, texts: Collection[str], *, keeps_beginning: bool) -> None:
        self._longest = max(map(len, texts))
        self._texts = tuple(texts)
        self._beginnings = {text[:end] for text in texts for end in range(1, len(text) + 1)}
        self._firsts = frozenset(text[0] for text in texts)
        # Tokens are searched in the repaired text, in which surrogates are other characters.
        self._may_begin = re.compile(f"[{''.join(map(re.escape, self._firsts))}\ud800-\udfff]").search
        flags = {flag for text in texts for flag in model.whole_token_flags.get(text, ())}
        self._strips, self._at_words = not flags.isdisjoint(("lstrip", "rstrip")), "single_word" in flags
        # The segment after a token would get a space of its own, unlike a text that continues.
        self._flagged = self._strips or self._at_words or not keeps_beginning

    def occurs(self, text: str) -> bool:
        """Return whether a token occurs in `text`; True if its surroundings matter too."""
        return self._flagged or (self._may_begin(text) is not None and any(token in text for token in self._texts))

    def allow(self, text: str, place: int) -> bool:
        """Return whether, however `text` continues, no token crosses `place` or depends on what is beyond it."""
        match = self._may_begin(text, max(0, place - self._longest + 1), place)
        if match is not None:  # a token is searched in the repaired text
            begun = (text[begin : place + 1] for begin in range(match.start(), place))
            if SURROGATE.search(text, match.start(), place + self._longest) or not self._beginnings.isdisjoint(begun):
                return False
        # The white space that tokens absorb, and their word boundaries, must be the same in both parts: no token ends
        # at the place, none absorbs white space before it, and none begins there if words matter.
        absorbs = self._strips and text[place - 1] in WHITE_SPACE
        if absorbs or (self._flagged and text.endswith(self._texts, 0, place)):
            return False
        return not self._at_words or text[place] not in self._firsts
