"""The ids of a text that grows and is edited, without encoding all of it again: `Tokenizer.incremental`.

    chat = tokenizer.incremental("You are a helpful")
    chat.append(" assistant")    Change(start=4, n_removed=0, ids=[29186])     old ids 4:4 become these
    chat.n_stable                4: what follows may still change " assistant"

The text is kept in chunks that begin at certain places (`certain_cuts`), with their ids. The tail after the last such
place is encoded again with what is appended; an edit encodes again from the last chunk it cannot affect to the first
one it cannot affect. So the time of an append grows with the new text and the distance to the last certain place, that
of an edit with about two chunks, besides a fraction of a microsecond for each chunk of the text. A tail of one long
piece is followed by `growing_piece` if the implementation can. Any other text without certain places (a pattern without
automaton, a library's own rules, tokens of several derivations) is encoded again.

Knows the methods of a tokenizer, and no algorithm.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, repeat
from operator import itemgetter
from typing import Any, Unpack

from impls.core.arguments import Special, check_special_sets, check_text, token_limit, whole_number
from impls.core.errors import BPEError, UnknownSymbol
from impls.core.model.whole_tokens import WholeTokens
from impls.operations.certain_cuts import CertainPairs, cuts_around, encode_further
from impls.operations.changes import Change, change_of
from impls.operations.coder import Coder
from impls.operations.growing_piece import LEAST, GrowingPiece, growing_piece

CHUNK = 1024
"""Least characters of a chunk if a certain place is among the next as many; shorter at the end of a text."""
_SCANNED = 1_000
"""Most characters within which `truncate` tries every place."""

Encode = Callable[[str], list[int]]
Chunk = tuple[str, list[int]]
"""A part of the text, and its ids; neither is ever changed, so that copies share them."""
_State = tuple[list[Chunk], int, int, str, list[int], str, list[int]]
"""Chunks, how many of them are valid, their total number of ids; text and ids up to the tail; the tail and its ids.

