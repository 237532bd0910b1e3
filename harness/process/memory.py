"""Current and peak resident memory of processes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from harness import reaper


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory of this process, or of process `pid` (0 where it is gone)."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def resident_bytes_below(root: int, most: int) -> dict[int, int]:
    """Return resident memory by process id, for the descendants of `root`, or a few more than `most` of them.

    Memory that two of them share counts twice.
    """
    if sys.platform != "linux":
        import psutil

        with contextlib.suppress(psutil.Error):
            return {child.pid: resident_bytes(child.pid) for child in psutil.Process(root).children(recursive=True)}
        return {}
    found: dict[int, int] = {}
    for pid in _below(root, most):
        with contextlib.suppress(OSError):
            found[pid] = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _page_bytes()
    return found


def _below(root: int, most: int) -> Iterable[int]:
    if not _lists_children():
        return reaper.descendants(root)
    return reaper.few_below(root, most)


@cache
def _lists_children() -> bool:
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()


@cache
def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def reset_peak() -> None:
    """Reset the peak resident memory of this process, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes(pid: int | None = None) -> int | None:
    """Return the peak resident memory of this process or `pid` since `reset_peak` or its start; None where unknown."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid or 'self'}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if pid is not None:
        return None
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return None
