"""The reaper: a small process between us and an untrusted child that ends the child and all its descendants.

Run as a script: `python -I -S reaper.py CONTROL REPORTS DATA_BYTES MOST COMMAND ...`. It starts COMMAND in a session of
its own, and waits. On a byte from the pipe CONTROL, or at its end (it closes when we end, however we end), it ends
every descendant, reports how many there were, and exits. On Linux it is a *subreaper*: daemons and orphans are
reparented to it, so nothing escapes; our own process is not one, so its other children are left alone. Elsewhere the
reaper ends the child's process group, and reports that.

Reports, one per line: `started PID MODE` or `failed ERRNO`; `ended STATUS` (as in `subprocess`: negative for a signal);
`crowded N` for more than MOST processes (0: no limit); `cleaned N`. Uses only the standard library, so that it starts
fast.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from types import FrameType

SUBREAPER, PROCESS_GROUP = "subreaper", "process-group"
_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_FEW = 20
_LOOK_SECONDS = 0.02
_FIRST_PAUSE_SECONDS, _PAUSE_SECONDS = 0.001, 0.05


def _content(path: str) -> bytes:
    """Return the content of a file of /proc; empty if its process has ended or there is no such file."""
    with contextlib.suppress(OSError), open(path, "rb") as file:  # noqa: PTH123 (pathlib is slow to import)
        return file.read()
    return b""


def direct_children(pid: int) -> list[int]:
    """Return the children of a process from a Linux file that is quick to read; none if there is no such file."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            found += map(int, _content(f"/proc/{pid}/task/{thread}/children").split())
    return found


def few_below(root: int, most: int) -> list[int]:
    """Return the descendants of `root`, stopping soon after `most`; faster than listing all processes."""
    found: list[int] = []
    left = [root]
    while left and len(found) <= most:
        children = direct_children(left.pop())
        found += children
        left += children
    return found


class Below:
    """The descendants of `root`, found by looking only at processes that are not yet known (Linux).

    A look therefore takes less time than a fork, so that it catches up with a fork bomb.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self.pids: set[int] = set()
        """Descendants found so far."""
        self._others: set[int] = {0}

    def look(self, number: int) -> bool:
        """Look for new descendants and send each at once signal `number`; return False if there were none."""
        before = len(self.pids)
        listed = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208
        early: dict[int, list[int]] = {}
        for found in sorted(listed - self.pids - self._others - {self._root}):
            parent = _parent(found)
            if parent in self.pids or parent == self._root:
                left = [found]
                while left:
                    pid = left.pop()
                    _send(pid, number)
                    self.pids.add(pid)
                    left += early.pop(pid, [])
            elif parent is None or parent in self._others:
                self._others.add(found)
            else:  # its parent comes later, since process ids wrap around
                early.setdefault(parent, []).append(found)
        return len(self.pids) > before


def _parent(pid: int) -> int | None:
    """Return the parent of a process, or None if it has ended."""
    fields = _content(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, 2)
    return None if not fields or fields[0] in (b"Z", b"X") else int(fields[1])


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def _start(command: list[str], data_bytes: int) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own, which ends with this process. Raises `OSError`."""
    parent = os.getpid()

    def prepare() -> None:
        """Set the limits of the new process before it becomes `command`."""
        import resource

        _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if data_bytes and sys.platform == "linux":
            hardest = resource.getrlimit(resource.RLIMIT_DATA)[1]
            most = data_bytes if hardest == resource.RLIM_INFINITY else min(data_bytes, hardest)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    return subprocess.Popen(command, preexec_fn=prepare, start_new_session=True)


def _reap() -> list[tuple[int, int]]:
    """Return the children that have ended since the last call, with their wait status."""
    found: list[tuple[int, int]] = []
    with contextlib.suppress(ChildProcessError):
        while (last := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(last)
    return found


def _send(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _hurry(wanted: bool) -> None:
    """Switch real-time scheduling on or off, if permitted (Linux)."""
    if hasattr(os, "sched_setscheduler"):
        policy = os.SCHED_FIFO if wanted else os.SCHED_OTHER
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, policy, os.sched_param(int(wanted)))


def end_all(child: int, mode: str) -> int:
    """End every descendant of this process; return how many there were besides `child`.

    All are stopped first, until no new one is found; otherwise they could fork faster than they are found.
    """
    _hurry(True)
    if mode == PROCESS_GROUP:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        return 0
    me = os.getpid()
    below = Below(me)
    while below.look(signal.SIGSTOP):
        pass
    for pid in below.pids:
        _send(pid, signal.SIGKILL)
    _hurry(False)  # from here on they need the processor in order to end
    pause_seconds = _FIRST_PAUSE_SECONDS
    while True:
        left = Below(me)
        left.look(signal.SIGKILL)
        below.pids |= left.pids
        if len(left.pids) < _FEW:
            below.pids |= _end_few(me)
        _reap()
        try:
            if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                select.select([], [], [], pause_seconds)
                pause_seconds = min(2 * pause_seconds, _PAUSE_SECONDS)
        except ChildProcessError:
            return len(below.pids - {child})


def _end_few(me: int) -> set[int]:
    """End the present children, repeatedly, to catch one that forks and exits between two looks."""
    seen: set[int] = set()
    for _ in range(100):
        children = direct_children(me)
        for pid in children:
            _send(pid, signal.SIGKILL)
        seen.update(children)
        _reap()
        if not children:
            break
    return seen


def main(control: int, reports: int, data_bytes: int, most: int, command: list[str]) -> None:
    """Start `command`, and end it on request or once it has more than `most` processes."""

    def report(line: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(reports, line.encode() + b"\n")

    def wake(number: int, frame: FrameType | None) -> None:
        """Do nothing: without a handler, the wakeup descriptor would not be written to."""

    mode = SUBREAPER if _prctl(_SET_CHILD_SUBREAPER, 1) and _content("/proc/self/stat") else PROCESS_GROUP
    woken, waking = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, wake)
    try:
        process = _start(command, data_bytes)  # kept: its finalizer would wait for the child, and lose its status
    except OSError as error:
        report(f"failed {error.errno}")
        return
    child = process.pid
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # otherwise the pipes would outlive the child
        os.dup2(nothing, descriptor)
    report(f"started {child} {mode}")
    if most:
        _hurry(True)  # a fork bomb leaves no time for anything else
    while True:
        ready, _, _ = select.select([control, woken], [], [], _LOOK_SECONDS if most else None)
        with contextlib.suppress(BlockingIOError):
            os.read(woken, 4096)
        for pid, status in _reap():
            if pid == child:
                report(f"ended {os.waitstatus_to_exitcode(status)}")
        if control in ready:
            break
        if most and len(processes := few_below(os.getpid(), most)) > most:
            report(f"crowded {len(processes)}")
            break
    report(f"cleaned {end_all(child, mode)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
