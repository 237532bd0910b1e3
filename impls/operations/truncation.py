"""Counting the tokens of a text up to a limit, and cutting a text to a number of tokens.

    truncate("naïve café", 3)               "na"-"ï"-"ve", if these are its first three tokens: "naïve"
    truncate("naïve café", 3, side="left")  its end: "café"

`truncate` takes the first (or last) n ids of the whole text, and returns their text, shortened further to a place where
`whole` allows a cut, and until it has at most n tokens when it is encoded alone: a cut may change how the pattern
splits its end, or a merge. Of the places that qualify, the one that keeps most text is used.

Time: of a text much longer than the limit only a beginning (or end) is encoded, up to a certain place
(`certain_cuts`), and a larger one if that has too few ids; together never more than a seventh of the text. Without
a certain place, as in one long piece, the whole text is encoded once. What is kept of it is not encoded a second time
if what is near the cut tells how many ids it has (`cut_piece`). Knows the methods of a tokenizer, and no algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

import regex

from impls.core.arguments import check_text, text_sequence, thread_count, token_limit
from impls.core.errors import UnknownSymbol
from impls.operations.batches import map_on_threads
from impls.operations.certain_cuts import cuts_around_added, encode_further
from impls.operations.coder import Coder
from impls.operations.cut_piece import counter

if TYPE_CHECKING:
    import numpy as np

    Ids = list[int] | np.ndarray

Side = Literal["right", "left"]
Whole = Literal["token", "character", "word"]


class Cut(TypedDict, total=False):
    """Where a text is cut: the arguments of `Tokenizer.truncate`."""

    side: Side
    whole: Whole


_WORD_BOUNDARY = regex.compile(r"(?w)\b")
"""Unicode's default word boundaries (Unicode Standard Annex 29)."""
_LETTERS = r"\p{WB=ALetter}\p{WB=Hebrew_Letter}\p{WB=Numeric}"
_RUN = regex.compile(rf"[{_LETTERS}][{_LETTERS}\p{{WB=Extend}}\p{{WB=Format}}]*|\p{{WB=Extend}}+| +")
"""Characters without a word boundary between them, of which long runs are skipped."""
_PLAIN = regex.compile(r"[\p{Lu}\p{Ll}\p{Lo}\p{N}\p{Z}\p{Cc}]")
"""Characters that the rules do not skip: two of them after (before) a place decide whether it is a boundary."""


_LEAST_SIZE, _CHARACTERS_A_TOKEN = 256, 16
_GROWTH = 8
"""A part is encoded first if the text is this many times as long; the next part is as many times longer."""
_SHARE_SEARCHED = 16
"""The last (first) 16th of a part is searched for a certain place: in Python, while the ids may come from a kernel."""
_FEW_IDS = 64
"""Ids of which the text beyond a cut is decoded first, to tell word boundaries."""
_LEAST_FOR_ARRAY, _LEAST_ARRAY = 32_768, 4_096
"""Characters that are encoded to an array, and ids that are decoded from one: for fewer, lists take less time."""
_LEAST_KEPT, _LEAST_CUT = 4_096, 100_000
"""Characters that are not simply encoded again to count their ids: of a long piece, and of any text."""
_NEAR = 256
"""Characters at the cut that are searched for a certain place: without one they are in a long piece."""
_LONGEST = 4
"""Bytes of the longest character; no more tokens than that are in one."""


def _sizes(text: str, n_tokens: int) -> Iterator[int]:
    """Yield the numbers of characters of the parts to try before all of `text`."""
    size = _CHARACTERS_A_TOKEN * n_tokens + _LEAST_SIZE
    while _GROWTH * size <= len(text):
        yield size
        size *= _GROWTH


def _boundaries(text: str, place: int, step: int) -> Iterator[int]:
    """Yield the word boundaries of `text` from `place` down to 1 (`step` -1), or up to its last character (1)."""
    size = 1
    while place > 0 if step < 0 else place < len(text):
        if _WORD_BOUNDARY.match(text, place):
            yield place
            size = 1
        while size > 1 and not _is_run(text[max(0, place - size) : place] if step < 0 else text[place : place + size]):
            size //= 2
        place += step * size
        size *= 2


def _is_run(text: str) -> bool:
    """Return whether there is certainly no word boundary within `text`."""
    if text.isascii():
        return text.encode().isalnum() or text == " " * len(text)
    return _RUN.fullmatch(text) is not None


