"""Decode ids that arrive one after another: each character as soon as it is certain, and where a stop string began.

    push([0xE2, 0x82])  ""      it may become "€", another character, or U+FFFD
    push([0xAC, 0x41])  "€A"

After ids x, a text is certain if `decode(x + y)` begins with it whatever ids y of the model follow, even none. Only the
bytes of a character that may still be completed are therefore held back: if UTF-8 allows no continuation (`\\xe2\\x41`,
`\\xed\\xa0`), or the model has no token for one, the replacement is certain at once, with as many U+FFFD as in
`decode`. Everything else depends on earlier ids only: the space that begins a text in SentencePiece, the space of an
`end_of_word`, the text of special tokens.

Knows a model's tokens as bytes, and no algorithm.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from impls.core.arguments import check_text, checked_ids, wrong_type
from impls.core.errors import UnknownId

_REPLACED = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


class StopString(NamedTuple):
    """A stop string that was found, and the code point of the whole text it begins at."""

    text: str
    start: int


@dataclass(frozen=True)
class StreamRules:
    """The rules by which a model's ids are decoded."""

    bytes_by_id: Mapping[int, bytes]
    special_ids: Collection[int]
    unknown_id: int | None
    ids_with_mark: Collection[int]
    """Tokens whose leading space is removed at the beginning of a text."""
    removes_all_marks: bool
    """Whether removal continues after a token that is then empty."""
    removes_first_marks: bool
    """Whether all spaces of such a token are removed, and of no token but the first."""
    byte_ids: Collection[int] | None
    """SentencePiece's byte tokens; None for any other model."""
    has_all_bytes: bool
    """Whether each byte is a token, so that any character can be completed."""

    def token_bytes(
        self, ids: Sequence[int], *, begins: bool, skipped: Collection[int] = (), n_before: int = 0
    ) -> tuple[list[bytes], bool]:
        """Return the bytes of each id, b"" for a skipped one, and whether the text is still empty after them.

        `begins` says whether the text begins with them. Raise `UnknownId` with its position, counted from `n_before`.
        """
        try:
            tokens = [self.bytes_by_id[i] for i in ids]
        except KeyError:
            tokens = [self._known_or_unknown(i, position) for position, i in enumerate(ids, n_before)]
        if skipped:
            tokens = [b"" if i in skipped else token for i, token in zip(ids, tokens, strict=True)]
        if self.removes_first_marks and begins:
            first = next((position for position, i in enumerate(ids) if i not in skipped), None)
            if first is not None and ids[first] in self.ids_with_mark:
                tokens[first] = tokens[first].replace(b" ", b"")
            return tokens, first is None
        for position, i in enumerate(ids if begins else ()):
            if tokens[position] and i in self.ids_with_mark:
                tokens[position] = tokens[position][1:]
                begins = self.removes_all_marks
            if not (begins := begins and not tokens[position]):
                break
        return tokens, begins

    def _known_or_unknown(self, i: int, position: int) -> bytes:
        token = self.bytes_by_id.get(i)
        if token is None:
            if self.unknown_id is None:
                raise UnknownId(i, position)
            token = self.bytes_by_id[self.unknown_id]
        return token

    @cached_property
    def text_by_id(self) -> dict[int, str]:
        """Return the cache of texts of ids that are whole characters and not special, filled by ids pushed alone."""
        return {}

    @cached_property
    def byte_continuations(self) -> frozenset[bytes]:
        """Return the byte tokens that may continue a character."""
        return _continuations(self.bytes_by_id[i] for i in self.byte_ids or ())

    @cached_property
    def continuations(self) -> frozenset[bytes]:
        """Return the beginnings of all tokens that may continue a character."""
        return _continuations(self.bytes_by_id.values())


def _continuations(tokens: Iterable[bytes]) -> frozenset[bytes]:
    return frozenset(token[:3] for token in tokens if token[:1] and 0x80 <= token[0] < 0xC0)


