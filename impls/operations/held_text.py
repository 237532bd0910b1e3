"""What a decoder of a stream holds back: runs of byte tokens, texts of tokens, and what may become a stop string."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import NamedTuple

from impls.core.arguments import check_text, iterated
from impls.core.text.decoder_steps import TokenDecoder
from impls.operations.stream_rules import StreamRules


class StopString(NamedTuple):
    """A stop string that was found, and the code point of the whole text it begins at."""

    text: str
    start: int


@lru_cache(1 << 12)
def may_become(pending: bytes, continuations: frozenset[bytes], errors: str) -> bool:
    """Return whether some of `continuations` complete the character that `pending` begins."""
    for continuation in continuations:
        try:
            _, n_read = codecs.utf_8_decode(pending + continuation, errors, False)
        except UnicodeDecodeError as error:
            n_read = error.start
            if n_read == 0:
                continue
        if n_read or may_become(pending + continuation, continuations, errors):
            return True
    return False


class Characters:
    """Bytes as characters: those of a character that may still be completed are held back.

    In a model with `byte_ids`, any other token ends the run of byte tokens before it.
    """

    def __init__(self, errors: str, rules: StreamRules, byte_ids: Collection[int] | None = None) -> None:
        self._errors, self._rules, self._byte_ids = errors, rules, byte_ids
        self._begins = bool(rules.ids_with_mark)
        self.data = b""
        """The bytes that are held back."""

    @property
    def is_clear(self) -> bool:
        """Return whether the text of further ids depends on nothing before them."""
        return not self.data and not self._begins

    def push(self, ids: Sequence[int], skipped: Collection[int], n_before: int) -> str:
        """Return the text that becomes certain with further ids; raise `UnknownId` or UnicodeDecodeError, and ignore
        them."""
        tokens, begins = self._rules.token_bytes(ids, begins=self._begins, skipped=skipped, n_before=n_before)
        if (byte_ids := self._byte_ids) is None:
            text = self.add(b"".join(tokens))
        else:
            kept = [(i in byte_ids, token) for i, token in zip(ids, tokens, strict=True) if i not in skipped]
            parts = (self.add(token) if byte else self.end() + token.decode("utf-8", "replace") for byte, token in kept)
            text = "".join(parts)
        self._begins = begins
        return text

    def add(self, data: bytes) -> str:
        """Return the text that becomes certain with further bytes; raise UnicodeDecodeError, and ignore them."""
        data = self.data + data
        text, n_read = codecs.utf_8_decode(data, self._errors, False)
        rest = data[n_read:]
        # Python waits for the third byte of a surrogate, which only one handler decodes.
        errors = "surrogatepass" if self._errors == "surrogatepass" else "strict"
        if rest and not may_become(rest, self._rules.continuations, errors):
            text, rest = text + rest.decode("utf-8", self._errors), b""
        self.data = rest
        return text

    def end(self) -> str:
        """Return the text of the bytes that are held back, and forget them; raise UnicodeDecodeError."""
        text, self.data = self.data.decode("utf-8", self._errors), b""
        return text

    finish = end


class JoinedRuns(Characters):
    """Byte tokens in a row as one text if all of their bytes are UTF-8, and else as a U+FFFD each."""

    def __init__(self, rules: StreamRules) -> None:
        super().__init__("strict", rules, rules.byte_ids)
        self._begins, self._hides = False, self._begins  # the space is hidden that begins the text, not a token
        self._text, self._n_bytes, self._is_wrong = "", 0, False

    @property
    def is_clear(self) -> bool:
        """Return whether the text of further ids depends on nothing before them."""
        return not self._n_bytes and not self._hides

    def push(self, ids: Sequence[int], skipped: Collection[int], n_before: int) -> str:
        """Return the text that becomes certain with further ids."""
        return self._begun(super().push(ids, skipped, n_before))

    def finish(self) -> str:
        """Return the rest of the text."""
        return self._begun(self.end())

    def _begun(self, text: str) -> str:
        """Return the next part of the text, without the hidden space if it is the first."""
        if self._hides and text:
            self._hides, text = False, text.removeprefix(" ")
        return text

    def add(self, data: bytes) -> str:
        """Return the text that becomes certain with another byte."""
        self._n_bytes += len(data)
        if self._is_wrong:
            return "\ufffd" * len(data)
        try:
            self._text += super().add(data)
        except UnicodeDecodeError:
            self._is_wrong, self._text, self.data = True, "", b""
            return "\ufffd" * self._n_bytes
        return ""

    def end(self) -> str:
        """Return the text that was held back, and begin the next run."""
        text = "\ufffd" * self._n_bytes if self.data else self._text
        self.data, self._text, self._n_bytes, self._is_wrong = b"", "", 0, False
        return text


class TokenTexts:
    """Texts of tokens, which a file's decoder changes one by one, or only when all of them are known."""

    is_clear = False

    def __init__(self, decoder: TokenDecoder, rules: StreamRules) -> None:
        self._decoder, self._rules = decoder, rules
        self._before: list[str] = []
        """A token that precedes those held, so that none of them is treated as the first."""
        self._held: list[str] = []
        self._n_shown = 0
        """How many characters of the text of those held were returned."""

    def push(self, ids: Sequence[int], skipped: Collection[int], n_before: int) -> str:
        """Return the text that becomes certain with further ids."""
        names = self._rules.token_names(ids, skipped, n_before)
        self._held += names
        if not (names and self._decoder.by_token):
            return ""
        if not self._decoder.looks_ahead:
            text, kept, n_shown = self._text(), [], 0
        else:  # as much of the last token as is the same whether or not another one follows
            *parts, last = self._decoder.parts([*self._before, *self._held, ""])[:-1]
            certain = commonprefix([last, self._decoder.parts([*self._before, *self._held])[-1]])  # noqa: RUF071
            text = "".join([*parts, certain])[self._n_shown :]
            kept, n_shown = self._held[-1:], len(certain)
        self._before, self._held, self._n_shown = [""], kept, n_shown
        return text

    def finish(self) -> str:
        """Return the rest of the text."""
        return self._text()

    def _text(self) -> str:
        return self._decoder.text([*self._before, *self._held])[self._n_shown :]


class Stops:
    """Stop strings, searched at the end of a text that grows."""

    def __init__(self, texts: Iterable[str]) -> None:
        given = list(iterated("stop", "several texts", texts))
        for position, text in enumerate(given):
            check_text(text, f"stop[{position}]")
            if not text:
                raise ValueError(f"stop[{position}] is empty; a stop string must have a character")
        # A stop string that contains another one before its last character is never complete first.
        self.texts = [text for text in dict.fromkeys(given) if not any(other in text[:-1] for other in given)]
        self._longest = max(map(len, self.texts), default=0)

    def first_in(self, text: str) -> StopString | None:
        """Return the stop string that is complete first in `text`, and its start, or None."""
        ends = [(start + len(stop), start, stop) for stop in self.texts if (start := text.find(stop)) >= 0]
        _, start, stop = min(ends, default=(0, 0, ""))
        return StopString(stop, start) if stop else None

    def n_begun(self, text: str) -> int:
        """Return how many characters at the end of `text` begin a stop string."""
        ends = range(min(self._longest - 1, len(text)), 0, -1)
        return next((n for n in ends if any(stop.startswith(text[-n:]) for stop in self.texts)), 0)