def count(tokenizer: Coder, text: str, at_most: int | None = None) -> int:
    """Count the ids of `text`, special tokens read as ordinary text.

    With `at_most`, stop as soon as there are more, and return `at_most + 1`, which then only means "more".
    """
    if at_most is None:
        return len(tokenizer.encode(text, disallowed_special=()))
    at_most = token_limit("at_most", at_most)
    n_ids = tokenizer.count(text) if ids_of_beginning(tokenizer, text, at_most) is None else at_most + 1
    return min(n_ids, at_most + 1)


def fits(tokenizer: Coder, text: str, n_tokens: int) -> bool:
    """Return whether `text` has at most `n_tokens` ids."""
    n_tokens = token_limit("n_tokens", n_tokens)
    return tokenizer.count(text, at_most=n_tokens) <= n_tokens


def count_batch(
    tokenizer: Coder, texts: Sequence[str], threads: int | None = None, *, at_most: int | None = None
) -> list[int]:
    """Return `count` of each text, in order; `threads` as in `encode_batch`."""
    if at_most is None:
        return [len(ids) for ids in tokenizer.encode_array_batch(texts, threads, disallowed_special=())]
    return map_on_threads(partial(tokenizer.count, at_most=at_most), text_sequence(texts), thread_count(threads))


def truncate(tokenizer: Coder, text: str, n_tokens: int, *, side: Side = "right", whole: Whole = "token") -> str:
    """Return the longest beginning of `text` (`side="left"`: the longest end) that lies within its first (last)
    `n_tokens` tokens, has at most `n_tokens` when it is encoded alone, and is cut where `whole` allows.

    `token`: between two tokens of the text, and never inside a character. `character`: between two code points.
    `word`: at Unicode's word boundaries only. A text that fits is returned unchanged. If decoding does not restore
    the text (`Model.round_trip`), the decoded text is cut. Raise ValueError for a negative `n_tokens`.
    """
    n_tokens = token_limit("n_tokens", n_tokens)
    for name, given, known in (("side", side, Side), ("whole", whole, Whole)):
        if given not in get_args(known):
            raise ValueError(f"{name} must be one of {', '.join(get_args(known))}, not {given!r}")
    part = ids_of_beginning(tokenizer, text, n_tokens) if side == "right" else ids_of_end(tokenizer, text, n_tokens)
    encode = tokenizer.encode if len(text) < _LEAST_FOR_ARRAY else tokenizer.encode_array
    ids: Ids = encode(text, disallowed_special=()) if part is None else part
    if len(ids) <= n_tokens or n_tokens == 0:
        return text if len(ids) <= n_tokens else ""
    cut = _Cut(tokenizer, ids, n_tokens, begins=side == "right")
    count_kept = tokenizer.count
    if part is None and len(cut.kept) >= _LEAST_KEPT and _is_costly(tokenizer, cut):
        count_kept = counter(tokenizer, text, ids, cut.index, cut.kept, begins=cut.begins)
    if whole == "token":
        shorter = cut.at_tokens()
    else:
        shorter = cut.at_characters() if whole == "character" else cut.at_words(text if part is not None else None)
    return next((kept for kept in shorter if count_kept(kept) <= n_tokens), "")


def truncate_batch(
    tokenizer: Coder,
    texts: Sequence[str],
    n_tokens: int,
    threads: int | None = None,
    *,
    side: Side = "right",
    whole: Whole = "token",
) -> list[str]:
    """Return `truncate` of each text, in order; `threads` as in `encode_batch`."""
    cut = partial(tokenizer.truncate, n_tokens=n_tokens, side=side, whole=whole)
    return map_on_threads(cut, text_sequence(texts), thread_count(threads))


def _is_costly(tokenizer: Coder, cut: _Cut) -> bool:
    """Return whether to encode what is kept takes much longer than to find out what is near the cut."""
    if len(cut.kept) >= _LEAST_CUT:
        return True
    cuts = cuts_around_added(tokenizer)
    return not (cuts.last(cut.kept[-_NEAR:]) if cut.begins else cuts.first(cut.kept[:_NEAR], 1))


# --- parts of a long text ------------------------------------------------------------------------------------


