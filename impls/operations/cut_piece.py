"""The number of ids of a beginning or an end of a text whose ids are known: only what is near the cut is encoded.

    "…abab" of "…ababc", whose ids are those of …|ab|ab|c    "abab" alone is ab|ab: the first ab is in both

Within a long piece, a stretch next to the cut is encoded alone. If some token of that is one of the whole text too, no
merge crosses its borders in either. So the merges on the side of the cut are those in the stretch, the merges on the
other side those in the whole text: the ids are joined at that token. This holds for every model, whatever its ranks, as
merges within a stretch happen in the same order until one crosses its border. In short pieces, the stretch holds a
place where the text may certainly be cut (`certain_cuts`), and what is between is encoded alone.

Texts are compared as they are written for the model (`Model.normalize`), so this holds for models that rewrite too. A
place is a number of characters; a token that begins inside one begins after it.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from impls.core.pattern.runs import Runs, State
from impls.core.text.sentencepiece_rules import SPACE_MARK
from impls.operations.certain_cuts import cuts_around_added, cuts_of_written, runs_of
from impls.operations.coder import Coder

if TYPE_CHECKING:
    import numpy as np

    from impls.core.model import Model

    Ids = list[int] | np.ndarray

_LEAST = 32
"""Least characters of the stretch that is encoded, besides those of a token; and of what tells its piece."""


def written_text(tokenizer: Coder, text: str, ids: Ids, *, begins: bool) -> WrittenText | None:
    """Return a text with its ids, to count those of its beginnings (or ends); None unless the ids are those of the
    pieces of the text as it is written, and their bytes, joined, are that."""
    model = tokenizer.model
    rules = model.sentencepiece
    if not (tokenizer.by_pieces and tokenizer.exact and tokenizer.kind in ("pure", "compiled", "production")):
        return None
    if model.end_of_word is not None or (rules is not None and rules.unused_ids):
        return None
    if model.added_tokens and (model.rewrites_text or cuts_around_added(tokenizer).holds_token(text)):
        return None
    written = model.normalize(text)
    if any(first in written for first in model.derived(_firsts_of_user_defined)):
        return None
    with suppress(UnicodeEncodeError):  # surrogates are encoded as other characters
        _ = text.isascii() or text.encode()
        known = WrittenText(tokenizer, text, written, ids, begins=begins)
        return known if known.is_joined else None
    return None


class WrittenText:
    """A text as it is written for a model, and its ids."""

    def __init__(self, tokenizer: Coder, text: str, written: str, ids: Ids, *, begins: bool) -> None:
        import numpy as np

        model = tokenizer.model
        self._tokenizer, self._text, self._ids, self._begins = tokenizer, written, np.asarray(ids), begins
        self._sizes, self._are_within, longest = model.derived(_characters_of)
        self._least = longest + _LEAST
        # Small integers: reading and writing memory takes most of the time here.
        self._places = np.zeros(len(ids) + 1, np.int32 if len(ids) * self._least < 1 << 31 else np.int64)
        self._sizes.take(self._ids).cumsum(dtype=self._places.dtype, out=self._places[1:])
        self.is_joined = int(self._places[-1]) == len(written)
        """Whether the tokens, joined, are the text."""
        self.decoded, self._hides = _decoded(model, text, written)

    # --- the text of some ids ----------------------------------------------------------------------------------

    def cut(self, index: int) -> tuple[str, bool]:
        """Return the decoded text of the ids before (from) an index, and whether it ends (begins) with a character."""
        assert self.decoded is not None
        is_within = self._is_within(index)
        place = int(self._places[index]) - (len(self._text) - len(self.decoded))
        if self._begins:
            return self.decoded[: place - is_within], not is_within
        hides = self._hides and not is_within and self._text.startswith(SPACE_MARK, int(self._places[index]))
        return self.decoded[place + hides :], not is_within

    def beyond(self, index: int, n_ids: int) -> str:
        """Return the decoded text beyond `cut(index)`, of that many ids or more."""
        assert self.decoded is not None
        n_kept = len(self.cut(index)[0])
        if self._begins:
            return self.decoded[n_kept : int(self._places[min(index + n_ids, len(self._ids))])]
        first = int(self._places[max(0, index - n_ids)]) - (len(self._text) - len(self.decoded))
        return self.decoded[max(0, first) : len(self.decoded) - n_kept]

    def _is_within(self, index: int) -> bool:
        return index < len(self._ids) and bool(self._are_within[self._ids[index]])

    # --- numbers of ids ----------------------------------------------------------------------------------------

    def count(self, kept: str) -> int | None:
        """Return the number of ids of a beginning (an end) of the text when it is encoded alone; None if uncertain."""
        written = self._tokenizer.model.normalize(kept)
        stretch = self._beginning(written) if self._begins else self._end(written)
        if stretch is None:
            return None
        n_ids = self._joined_at_certain_cut(stretch, _LEAST)
        if n_ids is None:
            n_ids = self._joined_at_token(stretch)
        return self._joined_at_certain_cut(stretch, len(stretch.text)) if n_ids is None else n_ids

    def _beginning(self, written: str) -> _Stretch | None:
        """Return the stretch before a cut; None if the text begins within it."""
        end = len(written)
        n = int(self._places.searchsorted(end - self._least, "right")) - 1
        while n > 0 and self._is_within(n):
            n -= 1
        if n <= 0 or not self._text.startswith(written):
            return None
        start = int(self._places[n])
        return _Stretch(self._text[start:end], 0, start, end)

    def _end(self, written: str) -> _Stretch | None:
        """Return the stretch after a cut; None if the text ends within it."""
        n_before = not self._text.endswith(written)  # a space may be written before
        start = len(self._text) - len(written) + n_before
        n = int(self._places.searchsorted(start + self._least))
        while n < len(self._ids) and self._is_within(n):
            n += 1
        if n >= len(self._ids) or not self._text.endswith(written[n_before:]):
            return None
        end = int(self._places[n])
        return _Stretch(written[:n_before] + self._text[start:end], n_before, start - n_before, end)

    def _joined_at_token(self, stretch: _Stretch) -> int | None:
        """Return the number of ids if a token of the stretch, encoded alone, is in the text's last piece up to its end
        as well, else None."""
        n_apart = self._n_apart(stretch)
        if n_apart is None or len(stretch.text) - n_apart + _LEAST <= self._least:  # a piece might be taken whole
            return None
        ids, place = self._tokenizer.encode_normalized(stretch.text), stretch.start
        index = int(self._places.searchsorted(place, "right")) - 1
        for n, i in enumerate(ids):
            while self._places[index + 1] <= place:  # the text does not end with the stretch
                index += 1
            may_join = place >= stretch.start + n_apart and not self._are_within[i]
            if may_join and self._places[index] == place and self._ids[index] == i:
                return self._n_joined(index, n, len(ids))
            place += int(self._sizes[i])
        return None

    def _joined_at_certain_cut(self, stretch: _Stretch, n_searched: int) -> int | None:
        """Return the number of ids if there is a certain place in that many characters of the stretch, else None."""
        cuts, text = cuts_of_written(self._tokenizer), stretch.text
        if self._begins:
            n_before = max(0, len(text) - n_searched)
            cut = cuts.last(text[n_before:])
            cut += n_before if cut else 0
        else:
            cut = cuts.first(text[:n_searched], stretch.n_before + 1)
        index = int(self._places.searchsorted(stretch.start + cut, "right")) - 1
        if not cut or self._places[index] != stretch.start + cut or self._is_within(index):
            return None
        n_ids = len(self._tokenizer.encode_normalized(text[cut:] if self._begins else text[:cut]))
        return self._n_joined(index, 0 if self._begins else n_ids, n_ids)

    def _n_joined(self, index: int, n: int, n_alone: int) -> int:
        """Return the number of ids if those of the text and those of the stretch are joined at an index of each."""
        return index + n_alone - n if self._begins else n + len(self._ids) - index

    def _n_apart(self, stretch: _Stretch) -> int | None:
        """Return after how many characters all of the stretch is in one piece, alone and in the text cut at its end;
        None if uncertain."""
        text, end, runs = self._text, stretch.end, runs_of(self._tokenizer.model)
        if runs is None or end >= len(text) or (alone := runs.last_from(stretch.text, 0)) is None:
            return None
        within = self._last_piece(runs, stretch)
        if within is None or not runs.matches_before(within[1], text[end]):
            return None
        # The piece goes on after an end's stretch: as in the whole text, if it is read in the same state.
        if not self._begins and (alone[1] != within[1] or not runs.is_certain(within[1])):
            return None
        return max(stretch.n_before, alone[0], within[0] - stretch.start)

    def _last_piece(self, runs: Runs, stretch: _Stretch) -> tuple[int, State] | None:
        """Return from where on all before the end of the stretch is in one piece of the text, and the state after it.

        No place before the stretch is searched.
        """
        text, first = self._text[: stretch.end], max(0, stretch.start - _LEAST)
        last = runs.last_from(text, first)
        if last is None or not (self._begins or runs.is_certain(last[1])):
            # What is before a run of characters that are alike may tell more.
            last = runs.last_from(text, min(first, max(0, stretch.end - runs.n_alike(text) - _LEAST)))
        return last

    def count_repeated(self, kept: str) -> int | None:
        """Return the number of ids of a beginning (an end) that is mostly a token again and again; None if it is not.

        From a|bb|bb|c follows a|bb|bb|bb|c: no merge crosses a border of the bb that a|bb|bb and bb|bb|c share in it.
        """
        model, size = self._tokenizer.model, self._least
        text = model.normalize(kept)
        if model.pattern or len(text) < 8 * size:
            return None
        ids = self._tokenizer.encode_normalized(text[: 4 * size])
        repeated = ids[len(ids) // 2]
        token = (model.tokens[repeated] or b"").decode("utf-8", "replace") or "?"
        n = (len(text) - 4 * size) // len(token)
        shorter = text[:size] + text[size + n * len(token) :]
        ids = self._tokenizer.encode_normalized(shorter)
        at = next((at for at, pair in enumerate(pairwise(ids), 1) if pair == (repeated, repeated)), 0)
        place = int(self._sizes[ids[:at]].sum())
        return len(ids) + n if at and shorter[:place] + n * token + shorter[place:] == text else None


class _Stretch(NamedTuple):
    """What is encoded alone, and its places in the written text."""

    text: str
    n_before: int
    """Characters at its beginning that are not the whole text's."""
    start: int
    end: int


