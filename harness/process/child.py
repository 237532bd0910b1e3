"""A child process that may do anything, driven line by line, watched for time, memory and output.

Every request ends with an answer or a `FailedError`, and nothing it started outlives it (see `reaper`). Knows nothing
of the content of the lines.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from harness.outcome import Outcome
from harness.process import memory, reaper
from harness.process.limits import (
    Limits,
    NotStarted,
    excerpt,
    last_words,
    verdict_on_end,
    without_paths,
)
from harness.process.protocol import Failed, FailedError

WATCH_SECONDS = 0.1
"""Interval between checks of the limits; a hard limit stops memory that grows faster."""
_READ_BYTES, _STDERR_BYTES = 1 << 18, 1 << 16
"""Bytes read at once, and those kept of the end of standard error."""
_GRACE_SECONDS, _CLOSE_SECONDS, _SWEEP_SECONDS = 1.0, 2.0, 20.0
"""How long a process may take to end that closed a pipe (its exit then decides), lost its input, or is killed."""


class Child:
    """One child process. Always `close` it; from one thread at a time."""

    def __init__(self, command: Sequence[str], limits: Limits, environment: Mapping[str, str], *, echo: bool) -> None:
        """Start `command` in the current folder; with `echo` its standard error is copied to ours.

        Raises `NotStarted`.
        """
        self.limits = limits
        self._echo = echo
        self._errors = bytearray()
        """The last bytes of its standard error."""
        self._line = bytearray()
        self._answer: bytes | None = None
        self._pending = memoryview(b"")
        self._closed_pipe = ""
        self._seconds = self._deadline = float("inf")
        self._next_watch = monotonic() + WATCH_SECONDS
        self._stopped: FailedError | None = None
        self._pid: int | None = None
        self._peak_bytes = 0
        self._waited: float | None = None
        """Seconds that it had waited for a processor when the deadline was last put off or, before, at first sight."""
        self._start(command, environment)

    def _start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        if shutil.which(command[0], path=environment.get("PATH")) is None:
            raise NotStarted(f"{command[0]} cannot be run: there is no such program, or it is not executable")
        control, self._control = os.pipe()
        try:
            # A hard limit on the private memory of each process, for growth faster than our checks.
            settings = (control, 2 * (self.limits.memory_bytes or 0))
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", reaper.__file__, *map(str, settings), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment,
                start_new_session=True,
                pass_fds=(control,),
            )
        except OSError as error:
            os.close(self._control)
            raise NotStarted(f"{command[0]} cannot be run: {error.strerror}") from None
        finally:
            os.close(control)
        self._selector = selectors.DefaultSelector()
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._pipes = [pipe for pipe in pipes if pipe is not None]
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in self._pipes)
        self._listen(self._stdout, self._hear)
        self._listen(self._stderr, self._keep)
        os.set_blocking(self._stdin, False)

    def _listen(self, descriptor: int, act: Callable[[int], None]) -> None:
        os.set_blocking(descriptor, False)
        self._selector.register(descriptor, selectors.EVENT_READ, act)

    def fileno(self) -> int:
        """Return a descriptor that is readable when `poll` has something to do."""
        return self._selector.fileno()

    # --- requests ------------------------------------------------------------------------------------------

    def send(self, request: bytes, seconds: float) -> None:
        """Send the line `request`, to be answered within `seconds`. Raises `FailedError`."""
        if self._stopped is not None:
            raise self._stopped
        self._act(0)
        if self._line or self._answer is not None:
            line = self._line if self._answer is None else self._answer
            raise self._stop(Outcome.PROTOCOL, f"wrote without a request: {excerpt(line)}")
        left = min(seconds, _GRACE_SECONDS) if self._closed_pipe else seconds
        self._seconds, self._deadline, self._waited = seconds, monotonic() + left, None
        self._pending = memoryview(request)
        self._selector.register(self._stdin, selectors.EVENT_WRITE, self._send)
        while self._pending and self._answer is None:
            self._step(WATCH_SECONDS)

    def poll(self, wait_seconds: float = 0.0) -> bytes | None:
        """Return the answer, or None if there is none within `wait_seconds`. Raises `FailedError`."""
        if self._stopped is not None:
            raise self._stopped
        if self._answer is None:
            self._step(wait_seconds)
        if self._answer is not None and self._pending:
            raise self._stop(Outcome.PROTOCOL, "answered before it had read the whole request")
        answer, self._answer = self._answer, None
        return answer

    def _step(self, wait_seconds: float) -> None:
        """Handle events within `wait_seconds`, and check the limits."""
        now = monotonic()
        if self._closed_pipe and self._process.poll() is not None:
            self._read_errors()
            raise self._stop(*verdict_on_end(self._process.returncode, self._error_output, self._line))
        if self._deadline <= now and not self._put_off():
            raise self._late()
        pause = 0.01 if self._closed_pipe else wait_seconds
        self._act(max(0.0, min(self._deadline - now, self._next_watch - now, pause)))
        if self._answer is None and monotonic() >= self._next_watch:
            self._watch()

    def _act(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            key.data(key.fd)

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
        head, end, rest = content.partition(b"\n")
        if self._answer is not None or rest:
            raise self._stop(Outcome.PROTOCOL, f"wrote more than one line: {excerpt(rest or content)}")
        self._line += head
        if len(self._line) > self.limits.output_bytes:
            limit = self.limits.output_bytes
            raise self._stop(Outcome.PROTOCOL, f"wrote more than {limit:,} bytes without an end of line")
        if end:
            self._answer = bytes(self._line)
            self._line.clear()

    def _note_closed(self, pipe: str) -> None:
        self._closed_pipe = self._closed_pipe or pipe
        self._deadline = min(self._deadline, monotonic() + _GRACE_SECONDS)

    def _keep(self, descriptor: int) -> None:
        content = self._read(descriptor)
        if self._echo:
            sys.stderr.write(content.decode("utf-8", "replace"))
            sys.stderr.flush()
        self._errors += content
        del self._errors[:-_STDERR_BYTES]

    # --- limits and its end --------------------------------------------------------------------------------

    @property
    def pid(self) -> int | None:
        """Return the process id of the child itself; None if it has not started yet or has ended."""
        if self._pid is None:
            import psutil

            with contextlib.suppress(psutil.Error, IndexError):
                self._pid = psutil.Process(self._process.pid).children()[0].pid
        return self._pid

    @property
    def has_ended(self) -> bool:
        """Return whether it ended by itself; it is then no zombie any more."""
        return self._process.poll() is not None

    def _watch(self) -> None:
        self._next_watch = monotonic() + WATCH_SECONDS
        limit, pid = self.limits.memory_bytes, self.pid
        self._waited = memory.waiting_seconds(pid) if self._waited is None else self._waited
        if limit is not None and pid is not None and memory.resident_bytes(pid) > limit:
            raise self._stop(Outcome.OUT_OF_MEMORY, f"held more than the limit of {limit / 1e9:.1f} GB")

    @property
    def peak_memory_bytes(self) -> int:
        """Return the peak resident memory of the child in bytes, also after it has ended."""
        if self._stopped is None and (pid := self.pid) is not None:
            self._peak_bytes = max(self._peak_bytes, memory.peak_bytes(pid) or 0)
        return self._peak_bytes

    def _put_off(self) -> bool:
        """Put the deadline off by what the child has waited for a processor: a busy machine does not make it late."""
        if self._closed_pipe or self._waited is None:
            return False
        waited = memory.waiting_seconds(self.pid)
        more, self._waited = waited - self._waited, waited
        self._deadline += more
        return more > WATCH_SECONDS

    def _late(self) -> FailedError:
        if self._closed_pipe:
            return self._stop(Outcome.PROTOCOL, f"closed its {self._closed_pipe} without exiting")
        part = f", with {len(self._line):,} bytes of an answer without an end of line" if self._line else ""
        return self._stop(Outcome.TIMEOUT, f"took longer than {self._seconds:g} s{part}")

    def _stop(self, outcome: Outcome, reason: str) -> FailedError:
        """End every process and return the exception to raise."""
        self.kill()
        if last := last_words(self._error_output):
            reason += f"; its last line of output: {last}"
        self._stopped = FailedError(Failed(outcome, without_paths(reason)))
        return self._stopped

    def kill(self) -> None:
        """End the process and its descendants at once."""
        if self._stopped is not None:
            return
        self._peak_bytes = self.peak_memory_bytes
        self._stopped = FailedError(Failed(Outcome.CRASH, "its process had already ended"))
        os.close(self._control)
        try:
            self._process.wait(_SWEEP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._pid is not None and self._process.wait() == -signal.SIGKILL:  # the reaper itself may have been killed
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
        self._read_errors()
        self._selector.close()
        for pipe in self._pipes:
            pipe.close()
        self._process.wait()

    def close(self) -> None:
        """Close standard input, give the process time to end by itself, then end it."""
        if self._stopped is not None:
            return
        self._peak_bytes = self.peak_memory_bytes
        if self._stdin in self._selector.get_map():
            self._selector.unregister(self._stdin)
        self._pipes[0].close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSE_SECONDS)
        self.kill()

    @property
    def _error_output(self) -> str:
        return self._errors.decode("utf-8", "replace")

    def _read_errors(self) -> None:
        """Read the rest of the pipe of standard error, without waiting for more."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                if self._stderr in self._selector.get_map():
                    self._keep(self._stderr)
