"""The cores processes run on and the threads their libraries may use: affinity and environment."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

THREAD_VARIABLES = (
    "RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS", "TOKIO_WORKER_THREADS",
)  # fmt: skip


def cores() -> list[int]:
    """Return the cores this process may use, in order."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def can_pin() -> bool:
    """Return whether there are several cores and processes can be pinned to them."""
    return hasattr(os, "sched_setaffinity") and len(cores()) > 1


def pin_to(chosen: Collection[int]) -> None:
    """Pin this process, all its threads, to `chosen` cores, if there are any and the system can."""
    if chosen and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            for thread in Path("/proc/self/task").iterdir():
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread.name), chosen)


@contextlib.contextmanager
def parent_on_first_core() -> Iterator[list[int]]:
    """Pin this process to its first core inside the `with` block; yield the cores it had before."""
    before = cores()
    if can_pin():
        pin_to(before[:1])
    try:
        yield before
    finally:
        pin_to(before)


def thread_environment(threads: int) -> dict[str, str]:
    """Return environment variables that limit the thread pools of the libraries."""
    is_parallel = "true" if threads > 1 else "false"
    return dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"TOKENIZERS_PARALLELISM": is_parallel}


def steal_ticks(chosen: Collection[int]) -> int:
    """Return how many ticks the host of this virtual machine has taken from these cores so far; 0 where unknown."""
    with contextlib.suppress(OSError, ValueError):
        lines = Path("/proc/stat").read_text().splitlines()
        names = {f"cpu{core}" for core in chosen}
        return sum(int(line.split()[8]) for line in lines if line.split()[0] in names)
    return 0
