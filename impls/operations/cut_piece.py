"""The number of ids of a beginning or an end of a text whose ids are known: only a stretch at the cut is encoded.

    "…abab" of "…ababc", whose ids are those of …|ab|ab|c    "abab" alone is ab|ab: the first ab is in both

Beyond a certain place (`certain_cuts`) in the stretch, the ids are those of the text. So they are, within one piece,
beyond a token that the text and the stretch, encoded alone, have in common: no merge crosses its borders in either, so
the merges on the side of the cut are those in the stretch, the merges on the other side those in the text. This holds
for every model, whatever its ranks, as merges in a stretch happen in the same order until one crosses its border.

A place is a number of characters. A token that begins within a character is not compared.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from impls.operations.certain_cuts import cuts_around, encode_further, runs_of
from impls.operations.coder import Coder
from impls.operations.stream_rules import stream_rules

Ids = list[int] | np.ndarray
LEAST = 1000
"""Characters of a beginning or an end that is not simply encoded."""
_BESIDE = 32
"""Characters of the stretch besides those of the longest token; and of what tells its piece."""


class KnownIds:
    """A text with its ids, which are cut at an index: before (from) it they are those of `longest`."""

    def __init__(self, tokenizer: Coder, text: str, ids: Ids, index: int, longest: str, *, begins: bool) -> None:
        self._tokenizer, self._text, self._begins = tokenizer, text, begins
        rules = stream_rules(tokenizer.model)
        _, self._sizes, self._are_within = rules.sizes
        self._n_ids, self._least = len(ids), int(self._sizes.max()) + _BESIDE
        size = self._least
        self._first = max(0, index - 4 * size) if begins else index
        self._near = np.asarray(ids[self._first : index] if begins else ids[index : index + 4 * size], np.int64)
        self._is_spelled = text.startswith(longest) if begins else text.endswith(longest)
        self._is_spelled &= not rules.removes_all_marks
        if begins:
            is_within = index < len(ids) and bool(self._are_within[ids[index]])
            self._begin = len(longest) + is_within - int(self._sizes[self._near].sum())
        else:
            is_hidden = int(ids[index]) in rules.ids_with_mark  # a space that begins the text of the ids
            self._begin = len(text) - len(longest) - is_hidden

    def count(self, kept: str) -> int:
        """Return the number of ids of a beginning (an end) of `longest` when it is encoded alone."""
        if self._is_spelled and len(kept) >= LEAST and (n_ids := self._joined(kept)) is not None:
            return n_ids
        return len(self._tokenizer.encode_array(kept, disallowed_special=()))

    def _joined(self, kept: str) -> int | None:
        """Return the number of ids if the stretch tells from where on they are those of the text, else None."""
        tokenizer, text, size, cuts = self._tokenizer, self._text, self._least, cuts_around(self._tokenizer)
        places = self._places(self._near, self._begin)
        borders = places[~self._are_within[self._near]]
        least = len(kept) - size if self._begins else len(text) - len(kept) + size
        borders = borders[borders <= least] if self._begins else borders[borders >= least]
        if not len(borders):
            return None
        start, stop = (int(borders[-1]), len(kept)) if self._begins else (len(text) - len(kept), int(borders[0]))
        stretch = text[start:stop]
        if cuts.holds_token(stretch):
            return None
        encode = partial(encode_further, tokenizer) if self._begins else tokenizer.encode
        alone = np.array(encode(stretch, disallowed_special=()), np.int64)
        places_alone = self._places(alone, stop - int(self._sizes[alone].sum()))
        if cut := cuts.last(stretch) if self._begins else cuts.first(stretch, 1):
            n, n_alone = (int(each.searchsorted(start + cut)) for each in (places, places_alone))
        elif (first := self._in_one_piece_from(kept, stretch, start)) is None:
            return None
        else:
            keys, keys_alone = (
                np.where(self._are_within[ids] | (at < first), -1, at * len(self._sizes) + ids)
                for ids, at in ((self._near, places), (alone, places_alone))
            )
            common, in_text, in_alone = np.intersect1d(keys, keys_alone, return_indices=True)
            if not len(common) or common[-1] < 0:
                return None
            n, n_alone = int(in_text[-1]), int(in_alone[-1])
        return self._first + n + len(alone) - n_alone if self._begins else n_alone + self._n_ids - self._first - n

    def _places(self, ids: np.ndarray, begin: int) -> np.ndarray:
        """Return the place of the character in which each token begins."""
        sizes = self._sizes[ids]
        return np.asarray(begin + sizes.cumsum() - sizes - self._are_within[ids])

    def _in_one_piece_from(self, kept: str, stretch: str, start: int) -> int | None:
        """Return a place from which on all of the stretch is in one piece, alone and in the text cut there; None if
        uncertain."""
        tokenizer, model, end = self._tokenizer, self._tokenizer.model, start + len(stretch)
        merges_only = tokenizer.by_pieces and tokenizer.exact and model.end_of_word is None
        if not merges_only or model.user_defined_texts:
            return None
        if (model.sentencepiece is not None and model.sentencepiece.unused_ids) or end >= len(self._text):
            return None
        if model.pattern and model.rewrites_text and model.normalize(kept) != kept:
            return None
        if (runs := runs_of(model.pattern)) is None or (alone := runs.last_of(stretch, len(stretch))) is None:
            return None
        last = runs.last_of(self._text[:end], len(stretch) + _BESIDE)
        if last is None or not runs.matches_before(last[1], self._text[end]):
            return None
        # The piece goes on after an end's stretch: as in the text, if it is read in the same state.
        if not self._begins and (alone[1] != last[1] or any(len(states) > 1 for states in last[1])):
            return None
        first = max(start + alone[0], last[0])
        return first if end - first > self._least - _BESIDE else None  # a shorter piece might be taken whole
