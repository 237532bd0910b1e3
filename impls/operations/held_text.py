"""What a decoder of a stream holds back: runs of byte tokens, texts of tokens, and what may become a stop string."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import NamedTuple

from impls.core.arguments import check_text, wrong_type
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
    """Bytes as characters: those of a character that may still be completed are held back."""

    def __init__(self, errors: str, rules: StreamRules) -> None:
        self._errors, self._rules = errors, rules
        self.data = b""
        """The bytes that are held back."""

    @property
    def n_bytes(self) -> int:
        """Return the number of bytes that are held back."""
        return len(self.data)

    def push(self, data: bytes) -> str:
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

    def otherwise(self) -> str:
        """Return the text of the bytes that are held back if no others follow; raise UnicodeDecodeError."""
        return self.data.decode("utf-8", self._errors)

    def end(self) -> str:
        """Return the text of the bytes that are held back, and forget them; raise UnicodeDecodeError."""
        text, self.data = self.otherwise(), b""
        return text


class ByteRun:
    """Byte tokens in a row, which are the text of their bytes if all of them are UTF-8, and else a U+FFFD each."""

    n_bytes = 0
    """The number of bytes of the run."""
    _text = ""
    _is_wrong = False

    def __init__(self, rules: StreamRules) -> None:
        self._characters = Characters("strict", rules)

    @property
    def data(self) -> bytes:
        """Return the bytes of the text that is held back."""
        return self._text.encode() + self._characters.data

    def otherwise(self) -> str:
        """Return the text of these bytes if a wrong one follows."""
        return "\ufffd" * len(self.data)

    def push(self, data: bytes) -> str:
        """Return the text that becomes certain with another byte."""
        self.n_bytes += len(data)
        if self._is_wrong:
            return "\ufffd" * len(data)
        try:
            self._text += self._characters.push(data)
        except UnicodeDecodeError:
            self._is_wrong, self._text, self._characters.data = True, "", b""
            return "\ufffd" * self.n_bytes
        return ""

    def end(self) -> str:
        """Return the text that was held back, and begin the next run."""
        text = "\ufffd" * self.n_bytes if self._characters.data else self._text
        self.n_bytes, self._text, self._characters.data, self._is_wrong = 0, "", b"", False
        return text


class TokenTexts:
    """Texts of tokens, which a file's decoder changes one by one, or only when all of them are known."""

    def __init__(self, decoder: TokenDecoder) -> None:
        self._decoder = decoder
        self._before: list[str] = []
        """A token that precedes those held, so that none of them is treated as the first."""
        self._held: list[str] = []
        self._n_shown = 0
        """How many characters of the text of those held were returned."""

    def push(self, names: Sequence[str]) -> str:
        """Return the text that becomes certain with the next tokens."""
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

    def end(self) -> str:
        """Return the rest of the text."""
        return self._text()

    def _text(self) -> str:
        return self._decoder.text([*self._before, *self._held])[self._n_shown :]


class Stops:
    """Stop strings, searched at the end of a text that grows."""

    def __init__(self, texts: Iterable[str]) -> None:
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise wrong_type("stop", "several texts", texts)
        given = list(texts)
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
        if not ends:
            return None
        _, start, stop = min(ends)
        return StopString(stop, start)

    def n_begun(self, text: str, following: tuple[bytes, str | None]) -> int:
        """Return how many characters at the end of `text` may begin a stop string, if `following` comes next."""
        for n in range(min(self._longest - 1, len(text)), 0, -1):
            begun = text[-n:]
            if any(stop.startswith(begun) and _may_follow(stop[n:], *following) for stop in self.texts):
                return n
        return 0


def _may_follow(rest: str, pending: bytes, replaced: str | None) -> bool:
    """Return whether the text after `pending` bytes may begin with `rest` (empty for a complete stop string)."""
    data = rest.encode("utf-8", "surrogatepass")
    if data.startswith(pending) or pending.startswith(data):
        return bool(rest)
    return bool(rest) and replaced is not None and (rest.startswith(replaced) or replaced.startswith(rest))
