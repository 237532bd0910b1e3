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

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

import regex

from impls.core.arguments import check_text, token_limit
from impls.core.errors import UnknownSymbol
from impls.operations.certain_cuts import cuts_around_added, encode_further
from impls.operations.coder import Coder
from impls.operations.cut_piece import WrittenText, written_text

if TYPE_CHECKING:
    import numpy as np

    Ids = list[int] | np.ndarray

Side = Literal["right", "left"]
Whole = Literal["token", "character", "word"]
_SIDES, _WHOLES = get_args(Side), get_args(Whole)


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
_LEAST_FOR_ARRAY = 1000
"""Characters of texts that are encoded to an array. Parts that have as many are not decoded, nor encoded again if that
is not necessary; shorter ones are, which takes less time than telling how many ids they have by what is near the cut.
"""
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


def truncate(tokenizer: Coder, text: str, n_tokens: int, *, side: Side = "right", whole: Whole = "token") -> str:
    """Return the longest beginning of `text` (`side="left"`: the longest end) that lies within its first (last)
    `n_tokens` tokens, has at most `n_tokens` when it is encoded alone, and is cut where `whole` allows.

    `token`: between two tokens of the text, and never inside a character. `character`: between two code points.
    `word`: at Unicode's word boundaries only. A text that fits is returned unchanged. If decoding does not restore
    the text (`Model.round_trip`), the decoded text is cut; of a lossy model perhaps not the longest that fits is
    returned, see `_some`. Raise ValueError for a negative `n_tokens`.
    """
    n_tokens = token_limit("n_tokens", n_tokens)
    for name, given, known in (("side", side, _SIDES), ("whole", whole, _WHOLES)):
        if given not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {given!r}")
    part = ids_of_beginning(tokenizer, text, n_tokens) if side == "right" else ids_of_end(tokenizer, text, n_tokens)
    is_long, begins = part is None and len(text) >= _LEAST_FOR_ARRAY, side == "right"
    encode = tokenizer.encode_array if is_long else tokenizer.encode
    ids: Ids = encode(text, disallowed_special=()) if part is None else part
    if len(ids) <= n_tokens or n_tokens == 0:
        return text if len(ids) <= n_tokens else ""
    written = written_text(tokenizer, text, ids, begins=begins) if is_long else None
    texts: _Decoded | WrittenText = _Decoded(tokenizer, ids, begins=begins)
    count_kept: Callable[[str], int] = tokenizer.count
    if written is not None:
        texts = texts if written.decoded is None else written
        count_kept = _Counter(tokenizer, written, begins=begins)
    tried = _some if tokenizer.model.round_trip == "lossy" else iter
    if whole == "token":
        cuts = (texts.cut(n if begins else len(ids) - n) for n in tried(range(n_tokens, 0, -1)))
        shorter = (kept for kept, is_whole in cuts if is_whole)
    else:
        index = n_tokens if begins else len(ids) - n_tokens
        longest = texts.cut(index)[0]
        sizes: Iterable[int] = range(len(longest), 0, -1)
        if whole == "word":
            beyond = _beyond(texts, index, len(ids) - index if begins else index)
            if begins and part is not None and not _decides(beyond):
                ids = tokenizer.encode_array(text, disallowed_special=())
                beyond = _beyond(_Decoded(tokenizer, ids, begins=begins), index, len(ids) - index)
            sizes = _up_to_words(longest, beyond, begins=begins)
        shorter = (longest[:n] if begins else longest[len(longest) - n :] for n in tried(sizes))
    return next((kept for kept in shorter if count_kept(kept) <= n_tokens), "")


def _some(sizes: Iterable[int]) -> Iterator[int]:
    """Yield the first eight of falling `sizes`, then each that is at most three quarters of the last.

    All would take the square of the time if the text that a model decodes is longer than the one it read: for unknown
    characters, say.
    """
    last = 0
    for number, size in enumerate(sizes):
        if number < 8 or 4 * size <= 3 * last:
            last = size
            yield size


class _Counter:
    """Counts the ids of beginnings (ends) of a text, from those that are known of it and of a longer such part."""

    def __init__(self, tokenizer: Coder, written: WrittenText, *, begins: bool) -> None:
        self._tokenizer, self._known, self._begins = tokenizer, [written], begins
        self._encoded: tuple[str, Ids] | None = None

    def __call__(self, kept: str) -> int:
        if len(kept) < _LEAST_FOR_ARRAY:
            return self._tokenizer.count(kept)
        if self._encoded is not None:  # a shorter part may have tokens in common with this one and not with the text
            known = written_text(self._tokenizer, *self._encoded, begins=self._begins)
            self._known[1:], self._encoded = [] if known is None else [known], None
        for written in self._known:
            if (n_ids := written.count(kept)) is not None:
                return n_ids
        if (n_ids := self._known[0].count_repeated(kept)) is not None:
            return n_ids
        self._encoded = kept, self._tokenizer.encode_array(kept, disallowed_special=())
        return len(self._encoded[1])


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
                ids = encode_further(tokenizer, text[begin + at :], disallowed_special=())
                if len(ids) > n_tokens:
                    return ids
    return None


# --- places to cut -----------------------------------------------------------------------------------------


class _Decoded:
    """The texts of the first (last) ids of a text, decoded: what `WrittenText` is to other texts."""

    def __init__(self, tokenizer: Coder, ids: Ids, *, begins: bool) -> None:
        self._decode, self._ids, self._begins = tokenizer.decode_bytes, ids, begins

    def cut(self, index: int) -> tuple[str, bool]:
        """Return the text of the ids before (from) an index, and whether it ends (begins) with a character."""
        data = self._decode(self._ids[:index] if self._begins else self._ids[index:])
        return _whole_characters(data), not (_n_incomplete(data) if self._begins else _n_inner(data))

    def beyond(self, index: int, n_ids: int) -> str:
        """Return the text beyond `cut(index)`, of that many ids or more."""
        near = max(0, index - _LONGEST)
        if self._begins:
            before, after = self._decode(self._ids[near:index]), self._decode(self._ids[near : index + n_ids])
            return after[len(before) - _n_incomplete(before) :].decode("utf-8", "replace")
        after = self._decode(self._ids[index : index + _LONGEST])
        before = self._decode(self._ids[max(0, index - n_ids) : index + _LONGEST])
        return before[: len(before) - len(after) + _n_inner(after)].decode("utf-8", "replace")


def _up_to_words(kept: str, beyond: str, *, begins: bool) -> Iterator[int]:
    """Yield the sizes, the largest first, of the beginnings (ends) of a text that are cut at word boundaries."""
    if begins:
        return _boundaries(kept + beyond, len(kept), -1)
    n_characters = len(beyond) + len(kept)
    return (n_characters - place for place in _boundaries(beyond + kept, len(beyond), 1))


def _beyond(texts: _Decoded | WrittenText, index: int, n_beyond: int) -> str:
    """Return as much of the text next to what is kept as word boundaries depend on."""
    n_ids = _FEW_IDS
    while not _decides(beyond := texts.beyond(index, n_ids)) and n_ids < n_beyond:
        n_ids *= 4
    return beyond


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
