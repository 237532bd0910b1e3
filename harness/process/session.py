"""A session with another process: `ask` always returns an `Answer` or a `Failed`, and a process that died is replaced.

`Session` drives a command over the protocol; `functions` starts one that calls functions of ours, which a library may
crash or hang without harm to us.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.outcome import Outcome
from harness.process.child import WATCH_SECONDS, Child
from harness.process.limits import DEFAULT_LIMITS, Limits, worker_limits
from harness.process.protocol import (
    CALL,
    ErrorResult,
    MalformedAnswer,
    python_command,
    read_answer,
    request_line,
)
from harness.process.protocol import Failed as Failed
from harness.process.protocol import FailedError as FailedError


class Answer(NamedTuple):
    """What the process answered."""

    value: Any

    def result(self) -> Any:
        """Return the value, where a `Failed` raises."""
        return self.value


class Session:
    """One process at a time, started on the first question and again after a death. Always `close` it."""

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits = DEFAULT_LIMITS,
        environment: Mapping[str, str] | None = None,
        *,
        echo: bool = False,
    ) -> None:
        """Remember `command`; `environment` is added to ours; with `echo` its standard error is copied to ours."""
        self.limits = limits
        self._command, self._environment, self._echo = list(command), {**os.environ, **(environment or {})}, echo
        self._child: Child | None = None
        self._asked: tuple[str, Any] = ("", Any)
        self._failed: Failed | None = None
        self.n_asked = 0
        """Number of questions put to the present process."""
        self._peak_memory_bytes = 0

    @property
    def peak_memory_bytes(self) -> int:
        """Return the highest resident memory of its processes so far."""
        if self._child is not None:
            self._peak_memory_bytes = max(self._peak_memory_bytes, self._child.peak_memory_bytes)
        return self._peak_memory_bytes

    @property
    def is_running(self) -> bool:
        """Return whether there is a process that has not failed."""
        return self._child is not None

    @property
    def has_ended(self) -> bool:
        """Return whether the process ended while nothing was asked of it."""
        return self._child is not None and self._child.has_ended

    @property
    def pid(self) -> int | None:
        """Return the id of its process; None if there is none."""
        return None if self._child is None else self._child.pid

    def ask(
        self, operation: str, *, seconds: float | None = None, shape: Any = Any, **arguments: Any
    ) -> Answer | Failed:
        """Return the answer to one request, of type `shape`; `seconds` is by default the limit of a call.

        Raises `NotStarted` if the command cannot be run.
        """
        self.begin(operation, seconds=seconds, shape=shape, **arguments)
        return self.wait()

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Answer | Failed:
        """Return what `function(*arguments)` returns in a process started by `functions`."""
        self.begin_call(function, *arguments, seconds=seconds)
        return self.wait()

    def begin_call(self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> None:
        """Begin a call, whose end `poll` or `wait` returns."""
        self.begin(CALL, seconds=seconds, shape=bytes, function=pickle.dumps((function, arguments)))

    def begin(self, operation: str, *, seconds: float | None = None, shape: Any = Any, **arguments: Any) -> None:
        """Send a request without waiting for the answer, which `poll` or `wait` returns. Raises `NotStarted`."""
        if self._child is None:
            self._child = Child(self._command, self.limits, self._environment, echo=self._echo)
            self.n_asked = 0
        self.n_asked += 1
        self._asked, self._failed = (operation, shape), None
        try:
            line = request_line(self.n_asked, operation, arguments)
            self._child.send(line, self.limits.call_seconds if seconds is None else seconds)
        except FailedError as error:
            self.kill()
            self._failed = error.failed

    def wait(self) -> Answer | Failed:
        """Wait for the answer."""
        while (answer := self.poll(WATCH_SECONDS)) is None:
            pass
        return answer

    def poll(self, wait_seconds: float = 0.0) -> Answer | Failed | None:
        """Return the answer, or None if there is none within `wait_seconds`."""
        if self._failed is not None:
            return self._failed
        assert self._child is not None, "nothing was asked"
        operation, shape = self._asked
        try:
            if (line := self._child.poll(wait_seconds)) is None:
                return None
            answer = read_answer(line, self.n_asked, operation, shape)
        except FailedError as error:
            self.kill()
            return error.failed
        except MalformedAnswer as error:
            self.close()
            return Failed(Outcome.PROTOCOL, str(error))
        if not isinstance(answer, ErrorResult):
            return Answer(pickle.loads(answer) if operation == CALL else answer)
        failed = Failed.by(answer)
        if failed.outcome.ends_process:
            self.close()
        return failed._replace(pickled_error=answer.raised) if operation == CALL else failed

    def fileno(self) -> int:
        """Return a descriptor that is readable when `poll` has something to do."""
        assert self._child is not None, "nothing was asked"
        return self._child.fileno()

    def kill(self) -> None:
        """End the process at once; the next question starts another."""
        self._end(Child.kill)

    def close(self) -> None:
        """Let the process end; the next question starts another."""
        self._end(Child.close)

    def _end(self, end: Callable[[Child], None]) -> None:
        child, self._child = self._child, None
        if child is not None:
            end(child)
            self._peak_memory_bytes = max(self._peak_memory_bytes, child.peak_memory_bytes)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close() if kind is None else self.kill()


def functions(
    limits: Limits | None = None, environment: Mapping[str, str] | None = None, *, echo: bool = False
) -> Session:
    """Return a session with a process that calls functions, under the limits of a process of ours."""
    return Session(python_command("harness.process.protocol"), limits or worker_limits(), environment, echo=echo)
