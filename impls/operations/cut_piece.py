"""The number of ids of a beginning or an end of a text whose ids are known: only what is near the cut is encoded.

    "…abab" of "…ababc", whose ids are those of …|ab|ab|c    "abab" alone is ab|ab: the first ab is in both

Where the text may certainly be cut near there (`certain_cuts`), what is between is encoded alone. Within a long piece,
a stretch next to the cut is encoded alone. If some token of that is one of the whole text too, no merge crosses its
borders in either. So the merges on the side of the cut are those in the stretch, the merges on the other side those in
the whole text: the ids are joined at that token. This holds for every model, whatever its ranks, as merges within a
stretch happen in the same order until one crosses its border.

Texts are compared as they are written for the model (`Model.normalize`), so this holds for models that rewrite too.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from impls.core.pattern.runs import Runs, State
from impls.operations.certain_cuts import cuts_around_added, cuts_of_written, pair_cuts_of
from impls.operations.coder import Coder

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from impls.core.model import Model

    Ids = list[int] | np.ndarray

_LEAST = 128
"""Least bytes of the stretch that is encoded, besides those of a token; characters that are read to tell its piece."""
_CONTINUES = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))
"""The bytes with which no character begins."""


def counter(tokenizer: Coder, text: str, ids: Ids, index: int, kept: str, *, begins: bool) -> Callable[[str], int]:
    """Return a function that counts the ids of `kept` and of beginnings (or ends) of it, when they are encoded alone.

    `kept` is the text of the ids before an index (`begins`) or from it on, without parts of characters.
    """
    if not _may_be_cut(tokenizer, text, ids):
        return tokenizer.count
    whole = KnownIds(tokenizer, tokenizer.model.normalize(text), ids, begins=begins)
    known = [whole] if whole.begin_at(index, kept) else []

    def count(cut: str) -> int:
        if len(cut) <= _LEAST:
            return tokenizer.count(cut)
        for one in known:
            if (n_ids := one.count(cut)) is not None:
                return n_ids
        ids = tokenizer.encode_array(cut, disallowed_special=())
        # A shorter cut may have tokens in common with this one and not with the text.
        known[1:] = [KnownIds(tokenizer, tokenizer.model.normalize(cut), ids, begins=begins)]
        return len(ids)

    return count


class KnownIds:
    """A text as it is written for a model, its ids, and the place at which one of its tokens begins."""

    def __init__(self, tokenizer: Coder, text: str, ids: Ids, *, begins: bool) -> None:
        import numpy as np

        self._tokenizer, self._text, self._ids, self._begins = tokenizer, text, np.asarray(ids), begins
        self._tokens, self._lengths, self._longest = tokenizer.model.derived(_tokens_of)
        self._runs: Runs | None = tokenizer.model.derived(_runs_of)
        self._border, self._place = (len(ids), len(text)) if begins else (0, 0)

    def begin_at(self, index: int, kept: str) -> bool:
        """Find a token that begins with a character, and where, from the text before an index or from it on.

        Return whether it certainly begins there: the ids on one side have as many bytes as the text.
        """
        n_shared = self._n_shared(self._tokenizer.model.normalize(kept))
        self._border = index
        while self._is_inside(self._border):
            self._border += 1 if self._begins else -1
        first, end = sorted((index, self._border))
        skipped = b"".join(map(self._tokens.__getitem__, self._ids[first:end].tolist()))
        n_skipped = sum(byte & 0xC0 != 0x80 for byte in skipped)
        # A character that begins before the index and ends after it is not in `kept`.
        self._place = n_shared + n_skipped + (end > first) if self._begins else len(self._text) - n_shared - n_skipped
        with suppress(UnicodeEncodeError):
            if 2 * self._place < len(self._text):
                return n_shared > 0 and self._n_bytes(0, self._border) == len(self._text[: self._place].encode())
            return n_shared > 0 and self._n_bytes(self._border) == len(self._text[self._place :].encode())
        return False

    def _is_inside(self, index: int) -> bool:
        """Return whether a token begins inside a character."""
        return 0 < index < len(self._ids) and self._tokens[self._ids[index]][:1] in _CONTINUES

    def _n_bytes(self, first: int, end: int | None = None) -> int:
        return int(self._lengths[self._ids[first:end]].sum())

    def _n_shared(self, written: str) -> int:
        """Return how many characters of a beginning (end) are the text's, or 0: not a space written before them."""
        if self._begins:
            return len(written) if self._text.startswith(written) else 0
        return next((len(end) for end in (written, written[1:]) if self._text.endswith(end)), 0)

    def count(self, kept: str) -> int | None:
        """Return the number of ids of a beginning (an end) of the text when it is encoded alone; None if uncertain."""
        written = self._tokenizer.model.normalize(kept)
        n_shared = self._n_shared(written)
        window = self._window(written, n_shared) if n_shared else None
        if window is None:
            return None
        at_cut = self._at_certain_cut(window)
        return self._at_token(window) if at_cut is None else at_cut

    def _window(self, written: str, n_shared: int) -> _Window | None:
        """Return the stretch next to the cut; None if the text begins (ends) within it."""
        cut = n_shared if self._begins else len(self._text) - n_shared
        between = self._text[min(cut, self._place) : max(cut, self._place)]
        n_between = len(between.encode())
        wanted = n_between + _LEAST + self._longest
        size = wanted // 4 + 16
        lengths = self._lengths_beyond(size)
        while lengths[-1] < wanted + 4 * self._longest and len(lengths) == size:
            size *= 4
            lengths = self._lengths_beyond(size)
        n = int(lengths.searchsorted(wanted)) + 1
        step = -1 if self._begins else 1
        while n < len(lengths) and self._is_inside(self._border + step * n):
            n += 1
        if n >= len(lengths):
            return None
        index, n_bytes = self._border + step * n, int(lengths[n - 1]) - n_between
        if self._begins:
            stretch = self._text[max(0, cut - n_bytes) : cut].encode()[-n_bytes:].decode()
            ids = self._ids[index : min(index + n_bytes, self._border)]
            return _Window(stretch, 0, cut, self._index_at(ids, index, 0))
        stretch = self._text[cut : cut + n_bytes].encode()[:n_bytes].decode()
        before = written[: len(written) - n_shared]
        n_bytes += len(before.encode())
        first = max(index - n_bytes, self._border)
        index_at = self._index_at(self._ids[first:index], first, n_bytes - self._n_bytes(first, index))
        return _Window(before + stretch, len(before), cut + len(stretch), index_at)

    def _lengths_beyond(self, size: int) -> np.ndarray:
        """Return the bytes of the first 1, 2, … of up to `size` tokens before (after) the border."""
        border = self._border
        ids = self._ids[max(0, border - size) : border][::-1] if self._begins else self._ids[border : border + size]
        lengths: np.ndarray = self._lengths[ids].cumsum()
        return lengths

    def _index_at(self, ids: np.ndarray, first: int, start: int) -> dict[int, int]:
        return {at: first + n for n, at in enumerate(accumulate(self._lengths[ids].tolist(), initial=start))}

    def _at_certain_cut(self, window: _Window) -> int | None:
        """Return the number of ids if there is a certain place in the window, else None."""
        cuts, text = cuts_of_written(self._tokenizer), window.text
        place = cuts.last(text) if self._begins else cuts.first(text, window.n_before + 1)
        index = window.index_at.get(len(text[:place].encode())) if place else None
        if index is None:
            return None
        ids = self._tokenizer.encode_normalized(text[place:] if self._begins else text[:place])
        return index + len(ids) if self._begins else len(ids) + len(self._ids) - index

    def _at_token(self, window: _Window) -> int | None:
        """Return the number of ids if a token of the window, encoded alone, is in the text's last piece up to its end
        as well, else None."""
        text, end, runs = self._text, window.end, self._runs
        if runs is None or end >= len(text) or (alone := runs.last_from(window.text, 0)) is None:
            return None
        begin = end - len(window.text)
        within = self._last_piece(begin, end)
        if within is None or not runs.matches_before(within[1], text[end]):
            return None
        # The piece goes on after an end's window: as in the whole text, if it is read in the same state.
        if not self._begins and (alone[1] != within[1] or not runs.is_certain(within[1])):
            return None
        least = len(window.text[: max(alone[0], within[0] - begin)].encode())
        if len(window.text.encode()) - least <= self._longest:  # a piece might be taken whole
            return None
        ids, start = self._tokenizer.encode_normalized(window.text), 0
        for n, i in enumerate(ids):
            index = window.index_at.get(start, len(self._ids))
            if start >= least and index < len(self._ids) and self._ids[index] == i:
                return index + len(ids) - n if self._begins else n + len(self._ids) - index
            start += len(self._tokens[i])
        return None

    def _last_piece(self, begin: int, end: int) -> tuple[int, State] | None:
        """Return from where on, `begin` at best, all before `end` is in one piece, and the state after it."""
        assert self._runs is not None
        text, first = self._text[:end], max(0, begin - _LEAST)
        last = self._runs.last_from(text, first)
        if last is None or not (self._begins or self._runs.is_certain(last[1])):
            # What is before a run of characters that are alike may tell more.
            first = min(first, max(0, end - self._runs.n_alike(text) - _LEAST))
            last = self._runs.last_from(text, first)
        return last


