"""A command run under a keeper (see `keeper`): its pipes, how it ended, and the certainty that nothing of it is left.

Knows nothing of what goes through the pipes.
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

from harness import keeper

_CLEANING_SECONDS = 20.0


class NotStarted(Exception):
    """The command cannot be run at all."""


class Kept:
    """One command in a session of its own. Always `end` it."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None, *, data_bytes: int = 0, most: int = 0
    ) -> None:
        """Start `command` in the current folder; raises `NotStarted` where that cannot be done.

        `data_bytes` (0: none) is a hard limit on the private memory of each of its processes, where the system has one.
        With more than `most` processes (0: any number) all are ended.
        """
        self.exit_status: int | None = None
        """Once it has ended: its status, negative for a signal."""
        self.lost = False
        """Whether the keeper is gone, and nothing more will be known."""
        self.crowded = False
        """Whether it was ended because it had started too many processes."""
        self.ended = False
        self.n_left = 0
        """How many processes it had started had to be ended beside it; known after `end`."""
        self._heard = b""
        self._open(command, environment, data_bytes, most)
        self._wait_for_start(command[0])

    def _open(self, command: Sequence[str], environment: Mapping[str, str] | None, data_bytes: int, most: int) -> None:
        orders, self._control = os.pipe()
        self.reports, told = os.pipe()
        """Descriptor to be listened to: call `note` when there is something to read."""
        script = [sys.executable, "-I", "-S", keeper.__file__, str(orders), str(told), str(data_bytes), str(most)]
        try:
            self._keeper = subprocess.Popen(
                [*script, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment,
                start_new_session=True,
                pass_fds=(orders, told),
            )
        except BaseException:
            os.close(self._control)
            os.close(self.reports)
            raise
        finally:
            os.close(orders)
            os.close(told)
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        assert self._keeper.stderr is not None
        self.stdin, self.stdout, self.stderr = self._keeper.stdin, self._keeper.stdout, self._keeper.stderr

    def _wait_for_start(self, program: str) -> None:
        while b"\n" not in self._heard and (content := os.read(self.reports, 4096)):
            self._heard += content
        line, _, self._heard = self._heard.partition(b"\n")
        match line.decode().split():
            case ["started", pid, way]:
                self.pid = int(pid)
                self.way = way
                """How it will be ended whole: one of the ways of `keeper`."""
                self._understand()
            case words:
                self._close_pipes()
                self._keeper.wait()
                why = os.strerror(int(words[1])) if len(words) == 2 else "no process could be started to keep it"
                raise NotStarted(f"{program} cannot be run: {why}")

    @property
    def root(self) -> int:
        """Process id of the keeper: all of the command's processes are below it."""
        return self._keeper.pid

    def note(self) -> bool:
        """Read what the keeper reports; False where it will report no more."""
        content = os.read(self.reports, 4096)
        self._heard += content
        self._understand()
        self.lost = not content
        return bool(content)

    def _understand(self) -> None:
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            what, number = line.decode().split()
            if what == "ended":
                self.exit_status = int(number)
            elif what == "crowded":
                self.crowded = True
            elif what == "cleaned":
                self.n_left = int(number)

    def end(self) -> None:
        """End the command and whatever it started, at once. Its output can still be read, until `release`."""
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
        if not self.lost or self._keeper.wait() != 0:  # the keeper itself was killed, or cannot do it
            self.way = keeper.PROCESS_GROUP
            self._keeper.kill()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._keeper.wait()

    def release(self) -> None:
        """End it, and close every pipe."""
        self.end()
        self._close_pipes()

    def _close_pipes(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            os.close(self.reports)
            self._control = -1
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()
