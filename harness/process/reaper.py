"""The reaper: a small process between us and an untrusted child that ends the child and all its descendants.

Run as a script: `python -I -S reaper.py CONTROL DATA_BYTES COMMAND ...`. It starts COMMAND in a session of its own and
ends as COMMAND ends, with the same exit status or signal. At the end of the pipe CONTROL, which closes when we end,
however we end, it kills everything and exits. On Linux it is a *subreaper*: orphans are reparented to it, so that one
sweep over its descendants reaches all; elsewhere it ends the child's process group. Our own process is not a subreaper,
so its other children are left alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _start(command: list[str], data_bytes: int) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own, which ends with this process. Raises `OSError`."""
    parent = os.getpid()

    def prepare() -> None:
        """Set the limits of the new process before it becomes `command`."""
        import resource

        _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        if data_bytes and sys.platform == "linux":
            hardest = resource.getrlimit(resource.RLIMIT_DATA)[1]
            most = data_bytes if hardest == resource.RLIM_INFINITY else min(data_bytes, hardest)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    return subprocess.Popen(command, preexec_fn=prepare, start_new_session=True)


def _reap() -> bool:
    """Collect the children that have ended; return whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def sweep(group: int) -> None:
    """Kill the process group `group`, then every descendant, until none is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    if not _reap():
        return
    import site

    site.main()  # psutil is a package, and packages are not on the path of `python -S`
    import psutil

    while _reap():
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
        psutil.wait_procs(psutil.Process().children(), timeout=0.01)


def main(control: int, data_bytes: int, command: list[str]) -> None:
    """Run `command` and end as it ends, or kill it once `control` is closed."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _prctl(_SET_CHILD_SUBREAPER, 1)
    child = _start(command, data_bytes)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # otherwise the pipes would outlive the child
        os.dup2(nothing, descriptor)

    def watch() -> None:
        os.read(control, 1)
        sweep(child.pid)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    pid = status = 0
    try:
        while pid != child.pid:
            pid, status = os.wait()
    except ChildProcessError:  # the sweep of the other thread was quicker
        threading.Event().wait()
    sweep(child.pid)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler to reset
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
