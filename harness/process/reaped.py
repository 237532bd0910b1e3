"""A command run under a `reaper`: its pipes, its exit status, and the guarantee that no process of it remains.

Knows nothing of the content of the pipes.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from time import monotonic

from harness.process import reaper
from harness.process.limits import Limits, NotStarted

_CLEANING_SECONDS = 20.0


class Reaped:
    """One command in a session of its own. Always `release` it."""

    def __init__(self, command: Sequence[str], limits: Limits, environment: Mapping[str, str] | None) -> None:
        """Start `command` in the current folder. Raises `NotStarted`.

        As soon as there are more processes than `limits` allow, all are ended.
        """
        self.exit_status: int | None = None
        """Exit status: None while it runs, negative for a signal."""
        self.lost = False
        """Whether the reaper is gone, so that nothing more will be reported."""
        self.crowded = False
        """Whether it was ended for starting too many processes."""
        self.ended = False
        self.n_left = 0
        """Number of its descendants that had to be ended; known after `end`."""
        control, self._control = os.pipe()
        self.reports, reports = os.pipe()
        """Descriptor to poll: call `note` when it is readable."""
        # A hard limit on the private memory of each process, for growth faster than our checks.
        settings = (control, reports, 2 * (limits.memory_bytes or 0), limits.processes or 0)
        try:
            self._reaper = subprocess.Popen(
                [sys.executable, "-I", "-S", reaper.__file__, *map(str, settings), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment,
                start_new_session=True,
                pass_fds=(control, reports),
            )
        except BaseException:
            os.close(self._control)
            os.close(self.reports)
            raise
        finally:
            os.close(control)
            os.close(reports)
        self.root = self._reaper.pid
        """Process id of the reaper, the ancestor of all of the command's processes."""
        self._pipes = [
            pipe for pipe in (self._reaper.stdin, self._reaper.stdout, self._reaper.stderr) if pipe is not None
        ]
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self._pipes)
        self.pid = 0
        self.mode = ""
        """How its descendants are found: `reaper.SUBREAPER` or `reaper.PROCESS_GROUP`."""
        self._unread = b""
        self._why_not = "its reaper could not be started"
        while not self.pid and self.note():
            pass
        if not self.pid:
            self._close_pipes()
            self._reaper.wait()
            raise NotStarted(f"{command[0]} cannot be run: {self._why_not}")

    def note(self) -> bool:
        """Read the reaper's reports; return False once there will be no more."""
        content = os.read(self.reports, 4096)
        self.lost = not content
        *lines, self._unread = (self._unread + content).split(b"\n")
        for line in lines:
            match line.decode().split():
                case ["started", pid, mode]:
                    self.pid, self.mode = int(pid), mode
                case ["failed", number]:
                    self._why_not = os.strerror(int(number))
                case ["ended", status]:
                    self.exit_status = int(status)
                case ["crowded", _]:
                    self.crowded = True
                case ["cleaned", n_left]:
                    self.n_left = int(n_left)
        return not self.lost

    def close_input(self) -> None:
        """Close its standard input."""
        self._pipes[0].close()

    def end(self) -> None:
        """End the command and all its descendants at once. Its output can still be read, until `release`."""
        if self.ended:
            return
        self.ended = True
        with contextlib.suppress(OSError):
            os.write(self._control, b".")
        deadline = monotonic() + _CLEANING_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self.reports, selectors.EVENT_READ)
            while not self.lost and (left := deadline - monotonic()) > 0:
                if selector.select(left):
                    self.note()
        if not self.lost or self._reaper.wait() != 0:  # the reaper itself was killed, or cannot clean up
            self.mode = reaper.PROCESS_GROUP
            self._reaper.kill()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._reaper.wait()

    def release(self) -> None:
        """End the command and close every pipe; once."""
        self.end()
        self._close_pipes()

    def _close_pipes(self) -> None:
        os.close(self._control)
        os.close(self.reports)
        for pipe in self._pipes:
            pipe.close()
