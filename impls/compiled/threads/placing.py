"""Sets the CPU affinity of worker threads.

Linux wakes a thread on the processor where it ran last, and with few processors it may not look for an idle one: a
worker that last ran where its caller runs now then takes turns with it for the whole batch, while the other processor
idles. So a worker is kept off the processor of the thread that asks for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable


def _processor_of_this_thread() -> Callable[[], int] | None:
    """Return the C function `sched_getcpu`; None if the system lacks it or has no thread affinity."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    try:
        return ctypes.CDLL(None).sched_getcpu
    except (AttributeError, OSError):
        return None


_processor = _processor_of_this_thread()


def this_processor() -> int | None:
    """Return the number of the processor on which the calling thread runs; None if threads cannot be placed."""
    return None if _processor is None else _processor()


def keep_off(thread: int, processor: int) -> None:
    """Let a thread, given by its native id, run wherever the calling thread may, except on `processor`.

    Does nothing if that leaves no processor, or the system refuses.
    """
    with contextlib.suppress(OSError):
        others = os.sched_getaffinity(0) - {processor}
        if others:
            os.sched_setaffinity(thread, others)
