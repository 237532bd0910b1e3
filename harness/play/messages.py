"""The types of requests and answers, and the OpenAPI description made of them. Knows no tokenizer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from harness.explanations import Explanation, Step

MAX_BODY_BYTES = 4 << 20
MAX_TEXT_BYTES = 1 << 20
MAX_COLUMNS = 6
MAX_EXPLAINED_BYTES = 64 << 10
MAX_PIECE_CHARACTERS = 200
MAX_STEPPED_BYTES = 4096
MAX_UPLOAD_BYTES = 48 << 20

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=MAX_TEXT_BYTES, description="At most 1 MiB of UTF-8.")]


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A request, in which unknown fields are an error."""


class Column(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An implementation on a model."""

    implementation: Annotated[Name, Meta(examples=["compiled"])]
    model: Annotated[Name, Meta(examples=["o200k_base"])]


class EncodeRequest(_Strict):
    """A text, and the columns to encode it in."""

    text: Text
    columns: Annotated[list[Column], Meta(min_length=1, max_length=MAX_COLUMNS)]
    pieces: bool | None = None
    """Whether to say where pieces begin; by default for texts of at most 256 KiB, as splitting takes time."""
    allow_special: bool = False
    """Whether special tokens in the text become their id."""


class ColumnAnswer(msgspec.Struct):
    """The result of one column for the text."""

    ids: list[int]
    spans: list[Annotated[list[int], Meta(min_length=4, max_length=4)] | None]
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


class EncodeAnswer(msgspec.Struct):
    """One answer per column, in order."""

    columns: list[ColumnAnswer]


class ExplainRequest(_Strict):
    """Two columns and a text on which they may differ."""

    text: Annotated[str, Meta(max_length=MAX_EXPLAINED_BYTES, description="At most 64 KiB of UTF-8.")]
    columns: Annotated[list[Column], Meta(min_length=2, max_length=2)]


class DropoutChoice(_Strict):
    """Which merges are dropped at random; equal seeds drop the same merges."""

    probability: Annotated[float, Meta(ge=0, le=1)]
    seed: Annotated[int, Meta(ge=0, le=2**53)] = 0


class StepsRequest(_Strict):
    """One piece of a text, to be merged step by step."""

    text: Annotated[str, Meta(max_length=MAX_STEPPED_BYTES)]
    model: Name
    piece: Annotated[int, Meta(ge=0, le=MAX_STEPPED_BYTES)] | None = None
    """Index of the piece, from 0; by default the longest one that can be shown."""
    dropout: DropoutChoice | None = None


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

    text: Text
    vocab_size: Annotated[int, Meta(ge=256, le=20_000)] = 1000
    pattern: Annotated[str, Meta(min_length=1, max_length=1000, examples=["gpt2"])] = "gpt2"
    ties: Literal["smallest", "first", "largest", "shortest"] = "smallest"


class HubRequest(_Strict):
    """A model of the Hugging Face hub."""

    name: Annotated[Name, Meta(pattern=r"^[\w.-]+/[\w.-]+$", examples=["openai-community/gpt2"])]


class ModelAnswer(msgspec.Struct):
    """A model held in memory."""

    model: str
    """Its name, for use in columns."""
    label: str
    format: str
    vocab_size: int
    notes: list[str]


class Problem(msgspec.Struct):
    """An error as defined by RFC 9457."""

    status: int
    title: str
    detail: str
    type: str = "about:blank"


_ENDPOINTS: tuple[tuple[str, str, str, Any, Any, tuple[int, ...]], ...] = (
    ("/api/encode", "post", "Encode a text by one to six columns.", EncodeRequest, EncodeAnswer, (404, 422)),
    ("/api/explain", "post", "Say where two columns differ, and why.", ExplainRequest, Explanation, (404, 422, 503)),
    ("/api/steps", "post", "Merge one piece step by step.", StepsRequest, StepsAnswer, (404, 422, 503)),
    ("/api/train", "post", "Train; server-sent events merges, plateau, model, error.", TrainRequest, None, (422, 503)),
    ("/api/models", "post", "Hold a model file in memory, to be used in columns.", bytes, ModelAnswer, (422, 503)),
    ("/api/hub", "post", "Hold a model of the Hugging Face hub in memory.", HubRequest, ModelAnswer, (422, 503)),
    ("/api/models/{model}", "get", "A model held in memory, as a file.", None, bytes, (404,)),
    ("/api/choices", "get", "The implementations and models of columns.", None, dict[str, Any], ()),
    ("/api/samples", "get", "Texts in many languages.", None, dict[str, str], ()),
    ("/api/openapi.json", "get", "This description.", None, dict[str, Any], ()),
)


def openapi() -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of the API."""
    types = [kind for *_, request, answer, _ in _ENDPOINTS for kind in (request, answer) if kind not in (None, bytes)]
    schemas, components = msgspec.json.schema_components([*types, Problem], ref_template="#/components/schemas/{name}")
    of = dict(zip(map(str, [*types, Problem]), schemas, strict=True))
    paths: dict[str, Any] = {}
    for path, method, summary, request, answer, statuses in _ENDPOINTS:
        errors = (400, 403, *statuses) if request is None else (400, 403, 408, 413, 415, *statuses)
        responses = {str(status): _content("application/problem+json", of[str(Problem)]) for status in errors}
        if answer is None:
            found = _content("text/event-stream", {})
        elif answer is bytes:
            found = _content("application/octet-stream", {})
        else:
            found = _content("application/json", of[str(answer)])
        operation: dict[str, Any] = {"summary": summary, "responses": {"200": found, **responses}}
        if request is bytes:
            label = {"name": "label", "in": "query", "schema": {"type": "string", "maxLength": 200}}
            operation |= {"parameters": [label], "requestBody": _content("application/octet-stream", {}, required=True)}
        elif request is not None:
            operation["requestBody"] = _content("application/json", of[str(request)], required=True)
        if "{model}" in path:
            operation["parameters"] = [{"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}]
        paths[path] = {method: operation}
    return {
        "openapi": "3.1.0",
        "info": {"title": "bpebench play", "version": "1", "description": "Tokenizers of this machine, side by side."},
        "paths": paths,
        "components": {"schemas": components},
    }


def _content(media_type: str, schema: Any, **more: Any) -> dict[str, Any]:
    described = {} if more else {"description": media_type}
    return {**described, "content": {media_type: {"schema": schema}}, **more}
