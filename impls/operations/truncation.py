"""Counting the tokens of a text up to a limit, and cutting a text to a number of tokens.

    truncate("naïve café", 3)               "na"-"ï"-"ve", if these are its first three tokens: "naïve"
    truncate("naïve café", 3, side="left")  its end: "café"

`truncate` takes the first (or last) n ids of the whole text, and returns their text, shortened further to a place where
`whole` allows a cut, and until it has at most n tokens when it is encoded alone: a cut may change how the pattern
splits its end, or a merge. Of the places that qualify, the one that keeps most text is used.

Time: of a text much longer than the limit only a beginning (or end) is encoded, up to a certain place
(`certain_cuts`), and a larger one if that has too few ids; together never more than a seventh of the text. Without
a certain place, as in one long piece, the whole text is encoded once, and what is kept of it a second time. Knows the
methods of a tokenizer, and no algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from string import ascii_letters, digits
from typing import Literal, TypedDict, get_args

import regex

from impls.core.arguments import check_text, text_sequence, thread_count, token_limit
from impls.core.errors import UnknownSymbol
from impls.core.text.text import repair_surrogates
from impls.operations.batches import map_on_threads
from impls.operations.certain_cuts import cuts_around_added, encode_further
from impls.operations.coder import Coder

Side = Literal["right", "left"]
Whole = Literal["token", "character", "word"]


class Cut(TypedDict, total=False):
    """Where a text is cut: the arguments of `Tokenizer.truncate`."""

    side: Side
    whole: Whole


_WORD_BOUNDARY = regex.compile(r"(?w)\b")
"""Unicode's default word boundaries (Unicode Standard Annex 29)."""
_RUNS = (ascii_letters + digits, " ")
"""Characters without a word boundary between them, of which long runs are skipped."""
_PLAIN = regex.compile(r"[\p{Lu}\p{Ll}\p{Lo}\p{N}\p{Z}\p{Cc}]")
"""Characters that the rules do not skip: two of them after a place decide whether it is a boundary."""
_LEAST_SIZE, _CHARACTERS_A_TOKEN = 256, 16
_GROWTH = 8
"""A part is encoded first if the text is this many times as long; the next part is as many times longer."""
_LONG_RUN = 512
"""Characters of a run that are read at a time, to skip it."""
_SHARE_SEARCHED = 16
"""The last (first) 16th of a part is searched for a certain place: in Python, while the ids may come from a kernel."""


def _sizes(text: str, n_tokens: int) -> Iterator[int]:
    """Yield the numbers of characters of the parts to try before all of `text`."""
    size = _CHARACTERS_A_TOKEN * n_tokens + _LEAST_SIZE
    while _GROWTH * size <= len(text):
        yield size
        size *= _GROWTH


def _boundaries_before(text: str, end: int) -> Iterator[int]:
    """Yield the word boundaries of `text` from `end` down to 1."""
    while end > 0:
        if _WORD_BOUNDARY.match(text, end):
            yield end
        run = _run_of(text[max(0, end - _LONG_RUN) : end])
        end = len(text[:end].rstrip(run)) if run else end - 1


def _boundaries_after(text: str, start: int) -> Iterator[int]:
    """Yield the word boundaries of `text` from `start` up to its end."""
    while start < len(text):
        if _WORD_BOUNDARY.match(text, start):
            yield start
        run = _run_of(text[start : start + _LONG_RUN])
        start = len(text) - len(text[start:].lstrip(run)) if run else start + 1


def _run_of(text: str) -> str:
    """Return the one of `_RUNS` that holds all characters of `text`, or ""."""
    return next((run for run in _RUNS if not text.strip(run)), "")


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
    ids = tokenizer.encode(text, disallowed_special=()) if part is None else part
    if len(ids) <= n_tokens:
        return text
    cut_texts = _cut_texts(tokenizer, text, ids, n_tokens, side, whole, is_part=part is not None)
    return next((cut for cut in cut_texts if tokenizer.count(cut) <= n_tokens), "")


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


def _cut_texts(
    tokenizer: Coder, text: str, ids: Sequence[int], n_tokens: int, side: Side, whole: Whole, *, is_part: bool
) -> Iterator[str]:
    """Yield the beginnings (ends) of `text` that may be returned, the longest first.

    `ids` are at least the first (last) `n_tokens` + 1; `is_part` says whether there may be more.
    """
    if whole == "token":
        for n in range(n_tokens, 0, -1):
            with suppress(UnicodeDecodeError):
                yield tokenizer.decode_bytes(ids[:n] if side == "right" else ids[-n:]).decode()
        return
    kept = _whole_characters(tokenizer, ids, n_tokens, side)
    if whole == "character":
        for n in range(len(kept), 0, -1):
            yield kept[:n] if side == "right" else kept[len(kept) - n :]
    elif side == "right":
        exact = tokenizer.model.round_trip == "exact"
        text = repair_surrogates(text) if exact else _decoded_beyond(tokenizer, text, ids, len(kept), is_part=is_part)
        yield from (kept[:n] for n in _boundaries_before(text, len(kept)))
    else:
        text = repair_surrogates(text) if tokenizer.model.round_trip == "exact" else tokenizer.decode(ids)
        first = len(text) - len(kept)
        yield from (kept[place - first :] for place in _boundaries_after(text, first))


def _decoded_beyond(tokenizer: Coder, text: str, ids: Sequence[int], n_kept: int, *, is_part: bool) -> str:
    """Return the decoded text, with as many characters after its first `n_kept` as word boundaries depend on."""
    decoded, n_tokens = tokenizer.decode(ids), len(ids)
    while is_part and len(list(islice(_PLAIN.finditer(decoded, n_kept), 2))) < 2:
        n_tokens = 4 * n_tokens + 16
        more = ids_of_beginning(tokenizer, text, n_tokens)
        is_part = more is not None
        decoded = tokenizer.decode(tokenizer.encode(text, disallowed_special=()) if more is None else more)
    return decoded


def _whole_characters(tokenizer: Coder, ids: Sequence[int], n_tokens: int, side: Side) -> str:
    """Return the text of the first (last) ids, without a character at the cut of which they have only a part."""
    if side == "right":
        return tokenizer.decode_bytes(ids[:n_tokens]).decode("utf-8", "ignore")
    data = tokenizer.decode_bytes(ids[len(ids) - n_tokens :])
    n_inner = next((n for n, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
    return data[n_inner:].decode("utf-8", "ignore")
