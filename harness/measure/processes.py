"""A worker process as its parent sees it: started clean, asked, watched for time and memory, ended whole.

Knows the protocol and what death looks like; knows no task.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import sys
from time import monotonic, sleep
from typing import TypeVar

from harness import memory
from harness.measure import placement
from harness.measure.protocol import Failed, Reply, Request, reply_decoder, to_line
from harness.records import Status

KEPT_OUTPUT_BYTES = 8192
_POLL_SECONDS = 0.1
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\\/][^\s\\/:'\",()]+)+[\\/]")

Answer = TypeVar("Answer", bound=Reply)


class WorkerFailed(Exception):
    """A request ended in a verdict instead of an answer; `dead` says that the worker is gone as well."""

    def __init__(self, failed: Failed, *, dead: bool) -> None:
        self.failed, self.dead = failed, dead
        super().__init__(f"{failed.status}: {failed.reason}")


def without_paths(text: str) -> str:
    """`text` with the folders of every path left out: records name no place of this machine."""
    return _PATH.sub("", text)


class Worker:
    """One worker process. Always `close` it, or use it in a `with` statement."""

    def __init__(self, *, threads: int = 1, hash_seed: int = 0, memory_limit_bytes: int | None = None) -> None:
        """Start it; `hash_seed` fixes the order of Python's sets, so that a repeated run meets the same ones."""
        self.memory_limit_bytes = memory_limit_bytes
        environment = os.environ | placement.thread_environment(threads)
        environment["PYTHONHASHSEED"] = str(hash_seed % 2**32)
        environment["PYTHONUNBUFFERED"] = "1"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.measure.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self._line = bytearray()
        self.output = bytearray()
        """The end of what the process printed."""

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def ask(self, request: Request, kind: type[Answer], *, seconds: float) -> Answer:
        """The reply to `request`; raises `WorkerFailed` with the verdict where there is none within `seconds`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(to_line(request))
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise self._dead() from None
        reply = reply_decoder.decode(self._reply(seconds))
        if isinstance(reply, Failed):
            raise WorkerFailed(_clean(reply), dead=False)
        if not isinstance(reply, kind):
            self.kill()
            failed = Failed(
                status="crash", reason=f"the worker answered {type(reply).__name__} to {type(request).__name__}"
            )
            raise WorkerFailed(failed, dead=True)
        return reply

    def _reply(self, seconds: float) -> bytes:
        replies, output = self._process.stdout, self._process.stderr
        assert replies is not None
        assert output is not None
        deadline = monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(replies, selectors.EVENT_READ)
            selector.register(output, selectors.EVENT_READ)
            while True:
                left = deadline - monotonic()
                if left <= 0:
                    raise self._ended("timeout", f"took longer than {seconds:g} s")
                for key, _ in selector.select(min(left, _POLL_SECONDS)):
                    content = os.read(key.fd, 65536)
                    if key.fileobj is output:
                        self._keep(content)
                        if not content:
                            selector.unregister(output)
                        continue
                    if not content:
                        raise self._dead()
                    self._line += content
                    if b"\n" in content:
                        line, _, rest = bytes(self._line).partition(b"\n")
                        self._line = bytearray(rest)
                        return line
                self._check_memory()

    def _keep(self, content: bytes) -> None:
        self.output += content
        del self.output[:-KEPT_OUTPUT_BYTES]

    def _check_memory(self) -> None:
        limit = self.memory_limit_bytes
        if limit is not None and memory.resident_bytes(self.pid) > limit:
            raise self._ended("out-of-memory", f"held more than the limit of {limit / 1e9:.1f} GB")

    def _ended(self, status: Status, reason: str) -> WorkerFailed:
        self.kill()
        return WorkerFailed(Failed(status=status, reason=reason), dead=True)

    def _dead(self) -> WorkerFailed:
        """The verdict on a worker that went away by itself."""
        ended = self._await_end(5)
        self.kill()
        code = self._process.returncode
        if not ended:
            reason = "the worker closed its pipe and hung"
        elif code < 0:
            reason = f"killed by {signal.Signals(-code).name}"
        else:
            reason = f"the process ended with exit status {code}"
        lines = self.output.decode("utf-8", "replace").strip().splitlines()
        if lines:
            reason += f"; its last line of output: {lines[-1][:300]}"
        return WorkerFailed(Failed(status="crash", reason=without_paths(reason)), dead=True)

    def kill(self) -> None:
        """End the process and whatever it started."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
        self._drain()

    def close(self) -> None:
        """Let the process end by itself, or end it."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._await_end(2)
        self.kill()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _await_end(self, seconds: float) -> bool:
        """Whether the process ends within `seconds`; it keeps its id until `kill` has seen to its children."""
        deadline = monotonic() + seconds
        while self._process.returncode is None and monotonic() < deadline:
            if self._has_ended():
                return True
            sleep(0.002)
        return self._process.returncode is not None

    def _has_ended(self) -> bool:
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def _drain(self) -> None:
        """Take what is left in the pipe of a dead process, without waiting for more."""
        output = self._process.stderr
        if output is None or output.closed:
            return
        os.set_blocking(output.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while content := os.read(output.fileno(), 65536):
                self._keep(content)

    def __enter__(self) -> Worker:
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
