"""A child process that may do anything, driven line by line, watched for time, memory and output.

Every request ends with an answer or a `Stopped` with a verdict, and nothing it started outlives it (see `reaped`).
Knows nothing of the content of the lines.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import sys
from collections.abc import Mapping, Sequence
from time import monotonic

from harness.process import memory, reaper
from harness.process.limits import (
    DEFAULT_LIMITS,
    Limits,
    Stopped,
    StopVerdict,
    excerpt,
    last_words,
    verdict_on_end,
    without_paths,
)
from harness.process.reaped import Reaped

_FIRST_WATCH_SECONDS, WATCH_SECONDS = 0.01, 0.1
"""Intervals between checks of the limits: soon after a request, then less often. The reaper counts processes, and a
hard limit stops memory that grows faster."""
_READ_BYTES = 1 << 18
_MANY = 10_000
_GRACE_SECONDS = 1.0
"""How long a process that closed a pipe may take to end; its exit then determines the verdict."""
_CLOSE_SECONDS = 2.0


class Child:
    """One child process. Always `close` it, or use it in a `with` statement; from one thread at a time."""

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits = DEFAULT_LIMITS,
        environment: Mapping[str, str] | None = None,
        *,
        echo: bool = False,
    ) -> None:
        """Start `command` in the current folder; with `echo` its standard error is copied to ours.

        Raises `NotStarted`.
        """
        self.limits = limits
        self._echo = echo
        self._errors = bytearray()
        """The last bytes of its standard error."""
        self._peak_bytes = 0
        self._line = bytearray()
        self._answer: bytes | None = None
        self._pending = memoryview(b"")
        self._closed_pipe = ""
        self._seconds = self._deadline = self._grace_ends = self._next_watch = float("inf")
        self._stopped: Stopped | None = None
        self._process = process = Reaped(command, limits, environment)
        self.pid = process.pid
        self._selector = selectors.DefaultSelector()
        os.set_blocking(process.stdin, False)
        for descriptor, act in (
            (process.stdout, self._hear),
            (process.stderr, self._keep),
            (process.reports, self._note),
        ):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, act)

    def fileno(self) -> int:
        """Return a descriptor that is readable when `poll` has something to do."""
        return self._selector.fileno()

    def exchange(self, request: bytes, seconds: float) -> bytes:
        """Send the line `request` and return the child's answering line, without its end. Raises `Stopped`."""
        self.send(request, seconds)
        return self.receive()

    def send(self, request: bytes, seconds: float) -> None:
        """Begin to send the line `request`, to be answered within `seconds`. Raises `Stopped`."""
        if self._stopped is not None:
            raise self._stopped
        self._act(0)
        if self._line or self._answer is not None:
            line = self._line if self._answer is None else self._answer
            raise self._stop("protocol", f"wrote without a request: {excerpt(line)}")
        if self._has_ended:
            raise self._gone()
        self._set_deadline(seconds)
        self._next_watch = min(self._next_watch, monotonic() + _FIRST_WATCH_SECONDS)
        self._pending = memoryview(request)
        self._selector.register(self._process.stdin, selectors.EVENT_WRITE, self._send)

    def flush(self) -> None:
        """Wait until the child has read the request. Raises `Stopped`."""
        while self._pending and self._answer is None:
            self._step(WATCH_SECONDS)

    def receive(self, seconds: float | None = None) -> bytes:
        """Wait for the answer and return it; with `seconds`, wait at most that long from now. Raises `Stopped`."""
        if seconds is not None:
            self._set_deadline(seconds)
        while (answer := self.poll(WATCH_SECONDS)) is None:
            pass
        return answer

    def poll(self, wait_seconds: float = 0.0) -> bytes | None:
        """Return the answer, or None if there is none within `wait_seconds`. Raises `Stopped`."""
        if self._stopped is not None:
            raise self._stopped
        if self._answer is None:
            self._step(wait_seconds)
        if self._answer is not None and self._pending:
            raise self._stop("protocol", "answered before it had read the whole request")
        answer, self._answer = self._answer, None
        return answer

    def _set_deadline(self, seconds: float) -> None:
        self._seconds, self._deadline = seconds, monotonic() + seconds

    def _step(self, wait_seconds: float) -> None:
        """Handle events within `wait_seconds`, and check the limits."""
        left = min(self._deadline, self._grace_ends) - monotonic()
        if left <= 0:
            raise self._late()
        self._act(max(0.0, min(left, self._next_watch - monotonic(), wait_seconds)))
        if self._has_ended:
            with contextlib.suppress(BlockingIOError):  # output from before its end
                while self._answer is None and self._process.stdout in self._selector.get_map():
                    self._hear(self._process.stdout)
            if self._answer is None:
                raise self._gone()
        self._watch()

    def _act(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            key.data(key.fd)

    @property
    def _has_ended(self) -> bool:
        return self._process.exit_status is not None or self._process.crowded or self._process.lost

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

    def _read(self, descriptor: int) -> bytes:
        """Return the available bytes; stop listening to a pipe that has ended."""
        content = os.read(descriptor, _READ_BYTES)
        if not content:
            self._selector.unregister(descriptor)
        return content

    def _hear(self, descriptor: int) -> None:
        content = self._read(descriptor)
        if not content:
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

    def _keep(self, descriptor: int) -> None:
        content = self._read(descriptor)
        if self._echo:
            sys.stderr.write(content.decode("utf-8", "replace"))
            sys.stderr.flush()
        self._errors += content
        del self._errors[: -self.limits.stderr_bytes]

    def _note(self, descriptor: int) -> None:
        if not self._process.note():
            self._selector.unregister(descriptor)

    def _watch(self) -> None:
        if monotonic() < self._next_watch:
            return
        most = self.limits.processes or _MANY
        held = memory.resident_bytes_below(self._process.root, most)
        self._next_watch = monotonic() + WATCH_SECONDS
        limit = self.limits.memory_bytes
        total = sum(held.values())
        if limit is not None and total > limit and len(held) > 1:  # a fork shares its memory with its parent
            total = memory.proportional_bytes(held)
        self._peak_bytes = max(self._peak_bytes, total)
        if self.limits.processes and len(held) > most:
            raise self._crowded()
        if limit is not None and total > limit:
            raise self._stop("out-of-memory", f"held more than the limit of {limit / 1e9:.1f} GB")

    @property
    def peak_memory_bytes(self) -> int:
        """Return the peak memory in bytes: of the child by the system, or if larger, of all its processes
        as observed."""
        if not self._process.ended and not self._has_ended:
            self._peak_bytes = max(self._peak_bytes, memory.peak_bytes(self.pid) or 0)
        return self._peak_bytes

    def _crowded(self) -> Stopped:
        return self._stop("crash", f"had started more than {self.limits.processes} processes and was stopped")

    def _late(self) -> Stopped:
        if self._closed_pipe:
            return self._stop("protocol", f"closed its {self._closed_pipe} without ending")
        part = f", with {len(self._line):,} bytes of an answer without an end of line" if self._line else ""
        return self._stop("timeout", f"took longer than {self._seconds:g} s{part}")

    def _gone(self) -> Stopped:
        """Return the verdict on a child that ended by itself."""
        self._read_errors()
        if self._process.crowded:
            return self._crowded()
        if self._process.exit_status is None:
            return self._stop("crash", "ended its reaper")
        return self._stop(*verdict_on_end(self._process.exit_status, self._said, self._line))

    def _stop(self, verdict: StopVerdict, reason: str) -> Stopped:
        """End every process and return the exception to raise."""
        self.kill()
        if last := last_words(self._said):
            reason += f"; its last line of output: {last}"
        if self._process.mode == reaper.PROCESS_GROUP:
            reason += "; only its process group could be ended, not what had left it"
        elif self._process.n_left:
            reason += f"; {self._process.n_left} more that it had started ended with it"
        self._stopped = Stopped(verdict, without_paths(reason), exit_status=self._process.exit_status)
        return self._stopped

    def kill(self) -> None:
        """End the process and its descendants at once."""
        if self._process.ended:
            return
        self._stopped = Stopped("crash", "its process was ended before")
        self._peak_bytes = self.peak_memory_bytes
        self._process.end()
        self._read_errors()
        self._selector.close()
        self._process.release()

    def close(self) -> None:
        """Close standard input, give the process time to end by itself, then end it."""
        if self._process.ended:
            return
        listening = self._selector.get_map()
        if self._process.stdin in listening:
            self._selector.unregister(self._process.stdin)
        if self._process.stdout in listening:
            self._selector.modify(self._process.stdout, selectors.EVENT_READ, self._read)
        self._process.close_input()
        deadline = monotonic() + _CLOSE_SECONDS
        while not self._has_ended and (left := deadline - monotonic()) > 0:
            self._act(left)
        self.kill()

    @property
    def _said(self) -> str:
        return self._errors.decode("utf-8", "replace")

    def _read_errors(self) -> None:
        """Read the rest of the pipe of standard error, without waiting for more."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                if self._process.stderr in self._selector.get_map():
                    self._keep(self._process.stderr)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.close()
