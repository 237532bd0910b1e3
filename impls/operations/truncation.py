"""Counting the tokens of a text up to a limit, and cutting a text to a number of tokens.

    truncate("naïve café", 3)               "na"-"ï"-"ve", if these are its first three tokens: "naïve"
    truncate("naïve café", 3, side="left")  its end: "café"

`truncate` takes the first (or last) n ids of the whole text, and returns their text, shortened further to a place where
`whole` allows a cut, and until it has at most n tokens when it is encoded alone: a cut may change how the pattern
splits its end, or a merge. Of the places that qualify, the one that keeps most text is used.

Time: of a text much longer than the limit only a beginning (or end) is encoded, up to a certain place (`certain_cuts`).
If that has too few ids, or there is no such place, as in one long piece, the whole text is. What is kept of it is not
encoded a second time if what is near the cut tells how many ids it has (`cut_piece`). Knows the methods of a tokenizer,
and no algorithm.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal, TypedDict, get_args

import regex

from impls.core.arguments import check_text, token_limit
from impls.core.errors import UnknownSymbol
from impls.core.text.text import repair_surrogates
from impls.operations.certain_cuts import cuts_around, encode_further
from impls.operations.coder import Coder
from impls.operations.cut_piece import LEAST, Ids, KnownIds
from impls.operations.stream_rules import stream_rules

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
_RUN = rf"(?:[{_LETTERS}][{_LETTERS}\p{{WB=Extend}}\p{{WB=Format}}]*|\p{{WB=Extend}}+| +)"
_RUN_BEFORE, _RUN_AFTER = regex.compile(f"(?r){_RUN}"), regex.compile(_RUN)
"""Characters without a word boundary between them, before a place and after it."""
_LEAST_SIZE, _CHARACTERS_A_TOKEN = 256, 16
_SHARE = 8
"""A part is encoded first if the text is this many times as long."""
_SHARE_SEARCHED = 16
"""The last (first) 16th of a part is searched for a certain place: in Python, while the ids may come from a kernel."""
_N_BESIDE = 64
"""Ids beyond a cut whose text tells word boundaries."""
_LONGEST = 4
"""Bytes of the longest character; no more tokens than that are in one."""


def _sizes_of_words(text: str, size: int, *, begins: bool) -> Iterator[int]:
    """Yield the sizes, from `size` down, of the beginnings (ends) of `text` that are cut at word boundaries."""
    while size > 0:
        place = size if begins else len(text) - size
        if _WORD_BOUNDARY.match(text, place):
            yield size
        run = _RUN_BEFORE.match(text, 0, place) if begins else _RUN_AFTER.match(text, place)
        size -= 1 if run is None else len(run[0])


def count(tokenizer: Coder, text: str, at_most: int | None = None) -> int:
    """Count the ids of `text`, special tokens read as ordinary text.

    With `at_most`, stop as soon as there are more, and return `at_most + 1`, which then only means "more".
    """
    if at_most is None:
        return len(tokenizer.encode(text, disallowed_special=()))
    at_most = token_limit("at_most", at_most)
    n_ids = tokenizer.count(text) if ids_of_part(tokenizer, text, at_most, begins=True) is None else at_most + 1
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
    begins = side == "right"
    part = ids_of_part(tokenizer, text, n_tokens + _N_BESIDE * (whole == "word"), begins=begins)
    encode = tokenizer.encode_array if len(text) >= LEAST else tokenizer.encode
    ids: Ids = encode(text, disallowed_special=()) if part is None else part
    if len(ids) <= n_tokens or n_tokens == 0:
        return text if len(ids) <= n_tokens else ""
    is_long = len(text) >= LEAST and tokenizer.kind in ("pure", "compiled", "production")
    texts = _Decoded(tokenizer, ids, text if is_long and part is None else None, begins=begins)
    index = n_tokens if begins else len(ids) - n_tokens
    longest = texts.cut(index)
    tried = _some if tokenizer.model.round_trip == "lossy" else iter
    if whole == "token":
        cuts = (n if begins else len(ids) - n for n in tried(range(n_tokens, 0, -1)))
        shorter = (longest if cut == index else texts.cut(cut) for cut in cuts if not texts.n_of_character(cut))
    else:
        sizes: Iterable[int] = range(len(longest), 0, -1)
        if whole == "word":
            is_text = text.startswith(longest) if begins else text.endswith(longest)
            is_text &= texts.text is not None or tokenizer.model.round_trip == "exact"
            sizes = _sizes_of_words(text if is_text else tokenizer.decode(ids), len(longest), begins=begins)
        shorter = (longest[:n] if begins else longest[len(longest) - n :] for n in tried(sizes))
    count_kept = tokenizer.count
    if is_long and len(longest) >= LEAST:
        count_kept = KnownIds(tokenizer, text, ids, index, longest, begins=begins).count
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


# --- parts of a long text ------------------------------------------------------------------------------------


def ids_of_part(tokenizer: Coder, text: str, n_tokens: int, *, begins: bool) -> list[int] | None:
    """Return the ids of a beginning (an end) of a long text that has more than `n_tokens`; None if none is known."""
    check_text(text)
    size, cuts = _CHARACTERS_A_TOKEN * n_tokens + _LEAST_SIZE, cuts_around(tokenizer)
    n_searched = size // _SHARE_SEARCHED + cuts.margin
    if len(text) < _SHARE * size:
        return None
    ids: list[int] = []
    if begins:
        start = max(0, size - n_searched)
        if (place := cuts.last(text[start:size])) >= cuts.margin:
            ids = tokenizer.encode(text[: start + place], disallowed_special=())
    else:
        start = max(0, len(text) - size - cuts.margin)
        if place := cuts.first(text[start : len(text) - size + n_searched], len(text) - size - start):
            with suppress(UnknownSymbol):  # raised when the whole text is encoded, with its offset
                ids = encode_further(tokenizer, text[start + place :], disallowed_special=())
    return ids if len(ids) > n_tokens else None


# --- places to cut -----------------------------------------------------------------------------------------


class _Decoded:
    """The texts of the first (last) ids of a text, decoded, or cut out of `text` if that is the same."""

    def __init__(self, tokenizer: Coder, ids: Ids, text: str | None, *, begins: bool) -> None:
        self._decode, self._ids, self._begins = tokenizer.decode_bytes, ids, begins
        self._model = tokenizer.model
        self.text = text if text is not None and self._spell(text) else None

    def _spell(self, text: str) -> bool:
        """Return whether each character of `text` is in a token over bytes, so that the ids decode to it."""
        model = self._model
        if model.alphabet != "bytes" or model.round_trip == "lossy" or model.normalize(text) != text:
            return False
        n_characters = stream_rules(model).sizes.n_characters[self._ids]
        return repair_surrogates(text) is text and int(n_characters.sum()) == len(text)

    def cut(self, index: int) -> str:
        """Return the text of the ids before (from) an index, without parts of characters at its ends."""
        if self.text is not None:
            _, n_characters, are_within = stream_rules(self._model).sizes
            place = int(n_characters[self._ids[:index]].sum())
            return self.text[: place - int(are_within[self._ids[index]])] if self._begins else self.text[place:]
        data = self._decode(self._ids[:index] if self._begins else self._ids[index:])
        return data[_n_inner(data) :].decode("utf-8", "ignore")

    def n_of_character(self, index: int) -> int:
        """Return how many bytes that `cut` leaves out are of a character that the index is within."""
        if self._begins:
            data = self._decode(self._ids[max(0, index - _LONGEST) : index])
            return len(data) - codecs.utf_8_decode(data, "ignore", False)[1]
        return _n_inner(self._decode(self._ids[index : index + _LONGEST]))


def _n_inner(data: bytes) -> int:
    """Return how many bytes of a character that begins earlier are at the beginning of `data`."""
    return next((n for n, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
