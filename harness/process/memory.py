"""Current and peak resident memory of processes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from harness.process import reaper


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory in bytes of this process, or of process `pid` (0 if it has ended)."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def resident_bytes_below(root: int, most: int) -> dict[int, int]:
    """Return resident memory by process id, for the descendants of `root`, or a few more than `most` of them.

    Memory that two of them share counts twice; see `proportional_bytes`.
    """
    found: dict[int, int] = {}
    if not _lists_children():
        import psutil

        with contextlib.suppress(psutil.Error):
            found = {child.pid: resident_bytes(child.pid) for child in psutil.Process(root).children(recursive=True)}
        return found
    for pid in reaper.few_below(root, most):
        with contextlib.suppress(OSError):
            found[pid] = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return found


def proportional_bytes(pids: Iterable[int]) -> int:
    """Return the memory in bytes of processes together, counting shared memory once (`Pss` of proc(5)).

    Resident memory is used for a process whose shared memory the system does not report; an ended process counts 0.
    """
    total = 0
    for pid in pids:
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            total += resident_bytes(pid)
            continue
        total += sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


@cache
def _lists_children() -> bool:
    """Return whether the system has the file that `reaper.direct_children` reads (Linux, depending on its kernel)."""
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()


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
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return None
