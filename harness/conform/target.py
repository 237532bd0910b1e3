"""A target under test: a process that answers over the line protocol, and may misbehave in any way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harness.conform import protocol
from harness.conform.protocol import REQUIRED, Description, ErrorResult, MalformedAnswer
from harness.failures import reason_of
from harness.outcome import Outcome
from harness.process.child import Child
from harness.process.limits import DEFAULT_LIMITS, Limits, NotStarted, Stopped, without_paths
from harness.targets.spec import NotLoadable, TargetSpec


class TargetError(Exception):
    """The target answered with an error of its own; its process continues."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind, self.message = kind, message
        super().__init__(f"{kind}: {message}" if message else kind)


class TargetFailed(Exception):
    """A verdict instead of an answer; the process and all its descendants have been ended."""

    def __init__(self, verdict: Outcome, reason: str) -> None:
        self.verdict, self.reason = verdict, reason
        super().__init__(f"{verdict}: {reason}")


class Target:
    """A target's process. Always `close` it, or use it in a `with` statement; `restart` it after a failure."""

    description: Description

    def __init__(self, spec: TargetSpec, limits: Limits = DEFAULT_LIMITS, env: Mapping[str, str] | None = None) -> None:
        """Start the process, with the variables `env` added to our environment.

        Raises `NotLoadable`, or `TargetFailed` if it hangs or dies.
        """
        self.spec, self.limits = spec, limits
        self._environment = {**os.environ, **(env or {})}
        self._n_requests = 0
        self._is_new = True
        self._start()

    def _start(self) -> None:
        try:
            self._child = Child(self.spec.command(), self.limits, self._environment)
        except NotStarted as error:
            raise self._unloadable(str(error)) from None
        try:
            described = self.call("describe", seconds=self.limits.start_seconds)
        except TargetError as error:
            if self.spec.kind != "command":
                self.close()
                raise self._unloadable(error.message) from None
            described = Description()  # a command need not support `describe`
        self.description = msgspec.structs.replace(
            described, name=described.name or self.spec.name, operations=described.operations | REQUIRED
        )
        self._is_new = False

    def _unloadable(self, reason: str) -> NotLoadable | TargetFailed:
        """Return the error for a target that does not start: `TargetFailed` if it has been loaded before."""
        return NotLoadable(f"{self.spec.name}: {reason}") if self._is_new else TargetFailed(Outcome.CRASH, reason)

    def restart(self) -> None:
        """Continue in a fresh process. Raises `TargetFailed` if it does not start again."""
        self.close()
        self._start()

    # --- requests ------------------------------------------------------------------------------------------

    def call(self, operation: str, seconds: float | None = None, **arguments: Any) -> Any:
        """Return the result of one operation. Raises `TargetError` or `TargetFailed`."""
        self._n_requests += 1
        request = protocol.request_line(self._n_requests, operation, arguments)
        try:
            line = self._child.exchange(request, self.limits.call_seconds if seconds is None else seconds)
        except Stopped as stopped:
            ended = stopped.outcome is Outcome.CRASH and stopped.exit_status is not None and stopped.exit_status >= 0
            if ended and self._is_new:
                raise self._unloadable(stopped.reason) from None
            raise TargetFailed(stopped.outcome, stopped.reason) from None
        try:
            found = protocol.read_answer(line, self._n_requests, operation)
        except MalformedAnswer as error:
            raise self._fail(Outcome.PROTOCOL, str(error)) from None
        if isinstance(found, ErrorResult):
            raise self._error(found)
        return found

    def _error(self, failure: ErrorResult) -> TargetError | TargetFailed:
        message = without_paths(failure.message)
        if failure.status == "error":
            return TargetError(failure.error, message)
        return self._fail(Outcome(failure.status), reason_of(Outcome(failure.status), failure.error, message))

    def _fail(self, verdict: Outcome, reason: str) -> TargetFailed:
        self.close()
        return TargetFailed(verdict, reason)

    def encode(self, text: str, **options: Any) -> list[int]:
        """Return the ids of `text`; `options` may be `allowed_special` and `disallowed_special`."""
        ids: list[int] = self.call("encode", text=text, **options)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of `ids`."""
        text: str = self.call("decode", ids=list(ids))
        return text

    def encode_each(self, texts: Sequence[str], **options: Any) -> list[list[int] | TargetError]:
        """Return the ids of each text, or its error, in as few requests as the target allows. Raises `TargetFailed`."""
        found: list[list[int] | TargetError] = []
        if "encode_each" not in self.description.operations:
            for text in texts:
                try:
                    found.append(self.encode(text, **options))
                except TargetError as error:
                    found.append(error)
            return found
        while len(found) < len(texts):
            left = list(texts[len(found) :])
            answers = self.call("encode_each", texts=left, seconds_left=self.limits.call_seconds / 2, **options)
            if not 0 < len(answers) <= len(left):
                raise self._fail(Outcome.PROTOCOL, f"encode_each: {len(answers)} answers to {len(left)} texts")
            for answer in answers:
                if not isinstance(answer, ErrorResult):
                    found.append(answer)
                    continue
                failure = self._error(answer)
                if isinstance(failure, TargetFailed):
                    raise failure
                found.append(failure)
        return found

    # --- its process ---------------------------------------------------------------------------------------

    @property
    def peak_memory_bytes(self) -> int:
        """Return the peak memory in bytes of the process and its descendants, also after it has ended."""
        return self._child.peak_memory_bytes

    def close(self) -> None:
        """End its process."""
        self._child.close()

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
