"""The routes of the playground: requests become calls of worker processes, errors become problem+json."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

import impls
from harness.data import sample_parts
from harness.failures import describe, message_of
from harness.play import tasks
from harness.play.guard import Busy, Guard, body_of, problem
from harness.play.messages import (
    MAX_EXPLAINED_BYTES,
    MAX_STEPPED_BYTES,
    MAX_TEXT_BYTES,
    MAX_UPLOAD_BYTES,
    Column,
    ColumnAnswer,
    EncodeRequest,
    ExplainRequest,
    HubRequest,
    ModelAnswer,
    StepsRequest,
    TrainAnswer,
    TrainRequest,
)
from harness.play.spans import MOST_SPLIT_BYTES
from harness.play.steps import SHOWN
from harness.play.store import InitialView, Store
from harness.play.workers import Workers
from harness.process.session import FailedError
from impls.core.errors import BPEError, Missing, UnknownName, Unsupported
from impls.core.text.patterns import resolve

LIMIT_SECONDS = 5.0
TRAINING_SECONDS = 60.0
HUB_SECONDS = 120.0
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json"}

Asked = TypeVar("Asked")


class Playground:
    """State shared by the routes: the models that may be named, and the workers."""

    def __init__(
        self, store: Store, beginning: InitialView | None = None, limit_seconds: float = LIMIT_SECONDS
    ) -> None:
        """Store what the page shows at first, and the time limit of a column."""
        self.store, self.workers = store, Workers()
        self._beginning = beginning or store.beginning()
        self._seconds = limit_seconds

    def app(self) -> ASGIApp:
        """Return the application."""
        handlers = {HTTPException: _http_problem} | dict.fromkeys((BPEError, FailedError, Busy, Exception), _problem)
        app = Starlette(
            routes=[
                Route("/api/encode", self.encode, methods=["POST"]),
                Route("/api/explain", self.explain, methods=["POST"]),
                Route("/api/steps", self.steps, methods=["POST"]),
                Route("/api/train", self.train, methods=["POST"]),
                Route("/api/models", self.upload, methods=["POST"]),
                Route("/api/hub", self.hub, methods=["POST"]),
                Route("/api/models/{model}", self.download),
                Route("/api/choices", lambda _: _json(self.store.choices() | {"beginning": self._beginning})),
                Route("/api/samples", lambda _: _json(samples())),
                Route("/", partial(_file, "index.html")),
                *(Route(f"/{name}", partial(_file, name)) for name in page_files() if name != "index.html"),
            ],
            exception_handlers=handlers,  # type: ignore[arg-type]
            lifespan=self._lifespan,
        )
        app.router.redirect_slashes = False
        return Guard(app)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        reaping = asyncio.create_task(self.workers.reap())
        yield
        reaping.cancel()
        self.workers.close()

    async def encode(self, request: Request) -> Response:
        """Answer `EncodeRequest`: all columns at once, each with its own limit."""
        asked = await _read(request, EncodeRequest, MAX_TEXT_BYTES)
        pieces = len(asked.text.encode()) <= MOST_SPLIT_BYTES if asked.pieces is None else asked.pieces
        sources = self.store.sources(asked.columns)

        async def answer(column: Column, source: tuple[str, tasks.Source]) -> bytes:
            try:
                key = ("encode", column.implementation, column.model)
                arguments = asked.text, pieces, asked.allow_special
                return await self.workers.call(key, [source], tasks.encode, *arguments, seconds=self._seconds)
            except Exception as error:
                _, verdict, reason = _judged(error)
                return msgspec.json.encode(ColumnAnswer([], [], None, None, None, "", reason, verdict))

        answers = await asyncio.gather(*map(answer, asked.columns, sources))
        return _json_bytes(b'{"columns":[' + b",".join(answers) + b"]}")

    async def explain(self, request: Request) -> Response:
        """Answer `ExplainRequest`."""
        asked = await _read(request, ExplainRequest, MAX_EXPLAINED_BYTES)
        sources = self.store.sources(asked.columns)
        key = ("explain", *asked.columns)
        return _json_bytes(await self.workers.call(key, sources, tasks.explain, asked.text, seconds=4 * self._seconds))

    async def steps(self, request: Request) -> Response:
        """Answer `StepsRequest`."""
        asked = await _read(request, StepsRequest, MAX_STEPPED_BYTES)
        source = self.store.source(asked.model)
        sources = [(name, source) for name in SHOWN]
        arguments = sources, tasks.steps, asked.text, asked.piece
        return _json_bytes(await self.workers.call(("steps", asked.model), *arguments, seconds=4 * self._seconds))

    async def upload(self, request: Request) -> Response:
        """Hold a model file in memory, after a worker has read it successfully."""
        content = await body_of(request, "application/octet-stream", MAX_UPLOAD_BYTES)
        reading = self.workers.call("read", (), tasks.describe_file, content, seconds=4 * self._seconds)
        format, size, notes = await reading
        held = self.store.hold("file", request.query_params.get("label", ""), content)
        return _json(ModelAnswer(held.name, held.label, format, size, notes))

    async def hub(self, request: Request) -> Response:
        """Answer `HubRequest`: hold the model in memory, if the hub can be reached."""
        asked = await _read(request, HubRequest)
        content, size = await self.workers.call("read", (), tasks.from_hub, asked.name, seconds=HUB_SECONDS)
        held = self.store.hold("hub", asked.name, content)
        return _json(ModelAnswer(held.name, held.label, "bpebench", size, []))

    def download(self, request: Request) -> Response:
        """Return a model held in memory as a file."""
        held = self.store.held(request.path_params["model"])
        if held is None:
            raise HTTPException(404, "no such model is held in memory")
        headers = {"content-disposition": f'attachment; filename="{held.name.replace(":", "-")}.json"'}
        return Response(held.content, headers=headers, media_type="application/octet-stream")

    async def train(self, request: Request) -> Response:
        """Answer `TrainRequest`: learn a vocabulary and hold it in memory."""
        asked = await _read(request, TrainRequest, MAX_TEXT_BYTES)
        await asyncio.to_thread(resolve, asked.pattern)
        spec = impls.TrainingSpec(vocab_size=asked.vocab_size, pattern=asked.pattern, ties=asked.ties)
        training = self.workers.call("train", (), tasks.train, asked.text, spec, seconds=TRAINING_SECONDS)
        merges, content, size = await training
        held = self.store.hold("trained", f"trained here, {size:,} ids", content)
        return _json(TrainAnswer(merges, ModelAnswer(held.name, held.label, "bpebench", size, [])))


def page_files() -> dict[str, bytes]:
    """Return the files of the page by name."""
    return {file.name: file.read_bytes() for file in (files("harness.play") / "page").iterdir()}


def samples() -> dict[str, str]:
    """Return our own texts: the name of a language or kind -> text."""
    return {name: file.read_text(encoding="utf-8") for name, file in sample_parts().items() if file.suffix == ".txt"}


async def _read(request: Request, kind: type[Asked], most_bytes: int = MAX_TEXT_BYTES) -> Asked:
    """Return the body as a request; raise an HTTPException for one that is invalid, or whose text is too long."""
    body = await body_of(request, "application/json")
    try:
        asked = msgspec.json.decode(body, type=kind)
        n_bytes = len(getattr(asked, "text", "").encode())
    except msgspec.ValidationError as error:
        raise HTTPException(422, message_of(error)) from None
    except UnicodeEncodeError as error:
        raise HTTPException(422, f"the text has a lone surrogate at character {error.start}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON in UTF-8: {message_of(error)}") from None
    if n_bytes > most_bytes:
        raise HTTPException(413, f"the text has {n_bytes:,} bytes; at most {most_bytes:,} are accepted here")
    return asked


def _judged(error: Exception) -> tuple[int, Any, str]:
    """Return the HTTP status, the verdict of a column, and the reason for an error."""
    match error:
        case FailedError():
            return 503, error.failed.outcome, error.failed.reason
        case Busy():
            return 503, "busy", message_of(error)
        case BPEError():
            verdict = "unsupported" if isinstance(error, Unsupported | Missing) else "error"
            return 404 if isinstance(error, UnknownName) else 422, verdict, message_of(error)
    return 500, "error", describe(error)


def _http_problem(_: Request, error: HTTPException) -> Response:
    return problem(error.status_code, error.detail, dict(error.headers or {}))


def _problem(_: Request, error: Exception) -> Response:
    status, _verdict, reason = _judged(error)
    reason = reason if status != 500 else "the playground failed; its terminal says more"
    return problem(status, reason, {"retry-after": "1"} if isinstance(error, Busy) else None)


def _json(value: Any) -> Response:
    return _json_bytes(msgspec.json.encode(value))


def _json_bytes(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _file(name: str, _: Request) -> Response:
    return Response(page_files()[name], media_type=_KINDS["." + name.rpartition(".")[2]])
