"""One encoded text, or pair of texts: `Encoding`, with the fields and methods of the class in `tokenizers`.

Every list has one entry per token. `sequence_ranges` says which tokens belong to which text; if it is empty, all belong
to the first. Knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat, takewhile
from typing import Any, Literal

import msgspec

from impls.core.arguments import unsigned, wrong_type
from impls.drop_in.hf.arguments import DIRECTIONS, Count, Direction, flag, ignoring_others, items, one_of, text, written
from impls.drop_in.hf.not_provided import refuse

Span = tuple[int, int]
_ROWS = ("ids", "type_ids", "tokens", "word_ids", "offsets", "special_tokens_mask", "attention_mask")


@dataclass(slots=True)
class Encoding:
    """Tokens in order, with their properties; offsets are code points of the text that a token belongs to."""

    ids: list[int] = field(default_factory=list)
    type_ids: list[int] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    word_ids: list[int | None] = field(default_factory=list)
    offsets: list[Span] = field(default_factory=list)
    special_tokens_mask: list[int] = field(default_factory=list)
    """1 for a token that a post-processor or padding added; a special token found in the text has 0."""
    attention_mask: list[int] = field(default_factory=list)
    overflowing: list[Encoding] = field(default_factory=list)
    """The parts that truncation cut off."""
    sequence_ranges: dict[int, range] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def __getattr__(self, name: str) -> Any:
        refuse("Encoding", name)

    @staticmethod
    def of(ids: Sequence[int], type_id: int, tokens: Sequence[str], *, special: int, attention: int) -> Encoding:
        """Return tokens that belong to no text."""
        n = len(ids)
        return Encoding([*ids], [type_id] * n, [*tokens], [None] * n, [(0, 0)] * n, [special] * n, [attention] * n)

    def copy(self) -> Encoding:
        """Return a copy that shares no list with this one."""
        copied = self.part(0, len(self))
        copied.overflowing = [other.copy() for other in self.overflowing]
        copied.sequence_ranges = dict(self.sequence_ranges)
        return copied

    def part(self, start: int, stop: int) -> Encoding:
        """Return an encoding of the tokens from `start` to `stop`."""
        return Encoding(*(getattr(self, row)[start:stop] for row in _ROWS))

    # --- texts, words and characters of tokens ----------------------------------------------------------------

    @property
    def n_sequences(self) -> int:
        """Return the number of texts."""
        return len(self.sequence_ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """Return the index of the text of each token; None for a token that a post-processor or padding added."""
        ids: list[int | None] = [None] * len(self)
        for index in range(self.n_sequences):
            of = self._range(index)
            ids[of.start : of.stop] = repeat(index, len(of))
        return ids

    def set_sequence_id(self, sequence_id: int) -> None:
        """Make all tokens belong to the text `sequence_id`."""
        self.sequence_ranges[unsigned("sequence_id", sequence_id)] = range(len(self))

    def _range(self, index: int) -> range:
        return self.sequence_ranges.get(index, range(len(self)))

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the index of the text of a token, or None."""
        index = unsigned("token_index", token_index)
        if not self.sequence_ranges:
            return 0 if index <= len(self) else None
        return next((of for of, tokens in self.sequence_ranges.items() if index in tokens), None)

    def token_to_chars(self, token_index: int) -> Span | None:
        """Return the start and end of a token in its text, or None."""
        index = unsigned("token_index", token_index)
        return self.offsets[index] if index < len(self) and self.token_to_sequence(index) is not None else None

    def token_to_word(self, token_index: int) -> int | None:
        """Return the word of a token, or None."""
        index = unsigned("token_index", token_index)
        return self.word_ids[index] if index < len(self) and self.token_to_sequence(index) is not None else None

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the first token that contains a character of a text, or None."""
        place, of = unsigned("char_pos", char_pos), self._range(unsigned("sequence_index", sequence_index))
        spans = enumerate(self.offsets[of.start : of.stop], of.start)
        return next((index for index, (start, end) in spans if start <= place < end), None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the word that contains a character of a text, or None."""
        index = self.char_to_token(char_pos, sequence_index)
        return None if index is None else self.token_to_word(index)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return the first token of a word and the one after its last, or None."""
        word, of = unsigned("word_index", word_index, 32), self._range(unsigned("sequence_index", sequence_index))
        words = enumerate(self.word_ids[of.start : of.stop], of.start)
        until = takewhile(lambda row: row[1] is None or row[1] <= word, words)
        indices = [index for index, other in until if other == word]
        return (indices[0], indices[-1] + 1) if indices else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return the start and end of a word in its text, or None."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return None if tokens is None else (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])

    # --- merging, truncating, padding -------------------------------------------------------------------------

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Return all encodings in one; with `growing_offsets`, offsets of each begin at the end of the previous one.

        The overflowing parts of one are combined with all of the others, as in the library.
        """
        joined, growing = Encoding(), flag("growing_offsets", growing_offsets)
        for position, encoding in enumerate(items("encodings", encodings)):
            if not isinstance(encoding, Encoding):
                raise wrong_type(f"encodings[{position}]", "an Encoding", encoding)
            joined._append(encoding, growing)
        return joined

    def _append(self, other: Encoding, growing: bool) -> Encoding:
        """Append `other`, and return this encoding."""
        pairs = [(part, following) for part in self.overflowing for following in (other, *other.overflowing)]
        pairs += [(self, part) for part in other.overflowing]
        overflowing = [part.copy()._append(following, growing) for part, following in pairs]
        shift = self.offsets[-1][1] if growing and self.offsets else 0
        n_before = len(self)
        for row in _ROWS:
            getattr(self, row).extend(getattr(other, row))
        if shift:
            self.offsets[n_before:] = [(start + shift, end + shift) for start, end in other.offsets]
        moved = {of: range(n_before + r.start, n_before + r.stop) for of, r in other.sequence_ranges.items()}
        self.sequence_ranges |= moved
        self.overflowing = overflowing
        return self

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Keep `max_length` tokens, and the rest in `overflowing`: parts of that length that overlap by `stride`
        tokens.

        Raise ValueError unless `stride` is smaller than `max_length`; the library panics.
        """
        length, stride = unsigned("max_length", max_length), unsigned("stride", stride)
        one_of("direction", direction, DIRECTIONS)
        size = len(self)
        if length >= size:
            return
        if length and stride >= length:
            raise ValueError(f"stride must be smaller than max_length, {length} without the tokens added; not {stride}")
        if length == 0:
            parts = [Encoding(), self.copy()]
        elif direction == "right":
            parts = [self.part(start, start + length) for start in range(0, size - stride, length - stride)]
        else:
            parts = [self.part(max(stop - length, 0), stop) for stop in range(size, stride, stride - length)]
        for row in (*_ROWS, "sequence_ranges"):
            setattr(self, row, getattr(parts[0], row))
        self.overflowing = parts[1:]

    @ignoring_others
    def pad(
        self, length: int, *, direction: str = "right", pad_id: int = 0, pad_type_id: int = 0, pad_token: str = "[PAD]"
    ) -> None:
        """Append tokens up to `length`."""
        self.fill(unsigned("length", length), Padding.of(direction, pad_id, pad_type_id, pad_token, None, None))

    def fill(self, length: int, padding: Padding) -> None:
        """Append tokens of `padding` up to `length`."""
        for other in self.overflowing:
            other.fill(length, padding)
        n = max(length - len(self), 0)
        added = Encoding.of([padding.pad_id] * n, padding.pad_type_id, [padding.pad_token] * n, special=1, attention=0)
        if padding.direction == "Left":
            self.sequence_ranges = {of: range(r.start + n, r.stop + n) for of, r in self.sequence_ranges.items()}
            parts = added, self
        else:
            parts = self, added
        for row in _ROWS:
            setattr(self, row, getattr(parts[0], row) + getattr(parts[1], row))


class Fixed(msgspec.Struct, frozen=True, rename={"length": "Fixed"}):
    """A length to pad to."""

    length: Count


class Padding(msgspec.Struct, frozen=True, kw_only=True):
    """The `padding` of tokenizer.json."""

    strategy: Literal["BatchLongest"] | Fixed
    direction: Direction
    pad_to_multiple_of: Count | None = None
    pad_id: Count = 0
    pad_type_id: Count = 0
    pad_token: str = "[PAD]"

    @staticmethod
    def of(direction: Any, pad_id: Any, pad_type_id: Any, pad_token: Any, length: Any, multiple: Any) -> Padding:
        """Return the settings of `enable_padding`; raise TypeError, OverflowError or ValueError."""
        return Padding(
            strategy="BatchLongest" if length is None else Fixed(unsigned("length", length)),
            pad_to_multiple_of=None if multiple is None else unsigned("pad_to_multiple_of", multiple),
            direction=written(one_of("direction", direction, DIRECTIONS)),
            pad_id=unsigned("pad_id", pad_id, 32),
            pad_type_id=unsigned("pad_type_id", pad_type_id, 32),
            pad_token=text("pad_token", pad_token),
        )

    @property
    def length(self) -> int | None:
        """Return the length to pad to; None for the longest of a batch."""
        return self.strategy.length if isinstance(self.strategy, Fixed) else None

    @property
    def options(self) -> dict[str, Any]:
        """Return the settings with the names that they have in `enable_padding`."""
        options = msgspec.structs.asdict(self) | {"length": self.length, "direction": self.direction.lower()}
        del options["strategy"]
        return options

    def fill(self, encodings: Sequence[Encoding]) -> None:
        """Pad all encodings to the same length."""
        length = max(map(len, encodings), default=0) if self.length is None else self.length
        if self.pad_to_multiple_of:
            length += -length % self.pad_to_multiple_of
        for encoding in encodings:
            encoding.fill(length, self)
