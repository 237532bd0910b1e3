"""The types of requests and answers. Knows no tokenizer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from harness.explanations import Step

MAX_BODY_BYTES = 4 << 20
MAX_TEXT_BYTES = 1 << 20
MAX_COLUMNS = 6
MAX_EXPLAINED_BYTES = 64 << 10
MAX_PIECE_CHARACTERS = 200
MAX_STEPPED_BYTES = 4096
MAX_UPLOAD_BYTES = 48 << 20

Name = Annotated[str, Meta(min_length=1, max_length=200)]


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A request, in which unknown fields are an error."""


class Column(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An implementation on a model."""

    implementation: Name
    model: Name


class EncodeRequest(_Strict):
    """A text, and the columns to encode it in."""

    text: str
    columns: Annotated[list[Column], Meta(min_length=1, max_length=MAX_COLUMNS)]
    pieces: bool | None = None
    """Whether to say where pieces begin; by default for texts of at most 256 KiB, as splitting takes time."""
    allow_special: bool = False
    """Whether special tokens in the text become their id."""


class ColumnAnswer(msgspec.Struct):
    """The result of one column for the text."""

    ids: list[int]
    spans: list[list[int] | None]
    """For each token: first byte, end byte, first code point, end code point; null if unknown. A character that a token
    cuts is included whole in its code points."""
    pieces: list[int] | None
    """The index of the token that begins each piece; null if not requested or unknown."""
    tokens: list[str] | None
    """The bytes of each token in hex, "" for the unknown token; null if they equal the bytes of their spans."""
    seconds: float | None
    """Time of encoding."""
    note: str
    error: str | None
    verdict: Literal["ok", "error", "unsupported", "timeout", "out-of-memory", "crash", "busy"] = "ok"


class ExplainRequest(_Strict):
    """Two columns and a text on which they may differ."""

    text: str
    columns: Annotated[list[Column], Meta(min_length=2, max_length=2)]


class StepsRequest(_Strict):
    """One piece of a text, to be merged step by step."""

    text: str
    model: Name
    piece: Annotated[int, Meta(ge=0, le=MAX_STEPPED_BYTES)] | None = None
    """Index of the piece, from 0; by default the longest one that can be shown."""


class State(msgspec.Struct):
    """The piece between two steps."""

    symbols: list[str]
    ids: list[int]
    ranks: list[int | None]
    """For each pair of neighbours the rank of its merge; null if they do not merge."""


class Derivation(msgspec.Struct):
    """The steps of one algorithm on the piece."""

    algorithm: str
    way: str
    """The rule in words."""
    steps: list[Step]
    states: list[State]
    """The states before the first step, and after each."""
    ids: list[int]
    reproduces: bool | None
    """Whether the implementation gives these ids; null if it cannot run the model."""


class StepsAnswer(msgspec.Struct):
    """Every algorithm on one piece."""

    pieces: list[str]
    piece: int
    derivations: list[Derivation]
    note: str = ""
    """Why there are no derivations."""


class TrainRequest(_Strict):
    """The training text and options."""

    text: str
    vocab_size: Annotated[int, Meta(ge=256, le=20_000)] = 1000
    pattern: Annotated[str, Meta(min_length=1, max_length=1000)] = "gpt2"
    ties: Literal["smallest", "first", "largest", "shortest"] = "smallest"


class HubRequest(_Strict):
    """A model of the Hugging Face hub."""

    name: Annotated[Name, Meta(pattern=r"^[\w.-]+/[\w.-]+$")]


class ModelAnswer(msgspec.Struct):
    """A model held in memory."""

    model: str
    """Its name, for use in columns."""
    label: str
    format: str
    vocab_size: int
    notes: list[str]


class TrainAnswer(msgspec.Struct):
    """What was learned."""

    merges: list[list[Any]]
    """[left, right, token, count, id] of each merge, in order."""
    model: ModelAnswer
