"""The data of an explanation: two derivations of one text, the first stage that differs, and the evidence.

Passed from `harness.explain`, which finds it, to `harness.report`, which shows it. The content of tokens is stored as
readable text, since a token need not be UTF-8.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Stage = Literal[
    "failure", "determinism", "special tokens", "normalisation", "pieces", "unicode version", "pieces or merges",
    "merges", "vocabulary", "decode",
]  # fmt: skip
"""Every stage, in the order a text passes through them (Unicode version: a reason why pieces differ); METHODOLOGY says
what each means."""

PiecesFrom = Literal["reported", "pattern", "unknown"]
PIECES_FROM: dict[PiecesFrom, str] = {
    "reported": "reported by the implementation itself",
    "pattern": "its pattern, run by the package regex; no token crosses a cut",
    "unknown": "not known; shown cut only where the other side cuts between two of its tokens",
}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a derivation within one piece."""

    number: int
    """Number of the step, from 1."""
    action: Literal["merge", "whole piece", "longest", "take", "back"]
    at: int
    """UTF-8 byte of the piece at which the result begins."""
    left: str = ""
    """Readable text of the left part (or of the token taken)."""
    right: str = ""
    rank: int | None = None
    """Rank of the merge; under the rule `concatenation`, the id of the result."""
    result: str = ""
    result_id: int
    round: int = 0
    """For implementations that work in rounds: the round, from 1."""
    symbols: tuple[str, ...] = ()
    """The symbols of the piece after this step."""
    note: str = ""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token in the text."""

    id: int
    text: str | None
    """Readable text; None if the bytes of the id are unknown."""
    start: int
    """Offset in UTF-8 bytes of the text the merges see."""
    end: int


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece and its tokens."""

    text: str
    start: int
    """Offset in UTF-8 bytes of the text the merges see."""
    end: int
    tokens: tuple[Token, ...] = ()
    special: bool = False
    differs: bool = False
    """Whether this is the piece in which the two sides first differ."""


class SideSummary(msgspec.Struct, kw_only=True):
    """One side: its results for the text, stage by stage."""

    name: str
    model: str = ""
    """Name or file of the vocabulary it was given; empty for a model file, which brings its own."""
    about: str = ""
    """What is known about it: its rules and its algorithm."""
    error: str | None = None
    ids: list[int] = msgspec.field(default_factory=list)
    seen: str | None = None
    """Readable text the merges saw, special tokens left out."""
    rewriting: str = ""
    """How it rewrote the text before cutting it; empty if unchanged."""
    special: list[str] = msgspec.field(default_factory=list)
    """Special and added tokens it recognised, with their offsets."""
    pieces: list[Piece] = msgspec.field(default_factory=list)
    """The pieces around the first difference, or all of a short text."""
    pieces_left_out: int = 0
    pieces_from: PiecesFrom = "unknown"
    steps: list[Step] = msgspec.field(default_factory=list)
    """Steps of the piece in which the sides differ."""
    way: str = ""
    """The algorithm whose steps give these ids, or a statement that no known one does."""
    steps_give_its_ids: bool | None = None
    """Whether the steps end in the side's ids; None if there are no steps."""
    decoded: str | None = None


class Explanation(msgspec.Struct, kw_only=True):
    """Two summaries of one text, and where they differ."""

    text: str
    """Readable form of the text."""
    agree: bool | None
    """None if both sides refuse the text, so that nothing was compared."""
    stage: Stage | None = None
    """The first stage that differs; None if none does."""
    what: str = ""
    """The difference in one sentence."""
    where: int | None = None
    """Character of the text at which the first differing token starts; None if unknown."""
    step: int | None = None
    """For merges: the first step that differs, from 1."""
    rank: int | None = None
    """For merges: the rank of that step, on the side that takes it."""
    evidence: list[str] = msgspec.field(default_factory=list)
    """The evidence for the verdict, one line each."""
    a: SideSummary
    b: SideSummary


class Trace(msgspec.Struct, kw_only=True):
    """Every step of one implementation on one text."""

    name: str
    model: str
    text: str
    way: str
    ids: list[int]
    pieces: list[TracedPiece]
    reproduces: bool
    """Whether the steps end in exactly the ids that the implementation gives."""


class TracedPiece(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of one piece."""

    text: str
    symbols: tuple[str, ...]
    """Symbols before the first step."""
    steps: tuple[Step, ...]
    ids: tuple[int, ...]
    """The ids the steps end in."""
    reproduces: bool
    note: str = ""
    """Why the implementation skips these steps, if it does."""
