"""A run's temporary folder. What a killed run left behind, the next one removes.

A folder is in use while its lock is held; the system releases the lock of a process that dies, however it dies. Where
there are no such locks (Windows), folders left behind are not removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

_PREFIX = "bpebench-run-"
_LOCK = "in-use"


class Scratch:
    """A temporary folder of this process. Making one removes those of dead processes."""

    def __init__(self) -> None:
        for left in _left_behind():
            shutil.rmtree(left, ignore_errors=True)
        held = False
        while not held:
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            self._lock = os.open(self.folder / _LOCK, os.O_CREAT | os.O_RDWR)
            # Another process that cleans up may remove the folder before it is locked.
            held = fcntl is None or (_try_lock(self._lock) and self.folder.exists())

    def close(self) -> None:
        """Remove the folder."""
        os.close(self._lock)
        shutil.rmtree(self.folder, ignore_errors=True)


def _left_behind() -> Iterator[Path]:
    """Yield our folders that no process holds. One without a lock file is being made or removed by another."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / _LOCK, os.O_RDWR)
            try:
                if _try_lock(lock):
                    yield folder
            finally:
                os.close(lock)


def _try_lock(descriptor: int) -> bool:
    """Try to take the lock; False where another process holds it or the system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
