"""A target without a process: the same object behind the same operations, in this interpreter, for tests of checks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from harness.conform import protocol
from harness.conform.adapter import ObjectAdapter
from harness.conform.target import TargetError, TargetFailed
from harness.process.limits import Limits

_ANSWER = json.JSONEncoder(default=lambda value: {"python type": type(value).__name__})


class InProcess:
    """Like `harness.conform.target.Target`; a restart creates a new object."""

    peak_memory_bytes = 0
    limits = Limits(call_seconds=60.0)

    def __init__(self, make: Callable[[], Any], environment: Mapping[str, str]) -> None:
        self._make, self._environment = make, environment
        self.restart()

    def restart(self) -> None:
        before = dict(os.environ)
        os.environ.update(self._environment)
        try:
            self._adapter = ObjectAdapter(self._make())
        finally:
            os.environ.clear()
            os.environ.update(before)
        described = self._adapter.describe()
        self.description = protocol.Description(
            name=described["info"]["type"],
            operations=frozenset(described["operations"]),
            special_tokens=described["special_tokens"],
            n_vocab=described["n_vocab"],
            info=described["info"],
        )

    def call(self, operation: str, seconds: float | None = None, **arguments: Any) -> Any:
        arguments = json.loads(protocol.request_line(1, operation, arguments))
        del arguments["id"], arguments["op"]
        return _sent(operation, self._answer(operation, arguments))

    def encode_each(self, texts: list[str]) -> list[Any]:
        found: list[Any] = []
        for text in texts:
            try:
                found.append(self._answer("encode", {"text": text}))
            except TargetError as error:
                found.append(error)
        # Sent together: a line a text is most of what many short texts cost.
        ids = _sent("encode_batch", [[] if isinstance(one, TargetError) else one for one in found])
        return [one if isinstance(one, TargetError) else sent for one, sent in zip(found, ids, strict=True)]

    def _answer(self, operation: str, arguments: dict[str, Any]) -> Any:
        try:
            return self._adapter.answer(operation, arguments)
        except TargetFailed:  # how a target here says that its process died
            raise
        except Exception as error:
            raise TargetError(type(error).__name__, str(error)) from None
        except BaseException as error:
            raise TargetFailed("panic", f"{type(error).__name__}: {error}") from None

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _sent(operation: str, answer: Any) -> Any:
    """Return an answer as it arrives by the line protocol."""
    line = _ANSWER.encode({"id": 1, "result": answer})
    try:
        return protocol.read_answer(line.encode(), 1, operation)
    except protocol.MalformedAnswer as error:
        raise TargetFailed("protocol", str(error)) from None
