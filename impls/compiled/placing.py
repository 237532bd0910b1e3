"""Which processors the threads run on that help with batches.

Linux wakes a thread where it ran last, and where a machine has few processors it may not look for an idle one: a
helper that ran last where its caller runs now then takes turns with it for as long as a batch takes, and the other
processor does nothing. So a helper is kept off the processor of the thread that asks for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Collection


def _processor_of_this_thread() -> Callable[[], int] | None:
    """What tells the processor the calling thread runs on; None where nobody does, or threads cannot be placed."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    try:
        return ctypes.CDLL(None).sched_getcpu
    except (AttributeError, OSError):
        return None


_processor = _processor_of_this_thread()


class Placing:
    """Of threads that are asked by one thread or another."""

    def __init__(self) -> None:
        self._kept_off: tuple[int, int] | None = None

    def keep_off_this_processor(self, threads: Collection[int]) -> None:
        """Lets threads, by their native ids, run wherever the calling one may, but not where it runs now.

        Where it may run on one processor alone, or the system does not let us, they stay as they are.
        """
        if _processor is None:
            return
        here = (_processor(), len(threads))
        if here == self._kept_off:
            return
        self._kept_off = here
        with contextlib.suppress(OSError):
            others = os.sched_getaffinity(0) - {here[0]}
            if others:
                for thread in threads:
                    os.sched_setaffinity(thread, others)
