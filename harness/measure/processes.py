"""A worker process from its parent's side: start it, send requests, enforce the limits on it.

Knows the protocol; knows no task.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.measure import placement
from harness.measure.protocol import PROTOCOL, Failed, Reply, Request
from harness.process.child import Child
from harness.process.limits import Stopped, without_paths, worker_limits
from harness.process.protocol import python_command

OPEN_SECONDS = 120.0
"""Limit on importing an implementation and building it on a model."""

Answer = TypeVar("Answer", bound=Reply)


class WorkerFailed(Exception):
    """A request ended in a verdict instead of an answer; `dead` says whether the worker died too."""

    def __init__(self, failed: Failed, *, dead: bool) -> None:
        self.failed, self.dead = failed, dead
        super().__init__(f"{failed.status}: {failed.reason}")


class WorkerProcess:
    """One worker process. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        *,
        threads: int = 1,
        hash_seed: int = 0,
        memory_limit_bytes: int | None = None,
        temporary: Path | None = None,
    ) -> None:
        """Start the process; `hash_seed` fixes the order of Python's sets, so that a repeated run is the same.

        Its temporary files go to the folder `temporary`, whose owner can remove what a killed worker left.
        """
        environment = os.environ | placement.thread_environment(threads)
        environment["PYTHONHASHSEED"] = str(hash_seed % 2**32)
        environment["PYTHONUNBUFFERED"] = "1"
        if temporary is not None:
            environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
        self._child = Child(python_command("harness.measure.worker"), worker_limits(memory_limit_bytes), environment)
        self.kill, self.close = self._child.kill, self._child.close

    def ask(self, request: Request, kind: type[Answer], *, seconds: float) -> Answer:
        """Return the reply to `request`; raise `WorkerFailed` with the verdict where none comes within `seconds`."""
        try:
            reply = PROTOCOL.reply(self._child.exchange(PROTOCOL.request_line(request), seconds))
        except Stopped as stopped:
            raise WorkerFailed(Failed(status=stopped.status, reason=stopped.reason), dead=True) from None
        if isinstance(reply, Failed):
            raise WorkerFailed(msgspec.structs.replace(reply, reason=without_paths(reply.reason)), dead=False)
        if not isinstance(reply, kind):
            self.kill()
            failed = Failed(
                status="crash", reason=f"the worker answered {type(reply).__name__} to {type(request).__name__}"
            )
            raise WorkerFailed(failed, dead=True)
        return reply

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.close()