class _Window(NamedTuple):
    """The stretch next to the cut that is encoded alone: its text, and where it ends in the whole text."""

    text: str
    n_before: int
    """Characters at its beginning that are not the whole text's."""
    end: int
    index_at: dict[int, int]
    """Byte in the window -> index of the whole text's token that begins there."""


def _may_be_cut(tokenizer: Coder, text: str, ids: Ids) -> bool:
    """Return whether the ids are those of the pieces of the text as written, and their bytes, joined, are that."""
    model = tokenizer.model
    if not (tokenizer.by_pieces and tokenizer.exact and tokenizer.kind in ("pure", "compiled", "production")):
        return False
    rules, unknown = model.sentencepiece, model.unknown_id
    if model.end_of_word is not None or (rules is not None and rules.unused_ids):
        return False
    if any(first in text for first in model.derived(_firsts_of_user_defined)):
        return False
    if model.added_tokens and (model.rewrites_text or cuts_around_added(tokenizer).holds_token(text)):
        return False
    return unknown is None or unknown not in ids


def _firsts_of_user_defined(model: Model) -> set[str]:
    return {text[0] for text in model.user_defined_texts}


def _runs_of(model: Model) -> Runs | None:
    cuts = pair_cuts_of(model.pattern)
    return None if cuts is None else Runs(cuts.stages)


def _tokens_of(model: Model) -> tuple[list[bytes], np.ndarray, int]:
    """Return the bytes of each token, their lengths, and the largest of these."""
    import numpy as np

    empty: dict[bytes | None, bytes] = {None: b""}
    tokens: list[bytes] = list(map(empty.get, model.tokens, model.tokens))  # type: ignore[arg-type]
    for byte, i in enumerate(model.sentencepiece.byte_ids if model.sentencepiece is not None else ()):
        if i >= 0:
            tokens[i] = bytes([byte])
    lengths = np.array(list(map(len, tokens)), np.int64)
    return tokens, lengths, int(lengths.max())