def _decoded(model: Model, text: str, written: str) -> tuple[str | None, bool]:
    """Return what the ids of a text decode to, and whether a space that begins ids is hidden; None if the text as it is
    written does not tell."""
    rules = model.sentencepiece
    if rules is None or not rules.escape_spaces:
        return (written if model.decoder is None else None), False
    if model.decoder is not None or rules.remove_extra_spaces or SPACE_MARK.encode() not in model.id_by_token:
        return None, False
    # The text itself has fewer marks to replace, often none.
    spaced = (text if model.normalization is None else written).replace(SPACE_MARK, " ")
    hides = rules.hides_prefix
    n_before, n_hidden = len(written) - len(spaced), int(hides and written.startswith(SPACE_MARK))
    return spaced if n_before == n_hidden else (" " * n_before + spaced)[n_hidden:], hides


def _firsts_of_user_defined(model: Model) -> set[str]:
    return {text[0] for text in model.user_defined_texts}


def _characters_of(model: Model) -> tuple[np.ndarray, np.ndarray, int]:
    """Return how many characters begin in each token, none in an unknown one, whether it begins within one, and the
    most characters of a token."""
    import numpy as np

    tokens = [token or b"" for token in model.tokens] + [b""] * (model.vocab_size - len(model.tokens))
    for byte, i in enumerate(model.sentencepiece.byte_ids if model.sentencepiece is not None else ()):
        if i >= 0:
            tokens[i] = bytes([byte])
    if model.unknown_id is not None:
        tokens[model.unknown_id] = b""
    ends = np.array(list(map(len, tokens)), np.int64).cumsum()
    begins_character = (np.frombuffer(b"".join(tokens), np.uint8) & 0xC0) != 0x80
    n_before = np.concatenate(([0], begins_character.cumsum()))
    starts = np.concatenate(([0], ends[:-1]))
    firsts = np.minimum(starts + 1, ends)
    sizes = n_before[ends] - n_before[starts]
    longest, are_within = int(sizes.max()), (firsts > starts) & (n_before[firsts] == n_before[starts])
    return sizes.astype(np.min_scalar_type(longest)), are_within, longest
