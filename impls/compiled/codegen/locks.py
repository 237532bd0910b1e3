"""A file lock with a time limit: one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from impls.core.private_files import make_folder

_PAUSE_SECONDS = 0.05


@contextmanager
def turn(path: Path, longest_seconds: float, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of the file `path` while the block runs; call `waiting` once where another process holds it.

    The block runs without the lock where that was not acquired within `longest_seconds`, or cannot be: a folder that
    cannot be written, a system without such locks. The system releases it when its holder ends, however it ends.
    """
    from filelock import FileLock, Timeout  # slow to import, and needed only to compile

    lock = FileLock(path, mode=0o600)
    with suppress(OSError, NotImplementedError):
        make_folder(path.parent)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waiting()
            lock.acquire(timeout=longest_seconds, poll_interval=_PAUSE_SECONDS)
    try:
        yield
    finally:
        lock.release()
