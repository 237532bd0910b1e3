"""Resident memory of a process, now and at its highest. Knows nothing of what uses it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident_bytes(pid: int | None = None) -> int:
    """Resident memory of this process, or of process `pid` (0 where it is gone)."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def reset_peak() -> None:
    """Start the highest resident memory anew, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")


def peak_bytes() -> int | None:
    """Highest resident memory of this process since `reset_peak`, or since its start; None where unknown."""
    with contextlib.suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return None
