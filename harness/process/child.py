"""A child process that may do anything, driven line by line, watched for time, memory and output.

Whatever it does ends in an answer or in a `Stopped` with its verdict, and nothing it started outlives it (see
`child_process`). Knows nothing of the content of the lines.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from harness import memory, reaper
from harness.child_process import ChildProcess, NotStarted

__all__ = ["DEFAULT_LIMITS", "Limits", "NotStarted", "StopVerdict", "Stopped", "Supervised", "excerpt", "without_paths"]

StopVerdict = Literal["timeout", "crash", "out-of-memory", "protocol"]

_FIRST_WATCH_SECONDS, _WATCH_SECONDS = 0.01, 0.1
"""Frequent after a request or while processes start, then less so: a fork bomb doubles in milliseconds."""
_READ_BYTES = 1 << 18
_MANY = 10_000
_GRACE_SECONDS = 1.0
"""How long a process that closed a pipe may take to end; how it ends is then the verdict."""
_CLOSE_SECONDS = 2.0
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\\/][^\s\\/:'\",()]+)+[\\/]")
_TELLING = re.compile(r"error|exception|panic|fatal|abort|fail|cannot", re.IGNORECASE)
_NO_MEMORY = re.compile(r"out of memory|memory allocation of \d+|bad_alloc|MemoryError|cannot allocate", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a child may use. Memory is that of the child and all its descendants together; None is no limit."""

    call_seconds: float = 10.0
    start_seconds: float = 30.0
    memory_bytes: int | None = 2 << 30
    output_bytes: int = 64 << 20
    """Of one answer."""
    stderr_bytes: int = 64 << 10
    """How much of the end of standard error is kept; the rest is read and dropped."""
    processes: int | None = 100


DEFAULT_LIMITS = Limits()


class Stopped(Exception):
    """The child gave no answer; it and all its descendants have been ended."""

    def __init__(self, verdict: StopVerdict, reason: str, *, exit_status: int | None = None) -> None:
        self.verdict, self.reason = verdict, reason
        self.exit_status = exit_status
        """Its status where it ended by itself, negative for a signal."""
        super().__init__(f"{verdict}: {reason}")


def without_paths(text: str) -> str:
    """Remove the folders of every path in `text`: records must not name places on this machine."""
    return _PATH.sub("", text)