Chunks appended by an interrupted step are not valid: each step ends with the assignment of its state.
"""
_Step = tuple[_State, list[int]]
"""The state after a step, and the ids it gave."""
_TEXT: Callable[[Chunk], str] = itemgetter(0)
_IDS: Callable[[Chunk], list[int]] = itemgetter(1)


class Incremental:
    """A text with its ids, which are always those of `Tokenizer.encode`; made by `Tokenizer.incremental`.

    A step that raises (`SpecialToken`, `UnknownSymbol`: as `encode` would for the new text) changes nothing. Not safe
    for two threads at once; copies may be used by different threads.
    """

    def __init__(self, tokenizer: Coder, text: str = "", **special: Unpack[Special]) -> None:
        """Begin with `text`; it and each step raise what `encode` would raise with these arguments."""
        check_text(text)
        check_special_sets(special.setdefault("allowed_special", ()), special.setdefault("disallowed_special", "all"))
        # Certain places depend on these sets, so they are copied: the caller may change its own.
        given: dict[str, Any] = {**special}
        copied: Any = {name: sets if sets == "all" else frozenset(sets or ()) for name, sets in given.items()}
        self._encoder, self._encode = tokenizer, partial(tokenizer.encode, **copied)
        # For a part that follows a certain place.
        pairs = tokenizer.model.derived(CertainPairs, tokenizer.by_pieces)
        further = partial(encode_further, tokenizer, **copied)
        self._encode_continued: Encode = further if pairs.changes_beginning else self._encode
        self._cuts = cuts_around(tokenizer, tokenizer.model.derived(WholeTokens).searched(**copied))
        self._state: _State = ([], 0, 0, "", [], "", [])
        self._piece: GrowingPiece | None = None
        """The tail, if it is followed; that of the state is then an earlier one."""
        self._next_length = LEAST  # of a tail that is tried as a growing piece
        if text:
            self.append(text)

    # --- content -----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """Return the current text as a new string."""
        return "".join(map(_TEXT, self._blocks()))

    @property
    def ids(self) -> list[int]:
        """Return the ids of the text as a new list."""
        return _ids_of(self._blocks())

    @property
    def n_ids(self) -> int:
        """Return the number of ids."""
        return self.n_stable + (len(self._state[6]) if self._piece is None else self._piece.n_ids)

    @property
    def n_stable(self) -> int:
        """Return the number of ids that no appended text can change: those before the last certain place."""
        return self._state[2] + len(self._state[4])

    def _blocks(self) -> list[Chunk]:
        """Return the parts of the text with their ids; the last one is the tail, each begins at a certain place."""
        chunks, n_chunks, _, settled, settled_ids, tail, tail_ids = self._complete_state()
        return [*chunks[:n_chunks], *(part for part in ((settled, settled_ids), (tail, tail_ids)) if part[0])]

    def _complete_state(self) -> _State:
        """Return the state, with the tail if it is followed."""
        if self._piece is not None:
            *others, _, _ = self._state
            self._state = (*others, *self._piece.tail())  # type: ignore[assignment]
        return self._state

    def _assign(self, state: _State) -> None:
        """Replace the state, which must be complete; the tail of the new one is not followed yet."""
        self._piece, self._next_length = None, max(LEAST, min(self._next_length, 2 * len(state[5])))
        self._state = state

    def copy(self) -> Incremental:
        """Return an independent copy; the unchanged parts are shared in memory."""
        chunks, n_chunks, *others = self._complete_state()
        other = object.__new__(Incremental)
        other.__dict__.update(self.__dict__, _piece=None, _state=(chunks[:n_chunks], n_chunks, *others))
        return other

    __copy__ = copy

    # --- steps -------------------------------------------------------------------------------------------------

    def append(self, text: str) -> Change:
        """Add `text` at the end."""
        if type(text) is not str:
            check_text(text)
        if self._piece is None and len(self._state[5]) >= self._next_length and text:
            tail, ids = self._state[5:]
            self._piece = growing_piece(self._encoder, tail, ids, self._cuts)
            self._next_length = LEAST if self._piece is not None else 2 * len(tail)  # then it is tried again
        if self._piece is not None and (change := self._piece.append(text, self.n_stable)) is not None:
            return change
        state = self._complete_state()
        n_stable, old = self.n_stable, state[6]
        try:
            new_state, ids = self._grown(state, text)
        except BPEError:
            self._encode(self.text + text)  # raises for the whole text, with its offsets
            raise
        self._assign(new_state)
        return change_of(n_stable, old, ids)

    def replace(self, start: int, stop: int, text: str) -> Change:
        """Replace the code points from `start` to `stop` by `text`; raise ValueError for an invalid range."""
        check_text(text)
        start, stop = whole_number("start", start), whole_number("stop", stop)
        blocks = self._blocks()
        begins = [0, *accumulate(map(len, map(_TEXT, blocks)))]
        if not 0 <= start <= stop <= begins[-1]:
            raise ValueError(f"start and stop must satisfy 0 <= start <= stop <= {begins[-1]}, not {start} and {stop}")
        margin = self._cuts.margin
        first = max(0, bisect_right(begins, start - margin, 0, len(blocks)) - 1)
        first -= first > 0 and len(blocks[first - 1][0]) < CHUNK  # short chunks do not become many
        last = bisect_left(begins, stop + margin, first + 1, len(blocks)) if blocks else 0
        region = "".join(map(_TEXT, blocks[first:last]))
        region = region[: start - begins[first]] + text + region[stop - begins[first] :]
        n_before = _n_ids(blocks[:first])
        try:
            state, new = self._with_region(blocks, first, last, n_before, region)
        except BPEError:
            old = self.text
            self._encode(old[:start] + text + old[stop:])
            raise
        self._assign(state)
        return change_of(n_before, _ids_of(blocks[first:last]), new)

    def truncate(self, n_tokens: int) -> Change:
        """Shorten the text to its longest beginning that has at most `n_tokens` ids; leave it if it has no more.

        Within a piece of more than a thousand characters, the beginning is found by bisection and may be shorter.
        """
        n_tokens = token_limit("n_tokens", n_tokens)
        if self.n_ids <= n_tokens:
            return Change(self.n_ids, 0, [])
        room, n_kept = n_tokens, 0
        for part, ids in self._blocks():
            if len(ids) > room:
                n_kept += self._n_fitting(part, room, begins=n_kept == 0)
                break
            room -= len(ids)
            n_kept += len(part)
        return self.replace(n_kept, len(self.text), "")

    # --- encoding ----------------------------------------------------------------------------------------------

    def _grown(self, state: _State, text: str) -> _Step:
        """Return the state after `text` is appended, and all ids after those that were stable before."""
        chunks, n_chunks, n_ids, settled, settled_ids, tail, _ = state
        begins = not (n_chunks or settled)
        *parts, last = self._cut_up(tail + text)
        finished: list[Chunk] = []
        more: list[int] = []
        if parts:
            finished = self._encoded(parts, begins=begins)
            more = _ids_of(finished)
            if settled:
                finished.insert(0, (settled, settled_ids))
            begins, settled, settled_ids = False, "", []
        place, encode = self._cuts.last(last), self._encode if begins else self._encode_continued
        ids = encode(last[:place]) if place else []
        tail_ids = (self._encode_continued if place else encode)(last[place:])
        settled, settled_ids = settled + last[:place], settled_ids + ids
        ids = [*more, *ids, *tail_ids]
        if len(settled) >= CHUNK:
            finished, settled, settled_ids = [*finished, (settled, settled_ids)], "", []
        if finished:
            chunks[n_chunks:] = finished
            n_chunks, n_ids = len(chunks), n_ids + _n_ids(finished)
        return (chunks, n_chunks, n_ids, settled, settled_ids, last[place:], tail_ids), ids

    def _encoded(self, parts: Iterable[str], *, begins: bool) -> list[Chunk]:
        """Return parts that begin at certain places with their ids; `begins` says whether the first begins the text."""
        encodes = chain([self._encode if begins else self._encode_continued], repeat(self._encode_continued))
        return [(part, encode(part)) for part, encode in zip(parts, encodes, strict=False)]

    def _with_region(self, blocks: Sequence[Chunk], first: int, last: int, n_before: int, region: str) -> _Step:
        """Return the state in which `region` replaces the blocks from `first` to `last`, and its ids."""
        if last == len(blocks):
            return self._grown((list(blocks[:first]), first, n_before, "", [], "", []), region)
        finished = self._encoded(self._cut_up(region), begins=first == 0)
        chunks = [*blocks[:first], *finished, *blocks[last:-1]]
        return (chunks, len(chunks), _n_ids(chunks), "", [], *blocks[-1]), _ids_of(finished)

    def _cut_up(self, text: str) -> Iterator[str]:
        """Yield the parts of `text`, of `CHUNK` characters or a little more, as far as there are certain places."""
        begin = 0
        while len(text) - begin >= 2 * CHUNK and (end := self._cuts.first(text, begin + CHUNK)):
            yield text[begin:end]
            begin = end
        yield text[begin:]

    def _n_fitting(self, text: str, room: int, *, begins: bool) -> int:
        """Return the length of the longest beginning of `text` with at most `room` ids; the whole text has more."""
        encode = self._encode if begins else self._encode_continued
        begin = 0
        while end := self._cuts.first(text, begin + 1):
            n_ids = len(encode(text[begin:end]))
            if n_ids > room:
                break
            room, begin, encode = room - n_ids, end, self._encode_continued
        piece = text[begin : end or None]

        def exceeds(n_characters: int) -> bool:
            try:
                return len(encode(piece[:n_characters])) > room
            except UnknownSymbol:  # a beginning may end in a symbol that does not exist within a word
                return True

        if len(piece) <= _SCANNED:
            return begin + next((n for n in range(len(piece) - 1, 0, -1) if not exceeds(n)), 0)
        return begin + bisect_left(range(1, len(piece)), True, key=exceeds)


def _ids_of(chunks: Iterable[Chunk]) -> list[int]:
    return list(chain.from_iterable(map(_IDS, chunks)))


def _n_ids(chunks: Iterable[Chunk]) -> int:
    return sum(map(len, map(_IDS, chunks)))
