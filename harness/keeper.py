"""The keeper: a small process between us and a child nobody trusts, which ends the child and all it has started.

Run as a script: `python -I -S keeper.py CONTROL REPORTS DATA_BYTES COMMAND ...`. It starts COMMAND in a session of its
own, and waits. When a byte on the pipe CONTROL or its end says so (it ends with us, however we end), it ends every
process below itself, says how many, and is gone. On Linux it is a *subreaper*: what would be a daemon or an orphan
elsewhere comes back to it, so nothing escapes; and our own process is none, so its other children are left alone.
Elsewhere the keeper ends the child's process group, and says so.

Reports, a line each: `started PID WAY` or `failed ERRNO`, then `ended STATUS` (as `subprocess` counts: negative is a
signal), then `cleaned N`. Only the standard library, for it must start fast.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from pathlib import Path
from types import FrameType

SUBREAPER, PROCESS_GROUP = "subreaper", "process-group"
_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_PROC = Path("/proc")


def direct_children(pid: int) -> list[int]:
    """The children of a process, from a file of Linux that is quick to read; none where there is no such file."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_bytes().split())
    return found


def descendants(root: int) -> set[int]:
    """Every process below `root` that has not ended, by looking at all processes of the system (Linux)."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    children.setdefault(int(parent), []).append(int(entry.name))
    found: set[int] = set()
    left = [root]
    while left:
        below = children.pop(left.pop(), [])
        found.update(below)
        left += below
    return found


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def _become(command: list[str], data_bytes: int, parent: int) -> None:
    """Turn this freshly forked process into `command`."""
    os.setsid()
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    for number in (signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE)):
        signal.signal(number, signal.SIG_DFL)
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if data_bytes and sys.platform == "linux":
        hardest = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = data_bytes if hardest == resource.RLIM_INFINITY else min(data_bytes, hardest)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    os.execvp(command[0], command)


def _start(command: list[str], data_bytes: int) -> int:
    """The process id of `command`; raises `OSError` where it cannot be run."""
    fate, told = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        number = 1
        try:
            _become(command, data_bytes, parent)
        except OSError as error:
            number = error.errno or 1
        finally:
            os.write(told, str(number).encode())
            os._exit(127)
    os.close(told)
    with os.fdopen(fate, "rb") as file:
        number_told = file.read()
    if number_told:
        os.waitpid(child, 0)
        raise OSError(int(number_told), "")
    return child


def _reap() -> list[tuple[int, int]]:
    """The processes of ours that have ended since it was last asked, with their status."""
    found: list[tuple[int, int]] = []
    with contextlib.suppress(ChildProcessError):
        while (last := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(last)
    return found


def _signal(pids: set[int] | list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_all(child: int, way: str) -> int:
    """End every process below this one; gives how many there were beside `child`.

    First all are stopped, again and again until no new one is found, for else they would fork faster than we look.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    if way == PROCESS_GROUP:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        return 0
    me = os.getpid()
    seen: set[int] = set()
    while new := descendants(me) - seen:
        _signal(new, signal.SIGSTOP)
        seen |= new
    while True:
        _signal(descendants(me), signal.SIGKILL)
        for _ in range(100):  # one that forks and ends at once comes to us in between: this is quicker than it
            adopted = direct_children(me)
            _signal(adopted, signal.SIGKILL)
            seen.update(adopted)
            if not _reap() and not adopted:
                break
        try:
            if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                select.select([], [], [], 0.001)
        except ChildProcessError:
            return len(seen - {child})


def main(control: int, reports: int, data_bytes: int, command: list[str]) -> None:
    """Start `command`, keep it, end it."""

    def report(line: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(reports, line.encode() + b"\n")

    def wake(number: int, frame: FrameType | None) -> None:
        """A handler there must be, for the descriptor to be written to."""

    os.set_inheritable(control, False)
    os.set_inheritable(reports, False)
    way = SUBREAPER if _prctl(_SET_CHILD_SUBREAPER, 1) and (_PROC / "self/stat").exists() else PROCESS_GROUP
    woken, waking = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, wake)
    try:
        child = _start(command, data_bytes)
    except OSError as error:
        report(f"failed {error.errno}")
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # else the pipes would not end with the child
        os.dup2(nothing, descriptor)
    report(f"started {child} {way}")
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        with contextlib.suppress(BlockingIOError):
            os.read(woken, 4096)
        for pid, status in _reap():
            if pid == child:
                report(f"ended {os.waitstatus_to_exitcode(status)}")
        if control in ready:
            break
    report(f"cleaned {end_all(child, way)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
