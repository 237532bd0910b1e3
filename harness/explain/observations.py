"""Observations of a side on a text: its ids, the bytes of each token, what the merges saw, special tokens and cuts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TypeVar

from harness.explain.sides import Side
from harness.explanations import PiecesFrom, Stage
from harness.failures import describe
from harness.printable import quoted
from impls.core.text.text import repair_surrogates

T = TypeVar("T")
Span = tuple[int, int]
"""The UTF-8 bytes at which a piece begins and ends."""


@dataclass(slots=True)
class StageDifference:
    """The first stage in which two sides differ, and why."""

    stage: Stage
    what: str
    evidence: list[str] = field(default_factory=list)
    byte: int | None = None
    """Where the difference begins, as a byte offset in the text the merges see."""
    step: int | None = None
    rank: int | None = None


@dataclass(slots=True)
class Special:
    """A special or added token that was recognised."""

    index: int
    """Index of the token in the ids."""
    id: int
    text: str
    offset: int
    """Offset in characters of the text."""

    def __str__(self) -> str:
        return f"{quoted(self.text)} (id {self.id}) at character {self.offset}"


@dataclass
class Observation:
    """The observed results of one side on one text."""

    side: Side
    text: str
    """The text, with surrogates repaired."""
    ids: list[int] = field(default_factory=list)
    error: str | None = None
    again: list[int] | None = None
    """The ids of a second call, if they differ."""
    tokens: list[bytes | None] = field(default_factory=list)
    specials: list[Special] = field(default_factory=list)
    declared: str | None = None
    """What the merges should see according to the side's normaliser and pieces, special tokens included."""
    cuts: list[int] | None = None
    """UTF-8 bytes of `seen` at which a piece begins or ends, 0 and the end included; None if unknown."""
    pieces_from: PiecesFrom = "unknown"

    @property
    def name(self) -> str:
        """Return the name of the side."""
        return self.side.name

    @property
    def seen(self) -> bytes | None:
        """Return the bytes of all tokens joined; None if one is unknown."""
        known = [token for token in self.tokens if token is not None]
        return b"".join(known) if len(known) == len(self.tokens) else None

    @property
    def borders(self) -> list[int]:
        """Return the byte at which each token begins, and the end; empty if a token is unknown."""
        lengths = [len(token) for token in self.tokens if token is not None]
        return [0, *accumulate(lengths)] if len(lengths) == len(self.tokens) else []

    @property
    def spelled(self) -> str:
        """Return the text its tokens spell or, if one is unknown, what the side decodes its ids to."""
        return decoded(self) if self.seen is None else self.seen.decode("utf-8", "replace")

    def character(self, byte: int) -> int | None:
        """Return the character of the text that holds the given byte; None unless the merges see the text unchanged."""
        content = self.text.encode()
        return len(content[:byte].decode("utf-8", "ignore")) if self.seen == content else None

    def piece(self, span: Span) -> str:
        """Return the text of a piece as the merges see it."""
        return (self.seen or b"")[slice(*span)].decode("utf-8", "replace")

    def piece_at(self, byte: int) -> Span | None:
        """Return (start, end) of the piece that holds this byte."""
        if self.cuts is None or byte >= self.cuts[-1]:
            return None
        k = bisect_right(self.cuts, byte)
        return self.cuts[k - 1], self.cuts[k]

    def ids_between(self, start: int, end: int) -> list[int] | None:
        """Return the ids of the tokens between two bytes; None if a token crosses one of them."""
        borders = self.borders
        if start not in borders or end not in borders:
            return None
        return self.ids[borders.index(start) : borders.index(end)]

    def crossed(self, byte: int) -> bytes | None:
        """Return the token that crosses this byte, or None where a token begins here."""
        borders = self.borders
        k = bisect_right(borders, byte) - 1
        return None if k >= len(self.tokens) or borders[k] == byte else self.tokens[k]


def _tried(call: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    """Return the result or the error; even a Rust panic, which is not an Exception, is caught, but not an interrupt."""
    try:
        return call(), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error


def ask(side: Side, text: str) -> tuple[list[int] | None, str | None]:
    """Return (ids, None) or (None, error) of encoding `text`."""
    ids, error = _tried(lambda: [int(i) for i in side.encode(text)])
    return ids, None if error is None else describe(error)


def observe(side: Side, text: str) -> Observation:
    """Encode `text` twice with `side` and look up the tokens; `resolve` adds what depends on the other side."""
    observation = Observation(side, repair_surrogates(text))
    ids, observation.error = ask(side, text)
    if ids is None:
        return observation
    observation.ids = ids
    again, error = ask(side, text)
    if again != ids:
        observation.again = again
        observation.error = f"the second call raised {error}" if error else None
    known = {i: _tried(partial(side.token, i))[0] for i in dict.fromkeys(ids)}
    observation.tokens = [known[i] for i in ids]
    return observation


def decoded(observation: Observation) -> str:
    """Return what the side decodes its own ids to, or the error it raises."""
    text, error = _tried(lambda: observation.side.decode(observation.ids))
    return text if text is not None else f"{type(error).__name__}: {error}"


def resolve(observation: Observation, whole_tokens: Mapping[str, int]) -> None:
    """Fill in the special tokens (those in `whole_tokens`), the text the side declares it sees, and its cuts."""
    text_of = {i: text for text, i in whole_tokens.items()}
    observation.specials = list(_specials(observation, text_of))
    side = observation.side
    if side.split is None and side.normalize is None:
        return
    try:
        pieces = list(_declared_pieces(observation))
    except Exception:  # a pattern does not cover the text, or an engine gives up: pieces unknown
        return
    observation.declared = "".join(pieces)
    if side.split is None or observation.declared.encode() != observation.seen:
        return
    cuts = [0, *accumulate(len(piece.encode()) for piece in pieces if piece)]
    if set(cuts) <= set(observation.borders):  # else the side cuts elsewhere, whatever it declares
        observation.cuts, observation.pieces_from = cuts, side.split_by


def _specials(observation: Observation, text_of: Mapping[int, str]) -> Iterator[Special]:
    at = 0
    for index, i in enumerate(observation.ids):
        if i in text_of and (offset := observation.text.find(text_of[i], at)) >= 0:
            yield Special(index, i, text_of[i], offset)
            at = offset + len(text_of[i])


def _declared_pieces(observation: Observation) -> Iterator[str]:
    """Yield the pieces by the side's own normaliser and splitting, special tokens included."""
    side, at = observation.side, 0
    for special in [*observation.specials, None]:
        end = len(observation.text) if special is None else special.offset
        segment = observation.text[at:end]
        normalised = side.normalize(segment) if side.normalize is not None else segment
        yield from side.split(normalised) if side.split is not None else [normalised]
        if special is not None:
            yield special.text
            at = end + len(special.text)
