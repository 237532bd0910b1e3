"""A worker process from its parent's side: start it, send requests, enforce the limits on it.

Knows the protocol; knows no task.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TypeVar

from harness.measure import placement
from harness.measure.protocol import Failed, Reply, Request, reply_decoder, to_line
from harness.supervised import Limits, Stopped, Supervised, without_paths

OPEN_SECONDS = 120.0
"""Limit on importing an implementation and building it on a model."""
_KEPT_OUTPUT_BYTES = 8192
_REPLY_BYTES = 1 << 30

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
        limits = Limits(
            memory_bytes=memory_limit_bytes,
            output_bytes=_REPLY_BYTES,
            stderr_bytes=_KEPT_OUTPUT_BYTES,
            processes=None,
        )
        self._child = Supervised([sys.executable, "-P", "-m", "harness.measure.worker"], limits, environment)

    def ask(self, request: Request, kind: type[Answer], *, seconds: float) -> Answer:
        """Return the reply to `request`; raise `WorkerFailed` with the verdict where none comes within `seconds`."""
        try:
            reply = reply_decoder.decode(self._child.exchange(to_line(request), seconds))
        except Stopped as stopped:
            status = "crash" if stopped.verdict == "protocol" else stopped.verdict
            raise WorkerFailed(Failed(status=status, reason=stopped.reason), dead=True) from None
        if isinstance(reply, Failed):
            raise WorkerFailed(_clean(reply), dead=False)
        if not isinstance(reply, kind):
            self.kill()
            failed = Failed(
                status="crash", reason=f"the worker answered {type(reply).__name__} to {type(request).__name__}"
            )
            raise WorkerFailed(failed, dead=True)
        return reply

    def kill(self) -> None:
        """Kill the process and everything it started."""
        self._child.kill()

    def close(self) -> None:
        """Let the process end by itself, or kill it."""
        self._child.close()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.close()


def _clean(failed: Failed) -> Failed:
    return Failed(
        status=failed.status,
        reason=without_paths(failed.reason),
        counterexample=failed.counterexample,
        candidates=failed.candidates,
    )