class StreamDecoder:
    """Decodes one stream of ids; made by `Tokenizer.decoder`.

    The joined results of `push` and `finish` are the text `decode` gives for all ids; with `skip_special`, without
    special ones; with `stop`, up to the stop string that is complete first (of several that end at one character the
    longest). Text that may still become a stop string is held back too.
    """

    stopped: StopString | None = None
    """The stop string that ended the text; all later ids are ignored."""

    def __init__(
        self, rules: StreamRules, errors: str = "replace", *, skip_special: bool = False, stop: Iterable[str] = ()
    ) -> None:
        """Begin a text; raise LookupError for an unknown `errors`, ValueError for an empty stop string."""
        check_text(errors, "errors")
        codecs.lookup_error(errors)
        self._rules, self._errors = rules, errors
        self._skipped = frozenset(rules.special_ids) if skip_special else frozenset()
        self._stops = _Stops(stop)
        self._by_runs = rules.byte_ids is not None and errors == "replace"
        self._continuations: Collection[bytes] | None = None
        if not rules.has_all_bytes:
            self._continuations = rules.byte_continuations if self._by_runs else rules.continuations
        self._n_ids = self._n_characters = 0
        self._pending = b""
        self._held = ""
        self._finished = False
        self._text_by_id: dict[int, str] | None = None
        self._go_on(begins=bool(rules.ids_with_mark))

    def push(self, ids: Iterable[int]) -> str:
        """Return the text that becomes certain with `ids`, which may be empty.

        Raise `UnknownId` (its position counted from the first id of the stream) or, with `errors="strict"`,
        UnicodeDecodeError, and ignore all of these ids; ValueError after `finish`.
        """
        if self._text_by_id and not self._pending and (type(ids) is list or type(ids) is tuple) and len(ids) == 1:
            known = self._text_by_id.get(ids[0])
            if known is not None and type(ids[0]) is int:
                self._n_ids += 1
                return known
        if self._finished:
            raise ValueError("this decoder is finished; make a new one for another text")
        if self.stopped:
            return ""
        ids = checked_ids(ids)
        tokens, begins = self._rules.token_bytes(ids, begins=self._begins, skipped=self._skipped, n_before=self._n_ids)
        text, pending = self._decoded_runs(ids, tokens) if self._by_runs else self._decoded(b"".join(tokens))
        if pending and self._continuations is not None and not _may_become(pending, self._continuations):
            text, pending = text + self._replaced(pending), b""
        if self._text_by_id is not None and len(ids) == 1 and not self._pending:
            self._remember(ids[0], tokens[0], text)
        self._n_ids += len(ids)
        self._pending = pending
        self._go_on(begins=begins)
        return self._certain(text)

    def _go_on(self, *, begins: bool) -> None:
        self._begins = begins
        if not (begins or self._stops.texts):
            self._text_by_id = self._rules.text_by_id

    def _remember(self, i: int, token: bytes, text: str) -> None:
        """Cache the text of an id for all decoders of the model, if it depends on nothing else."""
        if i not in self._rules.special_ids and text and text.encode("utf-8", "replace") == token:
            self._rules.text_by_id[i] = text

    def finish(self) -> str:
        """Return the rest of the text: incomplete bytes, handled as `errors` says, and text that was held back.

        Raise UnicodeDecodeError with `errors="strict"`. A second call returns "".
        """
        if self._finished or self.stopped:
            self._finished = True
            return ""
        self._text_by_id = None
        text = self._replaced(self._pending) if self._pending else ""
        self._pending, self._finished = b"", True
        return self._certain(text)

    # --- bytes to text ---------------------------------------------------------------------------------------

    def _decoded(self, data: bytes) -> tuple[str, bytes]:
        """Return the text of the held-back bytes and `data`, and the bytes of a character that is not complete yet."""
        data = self._pending + data
        text, n_read = _read(data, self._errors)
        return text, data[n_read:]

    def _decoded_runs(self, ids: Sequence[int], tokens: Sequence[bytes]) -> tuple[str, bytes]:
        """Decode like `_decoded`, but any other token ends a run of byte tokens, and an invalid byte becomes U+FFFD."""
        byte_ids = self._rules.byte_ids or ()
        parts: list[str] = []
        pending = self._pending
        for i, token in zip(ids, tokens, strict=True):
            if i in self._skipped:
                continue
            if i in byte_ids:
                pending += token
                text, n_read = _read(pending, "surrogateescape")
                parts.append(text.translate(_REPLACED))
                pending = pending[n_read:]
            else:
                parts.append("\ufffd" * len(pending) + token.decode("utf-8", "replace"))
                pending = b""
        return "".join(parts), pending

    def _replaced(self, pending: bytes) -> str:
        """Return the text of bytes that remain incomplete."""
        return "\ufffd" * len(pending) if self._by_runs else pending.decode("utf-8", self._errors)

    # --- stop strings ----------------------------------------------------------------------------------------

    def _certain(self, text: str) -> str:
        """Return the held-back text and `text` up to a stop string, or up to what may become one."""
        if not self._stops.texts:
            return text
        text = self._held + text
        found = self._stops.first_in(text)
        if found is not None:
            self.stopped = StopString(found.text, self._n_characters + found.start)
            self._pending, n_held = b"", len(text) - found.start
        else:
            n_held = 0 if self._finished else self._stops.n_begun(text, self._next_texts())
        end = len(text) - n_held
        self._held = "" if self.stopped else text[end:]
        self._n_characters += end
        return text[:end]

    def _next_texts(self) -> tuple[bytes, str | None]:
        """Return the bytes that the next character begins with, and the text they otherwise become, if any."""
        try:
            return self._pending, self._replaced(self._pending)
        except UnicodeDecodeError:
            return self._pending, None


def _read(data: bytes, errors: str) -> tuple[str, int]:
    """Return the text of `data` without a character that may still be completed, and how many bytes were read."""
    text, n_read = codecs.utf_8_decode(data, errors, False)
    # Python waits for the third byte of a surrogate, which only this handler decodes.
    if data[n_read:].startswith(b"\xed") and len(data) - n_read == 2 and data[-1] >= 0xA0 and errors != "surrogatepass":
        return text + data[n_read:].decode("utf-8", errors), len(data)
    return text, n_read


def _may_become(pending: bytes, continuations: Collection[bytes]) -> bool:
    """Return whether some of `continuations` complete the character that `pending` begins."""
    for continuation in continuations:
        try:
            _, n_read = codecs.utf_8_decode(pending + continuation, "strict", False)
        except UnicodeDecodeError as error:
            n_read = error.start
            if n_read == 0:
                continue
        if n_read or _may_become(pending + continuation, continuations):
            return True
    return False


class _Stops:
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
        found = [(start + len(stop), start, stop) for stop in self.texts if (start := text.find(stop)) >= 0]
        if not found:
            return None
        _, start, stop = min(found)
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
    if rest.encode("utf-8", "surrogatepass").startswith(pending):
        return bool(rest)
    return bool(rest) and replaced is not None and (rest.startswith(replaced) or replaced.startswith(rest))