def ids_of_beginning(tokenizer: Coder, text: str, n_tokens: int) -> list[int] | None:
    """Return the ids of a beginning of a long text that has more than `n_tokens`; None if none is tried."""
    check_text(text)
    for size in _sizes(text, n_tokens):
        start = max(0, size - size // _SHARE_SEARCHED - cuts_around_added(tokenizer).margin)
        if end := cuts_around_added(tokenizer).last(text[start:size]):
            ids = tokenizer.encode(text[: start + end], disallowed_special=())
            if len(ids) > n_tokens:
                return ids
    return None


def ids_of_end(tokenizer: Coder, text: str, n_tokens: int) -> list[int] | None:
    """Return the ids of an end of a long text that has more than `n_tokens`; None if none is tried."""
    for size in _sizes(text, n_tokens):
        start, margin = len(text) - size, cuts_around_added(tokenizer).margin
        begin = max(0, start - margin)
        searched = text[begin : start + size // _SHARE_SEARCHED + margin]
        if at := cuts_around_added(tokenizer).first(searched, start - begin):
            with suppress(UnknownSymbol):  # raised below, with its offset in the whole text
                ids = encode_further(tokenizer, text[begin + at :])
                if len(ids) > n_tokens:
                    return ids
    return None


# --- places to cut -----------------------------------------------------------------------------------------


class _Cut:
    """The texts of the first (last) ids of a text, and of fewer, without parts of characters."""

    def __init__(self, tokenizer: Coder, ids: Ids, n_tokens: int, *, begins: bool) -> None:
        self._tokenizer, self._ids, self.begins = tokenizer, ids, begins
        self.index = n_tokens if begins else len(ids) - n_tokens
        data = self._bytes(0, self.index) if begins else self._bytes(self.index, len(ids))
        self.kept, self._is_within = _whole_characters(data), bool(_n_incomplete(data) if begins else _n_inner(data))

    def _bytes(self, first: int, end: int) -> bytes:
        ids = self._ids[max(0, first) : end]
        if not isinstance(ids, list) and len(ids) < _LEAST_ARRAY:
            ids = ids.tolist()
        return self._tokenizer.decode_bytes(ids)

    def _text(self, first: int, end: int) -> str:
        return _whole_characters(self._bytes(first, end))

    def at_tokens(self) -> Iterator[str]:
        """Yield the texts of fewer and fewer ids, the longest first, where these are whole characters."""
        if not self._is_within:
            yield self.kept
        if self.begins:
            for end in range(self.index - 1, 0, -1):
                before = self._bytes(end - _LONGEST, end)
                if not _n_incomplete(before):
                    n_fewer = len(self._text(end - _LONGEST, self.index)) - len(_whole_characters(before))
                    yield self.kept[: len(self.kept) - n_fewer]
            return
        for first in range(self.index + 1, len(self._ids)):
            after = self._bytes(first, first + _LONGEST)
            if not _n_inner(after):
                yield _whole_characters(after) + self.kept[len(self._text(self.index, first + _LONGEST)) :]

    def at_characters(self) -> Iterator[str]:
        """Yield the kept text and shorter ones, a character fewer each."""
        for n in range(len(self.kept), 0, -1):
            yield self.kept[:n] if self.begins else self.kept[len(self.kept) - n :]

    def at_words(self, whole_text: str | None) -> Iterator[str]:
        """Yield the texts that are cut at word boundaries; the ids are of a part if the text is given."""
        kept, beyond = self.kept, self._beyond()
        if self.begins:
            if whole_text is not None and not _decides(beyond):
                self._ids = self._tokenizer.encode_array(whole_text, disallowed_special=())
                beyond = self._beyond()
            yield from (kept[:n] for n in _boundaries(kept + beyond, len(kept), -1))
        else:
            yield from (kept[n - len(beyond) :] for n in _boundaries(beyond + kept, len(beyond), 1))

    def _beyond(self) -> str:
        """Return as much of the text next to what is kept as word boundaries depend on."""
        index, size = self.index, _FEW_IDS
        n_beyond = len(self._ids) - index if self.begins else index
        while True:
            if self.begins:
                before = self._bytes(index - _LONGEST, index)
                after = self._bytes(index - _LONGEST, index + size)
                beyond = after[len(before) - _n_incomplete(before) :].decode("utf-8", "replace")
            else:
                after = self._bytes(index, index + _LONGEST)
                before = self._bytes(index - size, index + _LONGEST)
                beyond = before[: len(before) - len(after) + _n_inner(after)].decode("utf-8", "replace")
            if size >= n_beyond or _decides(beyond):
                return beyond
            size *= 4


def _decides(text: str) -> bool:
    """Return whether word boundaries beside a text do not depend on what is beyond it."""
    return len(list(islice(_PLAIN.finditer(text), 2))) == 2


def _whole_characters(data: bytes) -> str:
    """Return the text of bytes without parts of characters at their ends."""
    return data[_n_inner(data) :].decode("utf-8", "ignore")


def _n_inner(data: bytes) -> int:
    """Return how many bytes of a character that begins earlier are at the beginning of `data`."""
    return next((n for n, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))


def _n_incomplete(data: bytes) -> int:
    """Return how many bytes of a character that ends later are at the end of `data`."""
    n = next((n for n in range(1, min(_LONGEST, len(data)) + 1) if data[-n] & 0xC0 != 0x80), 0)
    return n if n and data[-n:].decode("utf-8", "ignore") == "" else 0
