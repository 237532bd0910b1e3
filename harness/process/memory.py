"""What processes use: resident memory, now and at most, and processor time."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory in bytes of this process, or of process `pid` (0 if it has ended)."""
    import psutil

    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def reset_peak() -> None:
    """Reset the peak resident memory of this process, if the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes(pid: int | None = None) -> int | None:
    """Return the peak resident memory of this process or `pid` since `reset_peak` or its start; None if unknown."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid or 'self'}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if pid is not None:
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def cpu_seconds(pid: int | None) -> float:
    """Return the processor time that the system counted for all threads of `pid` so far; 0 where it does not tell."""
    return sum(_of_threads(pid, 0))


def waiting_seconds(pid: int | None) -> float:
    """Return how long any thread of `pid` has waited for a processor so far; 0 where the system does not tell."""
    return max(_of_threads(pid, 1), default=0.0)


def busy_seconds() -> float:
    """Return a clock of this process that stands still while it waits for a processor."""
    return time.monotonic() - waiting_seconds(os.getpid())


def _of_threads(pid: int | None, place: int) -> list[float]:
    seconds: list[float] = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            seconds.append(int(path.read_text().split()[place]) / 1e9)
    return seconds
