"""A target without a process: the same object behind the same operations, in this interpreter, for tests of checks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

from harness.conform.adapter import ObjectAdapter
from harness.conform.report import ConformanceReport
from harness.outcome import Outcome
from harness.process.limits import Limits
from harness.process.protocol import ErrorResult, MalformedAnswer, read_answer, request_line
from harness.process.session import Answer, Failed, FailedError

_ANSWER = json.JSONEncoder(default=lambda value: {"python type": type(value).__name__})


class InProcess:
    """Like `harness.process.session.Session`; after `close` it creates a new object."""

    peak_memory_bytes = 0
    pid = None
    limits = Limits(call_seconds=60.0)

    def __init__(self, make: Callable[[], Any], environment: Mapping[str, str]) -> None:
        self._make, self._environment = make, environment
        self._adapter: ObjectAdapter | None = None

    def _start(self) -> ObjectAdapter:
        with patch.dict(os.environ, self._environment):
            return ObjectAdapter(self._make)

    def close(self) -> None:
        self._adapter = None

    def ask(
        self, operation: str, *, seconds: float | None = None, shape: Any = Any, **arguments: Any
    ) -> Answer | Failed:
        arguments = json.loads(request_line(1, operation, arguments))
        del arguments["id"], arguments["op"]
        if self._adapter is None:
            self._adapter = self._start()
        try:
            return Answer(_sent(operation, self._adapter.answer(operation, arguments), shape))
        except FailedError as error:
            return error.failed
        except MalformedAnswer as error:
            return Failed(Outcome.PROTOCOL, str(error))
        except Exception as error:
            return Failed.by(ErrorResult(type(error).__name__, str(error)))
        except BaseException as error:
            return Failed(Outcome.PANIC, f"{type(error).__name__}: {error}")


def _sent(operation: str, answer: Any, shape: Any) -> Any:
    """Return an answer as it arrives by the line protocol."""
    return read_answer(_ANSWER.encode({"id": 1, "result": answer}).encode(), 1, operation, shape)


def the_failure(report: ConformanceReport) -> Any:
    """Return the first failure of a report that has one."""
    assert report.failed, [(verdict.check, verdict.status, verdict.reason) for verdict in report.verdicts]
    return report.failed[0]


def answering(answer: Callable[[str, dict[str, Any]], Any]) -> type[InProcess]:
    """Return a target of which some requests are answered by a function; where it gives None, by the object."""

    class Target(InProcess):
        peak_memory_bytes = 1 << 20

        def ask(self, operation: str, **arguments: Any) -> Any:
            self.peak_memory_bytes += len(arguments.get("text", "")) * 2_000
            answered = answer(operation, arguments)
            return super().ask(operation, **arguments) if answered is None else answered

    return Target
