"""What an explanation is: two derivations of one text, the first stage in which they part, and how that is known.

Neutral data between `harness.explain`, which finds it, and `harness.report`, which shows it. Everything a token
holds is written as `Text`, since a token need not be UTF-8.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Stage = Literal[
    "failure", "determinism", "special tokens", "normalisation", "pieces", "unicode version", "merges", "vocabulary",
    "decode",
]  # fmt: skip
STAGES: dict[Stage, str] = {
    "failure": "one side does not encode the text, or not the same way twice over",
    "determinism": "one side gives other ids when it is asked again",
    "special tokens": "one side takes a part of the text as a special or added token, the other as text",
    "normalisation": "the text is rewritten before it is cut: a normal form, a space before it, dropped characters",
    "pieces": "the text is cut into other pieces",
    "unicode version": "the pieces differ because a character is newer than one of the engines",
    "merges": "the same piece is merged otherwise",
    "vocabulary": "the same bytes have another id, or no token, on one side",
    "decode": "the ids are equal and are decoded to other texts",
}
"""Every stage, in the order a text runs through them (Unicode version: a reason why pieces differ)."""

Certainty = Literal["certain", "inferred"]
PiecesFrom = Literal["told", "pattern", "inferred", "unknown"]
PIECES_FROM: dict[PiecesFrom, str] = {
    "told": "told by the implementation itself",
    "pattern": "its pattern, run by the package regex; no token crosses a cut",
    "inferred": "inferred from its answers",
    "unknown": "not known",
}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a derivation within one piece."""

    number: int
    """From 1."""
    action: Literal["merge", "whole piece", "longest", "take", "back"]
    at: int
    """UTF-8 byte of the piece at which the result begins."""
    left: str = ""
    """Readable text of the left part (or of the token taken)."""
    right: str = ""
    rank: int | None = None
    """Rank of the merge; under the rule `concatenation` that is the id of the result."""
    result: str = ""
    result_id: int | None = None
    round: int = 0
    """Of implementations that work in rounds: which one, from 1."""
    symbols: tuple[str, ...] = ()
    """The piece after this step."""
    note: str = ""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token as it stands in the text."""

    id: int
    text: str | None
    """Readable text; None where the bytes of the id are not known."""
    start: int
    """UTF-8 byte of the text the merges see."""
    end: int


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece and its tokens."""

    text: str
    start: int
    """UTF-8 byte of the text the merges see."""
    end: int
    tokens: tuple[Token, ...] = ()
    special: bool = False
    differs: bool = False
    """Whether this is the piece in which the two sides first part."""


class Account(msgspec.Struct, kw_only=True):
    """One side: what it made of the text, stage by stage."""

    name: str
    about: str = ""
    """What is known about it: its rules, and by which way it works."""
    error: str | None = None
    ids: list[int] = msgspec.field(default_factory=list)
    seen: str | None = None
    """Readable text the merges saw, special tokens left out."""
    rewriting: str = ""
    """What it did to the text before it was cut; empty for nothing."""
    special: list[str] = msgspec.field(default_factory=list)
    """Special and added tokens it recognised, with their place."""
    pieces: list[Piece] = msgspec.field(default_factory=list)
    """The pieces around the first difference, or all of a short text."""
    pieces_left_out: int = 0
    pieces_from: PiecesFrom = "unknown"
    steps: list[Step] = msgspec.field(default_factory=list)
    """Of the piece in which the sides part."""
    way: str = ""
    """How the steps were made: the rule that gives these ids, or that none known does."""
    steps_give_its_ids: bool | None = None
    """Whether the steps end in the ids of the side; None where there are none."""
    decoded: str | None = None


class Explanation(msgspec.Struct, kw_only=True):
    """Two accounts of one text, and where they part."""

    text: str
    """Readable."""
    agree: bool | None
    """None where both sides refuse the text: nothing of theirs was compared."""
    stage: Stage | None = None
    """The first stage that differs; None where there is none."""
    what: str = ""
    """One sentence: what differs there."""
    where: int | None = None
    """Character of the text at which the first token stands that differs; None where that is not known."""
    step: int | None = None
    """Of merges: the first step that differs, from 1."""
    rank: int | None = None
    """Of merges: the rank of that step, on the side that takes it."""
    certainty: Certainty = "certain"
    evidence: list[str] = msgspec.field(default_factory=list)
    """What the verdict rests on, a line each."""
    a: Account
    b: Account


class Trace(msgspec.Struct, kw_only=True):
    """Every step of one implementation on one text."""

    name: str
    model: str
    text: str
    way: str
    ids: list[int]
    pieces: list[TracedPiece]
    reproduces: bool
    """Whether the steps end in the very ids the implementation gives."""


class TracedPiece(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of one piece."""

    text: str
    symbols: tuple[str, ...]
    """Before the first step."""
    steps: tuple[Step, ...]
    ids: tuple[int, ...]
    """The ids the steps end in."""
    reproduces: bool
    note: str = ""
    """Why the implementation does not go these steps, where it does not need to."""
