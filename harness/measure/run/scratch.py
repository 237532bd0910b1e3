"""A run's temporary folder. What a killed run left behind, the next one removes.

A folder is in use while its lock is held; the system releases the lock of a process that dies, however it dies.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

_PREFIX = "bpebench-run-"
_LOCK = "in-use"


class Scratch:
    """A temporary folder of this process. Making one removes those of dead processes."""

    def __init__(self) -> None:
        # A folder without a lock file is being made or removed by another process.
        for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
            with contextlib.suppress(OSError), FileLock(lock, timeout=0):
                shutil.rmtree(lock.parent, ignore_errors=True)
        held = False
        while not held:
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            self._lock = FileLock(self.folder / _LOCK, timeout=0)
            # Another process that cleans up may remove the folder before it is locked.
            with contextlib.suppress(Timeout):
                self._lock.acquire()
                held = self.folder.exists()

    def close(self) -> None:
        """Remove the folder."""
        self._lock.release()
        shutil.rmtree(self.folder, ignore_errors=True)
