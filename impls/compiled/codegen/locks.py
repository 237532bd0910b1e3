"""A file lock with a time limit, which lets one process in at a time on systems that have such locks.

The library `filelock` is not used: what it does at a fork can deadlock with a thread that compiles.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from impls.core.private_files import make_folder

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

_PAUSE_SECONDS = 0.05


@contextmanager
def file_lock(path: Path, longest_seconds: float, waiting: Callable[[str], None]) -> Iterator[bool]:
    """Hold the lock of the file `path` while the block runs; call `waiting` once, with its id, if another process holds
    it.

    Yields False if the lock was not acquired within `longest_seconds`, or cannot be: the folder cannot be written, or
    the system has no such locks. The system releases the lock when its holder ends, however it ends.
    """
    try:
        make_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        yield False
        return
    try:
        yield _locked(handle, longest_seconds, waiting)
    finally:
        os.close(handle)


def _locked(handle: int, longest_seconds: float, waiting: Callable[[str], None]) -> bool:
    if fcntl is None:
        return False
    deadline = time.monotonic() + longest_seconds
    reported = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
        except OSError:
            return False
        else:
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
            return True
        if not reported:
            waiting(os.pread(handle, 20, 0).decode("ascii", "replace"))
            reported = True
        time.sleep(_PAUSE_SECONDS)
