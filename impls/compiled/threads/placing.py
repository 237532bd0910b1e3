"""Which processors the threads run on that help with batches.

Linux wakes a thread where it ran last, and where a machine has few processors it may not look for an idle one: a
helper that ran last where its caller runs now then takes turns with it for as long as a batch takes, and the other
processor does nothing. So a helper is kept off the processor of the thread that asks for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable


def _processor_of_this_thread() -> Callable[[], int] | None:
    """What tells the processor the calling thread runs on; None where nobody does, or threads cannot be placed."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    try:
        return ctypes.CDLL(None).sched_getcpu
    except (AttributeError, OSError):
        return None


_processor = _processor_of_this_thread()


def this_processor() -> int | None:
    """The number of the processor the calling thread runs on; None where threads cannot be placed."""
    return None if _processor is None else _processor()


def keep_off(thread: int, processor: int) -> None:
    """Lets a thread, by its native id, run wherever the calling one may, but not on that processor.

    Where that leaves none, or the system does not let us, it stays as it is.
    """
    with contextlib.suppress(OSError):
        others = os.sched_getaffinity(0) - {processor}
        if others:
            os.sched_setaffinity(thread, others)