class Supervised:
    """One child process. Always `close` it, or use it in a `with` statement; from one thread at a time."""

    def __init__(self, command: Sequence[str], limits: Limits, environment: Mapping[str, str] | None = None) -> None:
        """Start `command` in the current folder; raises `NotStarted` where that cannot be done."""
        self.limits = limits
        self.output = bytearray()
        """The last bytes of its standard error."""
        self._peak_bytes = 0
        self._line = bytearray()
        self._answer: bytes | None = None
        self._pending = memoryview(b"")
        self._closed_pipe = ""
        self._grace_ends = float("inf")
        self._stopped: Stopped | None = None
        self._pause_seconds = _FIRST_WATCH_SECONDS
        self._n_processes = 1
        self._next_watch = float("inf")
        # A backstop for memory that grows faster than we look.
        data_bytes = 0 if limits.memory_bytes is None else 2 * limits.memory_bytes
        self._process = ChildProcess(command, environment, data_bytes=data_bytes, most=limits.processes or 0)
        self.pid = self._process.pid
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._selector = selectors.DefaultSelector()
        os.set_blocking(self._stdin, False)
        self._listen(self._stdout, self._hear)
        self._listen(self._process.stderr.fileno(), self._keep)
        self._listen(self._process.reports, self._note)

    def _listen(self, descriptor: int, act: Callable[[int], None]) -> None:
        os.set_blocking(descriptor, False)
        self._selector.register(descriptor, selectors.EVENT_READ, act)

    # --- one question --------------------------------------------------------------------------------------

    def exchange(self, request: bytes, seconds: float) -> bytes:
        """Send the line `request` and return the line the child answers, without its end. Raises `Stopped`."""
        if self._stopped is not None:
            raise self._stopped
        self._refuse_what_was_not_asked()
        deadline = monotonic() + seconds
        self._pause_seconds = _FIRST_WATCH_SECONDS
        self._next_watch = min(self._next_watch, monotonic() + _FIRST_WATCH_SECONDS)
        self._pending = memoryview(request)
        self._selector.register(self._stdin, selectors.EVENT_WRITE, self._send)
        while self._answer is None:
            left = min(deadline, self._grace_ends) - monotonic()
            if left <= 0:
                raise self._late(seconds)
            for key, _ in self._selector.select(min(left, self._pause_seconds)):
                key.data(key.fd)
            if self._has_ended:
                self._hear_rest()
                if self._answer is None:
                    raise self._gone()
            self._watch()
        if self._pending:
            raise self._stop("protocol", "answered before it had read the whole request")
        answer, self._answer = self._answer, None
        return answer

    @property
    def _has_ended(self) -> bool:
        return self._process.exit_status is not None or self._process.crowded or self._process.lost

    def _refuse_what_was_not_asked(self) -> None:
        for key, _ in self._selector.select(0):
            key.data(key.fd)
        if self._line or self._answer is not None:
            line = self._line if self._answer is None else self._answer
            raise self._stop("protocol", f"wrote without a request: {excerpt(line)}")
        if self._has_ended:
            raise self._gone()

    def _send(self, descriptor: int) -> None:
        try:
            self._pending = self._pending[os.write(descriptor, self._pending[:_READ_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._pending = memoryview(b"")
            self._note_closed("standard input")
        if not self._pending:
            self._selector.unregister(descriptor)

    def _hear(self, descriptor: int) -> None:
        content = os.read(descriptor, _READ_BYTES)
        if not content:
            self._selector.unregister(descriptor)
            self._note_closed("standard output")
            return
        if self._answer is not None:
            raise self._stop("protocol", f"said more than one line: {excerpt(content)}")
        head, end, rest = content.partition(b"\n")
        self._line += head
        if len(self._line) > self.limits.output_bytes:
            raise self._stop("protocol", f"wrote more than {self.limits.output_bytes:,} bytes without an end of line")
        if rest:
            raise self._stop("protocol", f"said more than one line: {excerpt(rest)}")
        if end:
            self._answer = bytes(self._line)
            self._line.clear()

    def _note_closed(self, pipe: str) -> None:
        self._closed_pipe = self._closed_pipe or pipe
        self._grace_ends = min(self._grace_ends, monotonic() + _GRACE_SECONDS)

    def _hear_rest(self) -> None:
        """Read what a process that has ended wrote before its end."""
        with contextlib.suppress(BlockingIOError):
            while self._answer is None and self._stdout in self._selector.get_map():
                self._hear(self._stdout)

    def _keep(self, descriptor: int) -> None:
        content = os.read(descriptor, _READ_BYTES)
        if not content:
            self._selector.unregister(descriptor)
        self.output += content
        del self.output[: -self.limits.stderr_bytes]

    def _note(self, descriptor: int) -> None:
        if not self._process.note():
            self._selector.unregister(descriptor)

    # --- watching ------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        if monotonic() < self._next_watch:
            return
        most = self.limits.processes or _MANY
        held = memory.resident_bytes_below(self._process.root, most)
        if len(held) <= self._n_processes:
            self._pause_seconds = min(2 * self._pause_seconds, _WATCH_SECONDS)
        self._n_processes = len(held)
        self._next_watch = monotonic() + self._pause_seconds
        total = sum(held.values())
        self._peak_bytes = max(self._peak_bytes, total)
        if self.limits.processes and len(held) > most:
            raise self._crowded()
        limit = self.limits.memory_bytes
        if limit is not None and total > limit:
            raise self._stop("out-of-memory", f"held more than the limit of {limit / 1e9:.1f} GB")

    @property
    def peak_memory_bytes(self) -> int:
        """Peak memory: the child's own as the system counts it, or that of all its processes as observed, if larger."""
        if not self._process.ended and not self._has_ended:
            self._peak_bytes = max(self._peak_bytes, memory.peak_bytes(self.pid) or 0)
        return self._peak_bytes

    # --- its end -------------------------------------------------------------------------------------------

    def _crowded(self) -> Stopped:
        return self._stop("crash", f"had started more than {self.limits.processes} processes and was stopped")

    def _late(self, seconds: float) -> Stopped:
        if self._closed_pipe:
            return self._stop("protocol", f"closed its {self._closed_pipe} without ending")
        part = f", with {len(self._line):,} bytes of an answer without an end of line" if self._line else ""
        return self._stop("timeout", f"took longer than {seconds:g} s{part}")

    def _gone(self) -> Stopped:
        """Return the verdict on a child that ended by itself."""
        self._read_output()
        status = self._process.exit_status
        if self._process.crowded:
            return self._crowded()
        if status is None:
            return self._stop("crash", "ended its reaper")
        if status < 0:
            reason = f"killed by {_signal_name(-status)}"
        else:
            reason = f"the process ended with exit status {status}"
        if status and _NO_MEMORY.search(self.output.decode("utf-8", "replace")):
            return self._stop("out-of-memory", reason)
        if self._line and status >= 0:
            return self._stop("protocol", f"{reason} in the middle of a line: {excerpt(self._line)}")
        return self._stop("crash", reason)

    def _stop(self, verdict: StopVerdict, reason: str) -> Stopped:
        """End every process and return the exception to raise."""
        self.kill()
        last = self.last_words
        if last:
            reason += f"; its last line of output: {last}"
        if self._process.mode == reaper.PROCESS_GROUP:
            reason += "; only its process group could be ended, not what had left it"
        elif self._process.n_left:
            reason += f"; {self._process.n_left} more that it had started ended with it"
        self._stopped = Stopped(verdict, without_paths(reason), exit_status=self._process.exit_status)
        return self._stopped

    @property
    def last_words(self) -> str:
        """The most informative line of standard error: the last that mentions an error, else the last."""
        lines = [line for line in self.output.decode("utf-8", "replace").splitlines() if line.strip()][-50:]
        telling = [line for line in lines if _TELLING.search(line)]
        return (telling or lines or [""])[-1].strip()[:300]

    def kill(self) -> None:
        """End the process and whatever it started, at once."""
        if self._process.ended:
            return
        self._stopped = Stopped("crash", "its process was ended before")
        self._peak_bytes = self.peak_memory_bytes
        self._process.end()
        self._read_output()
        self._selector.close()
        self._process.release()

    def close(self) -> None:
        """Close standard input, give the process time to end by itself, then end it."""
        if self._process.ended:
            return
        if self._stdin in self._selector.get_map():
            self._selector.unregister(self._stdin)
        self._process.stdin.close()
        deadline = monotonic() + _CLOSE_SECONDS
        while not self._has_ended and (left := deadline - monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if key.fd != self._stdout:
                    key.data(key.fd)
                elif not os.read(key.fd, _READ_BYTES):
                    self._selector.unregister(key.fd)
        self.kill()

    def _read_output(self) -> None:
        """Read what is left in the pipe of standard error, without waiting for more."""
        descriptor = self._process.stderr.fileno()
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                if descriptor in self._selector.get_map():
                    self._keep(descriptor)

    def __enter__(self) -> Supervised:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def excerpt(line: bytes | bytearray) -> str:
    """Return the first 80 bytes of a line, in ASCII."""
    return ascii(bytes(line[:80]).decode("utf-8", "replace")) + ("…" if len(line) > 80 else "")
