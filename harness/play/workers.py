"""The worker processes: one `Session` per column, so that a slow or crashing library affects only its own column.

They are few and started when needed; the one unused for longest is ended to make room. Every call has a time limit in
seconds, after which its process is ended; the next call starts a new one. What cannot be answered soon is refused
at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, TypeVar

from harness.failures import describe
from harness.play.guard import Busy
from harness.play.tasks import Source, prepare
from harness.process.limits import Limits, worker_limits
from harness.process.session import FailedError, Session, functions

MOST_WORKERS = 8
WAITING_SECONDS = 0.5
"""How long a call may wait for the worker of its column."""
MEMORY_BYTES = 3 << 30
"""Memory limit of one worker."""
START_SECONDS = 60.0
"""Time limit for reading a model, and for compiling the kernels if that was never done."""
_REAP_SECONDS = 1.0

T = TypeVar("T")


@dataclass(eq=False)
class _Slot:
    """The worker of one key, used by one call at a time."""

    columns: Sequence[tuple[str, Source]]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    n_users: int = 0
    """Calls that are running or waiting."""
    used: float = 0.0
    worker: Session | None = None

    def call(self, limits: Limits, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """Return `function(*arguments)` from the worker, starting one if needed; runs on a thread."""
        ready = self.worker is not None
        try:
            if self.worker is None:
                self.worker = functions(limits)
                self.worker.call(prepare, self.columns, seconds=START_SECONDS).result()
                ready = True
            return self.worker.call(function, *arguments, seconds=seconds).result()
        except BaseException as error:
            if not ready or isinstance(error, FailedError):
                self.end()
            if isinstance(error, Exception):
                raise
            raise RuntimeError(describe(error)) from None  # a Rust panic, which would end the server

    def end(self) -> None:
        """End the process."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.kill()


class Workers:
    """All workers, for use from one event loop."""

    def __init__(self, most: int = MOST_WORKERS) -> None:
        self._most = most
        self._slots: dict[Hashable, _Slot] = {}
        self._threads = ThreadPoolExecutor(most + 2, thread_name_prefix="play")
        self._limits = replace(worker_limits(MEMORY_BYTES), output_bytes=128 << 20)

    async def call(
        self,
        key: Hashable,
        columns: Sequence[tuple[str, Source]],
        function: Callable[..., T],
        *arguments: Any,
        seconds: float,
    ) -> T:
        """Return `function(*arguments)` from the worker of `key`, which has prepared `columns`.

        Raise `Busy` if no worker is free, or this one is not free soon, `FailedError` for a worker that exceeded its
        limits or died, and the exceptions of the function.
        """
        slot = await self._slot(key, columns)
        slot.n_users += 1
        try:
            async with asyncio.timeout(WAITING_SECONDS):
                await slot.lock.acquire()
        except BaseException as error:
            slot.n_users -= 1
            if isinstance(error, TimeoutError):
                raise Busy("this column has other requests to answer; try again in a moment") from None
            raise
        running: asyncio.Future[T] = self._run(lambda: slot.call(self._limits, function, *arguments, seconds=seconds))

        def done(future: asyncio.Future[T]) -> None:
            if not future.cancelled():
                future.exception()  # retrieved, even if nobody waits for it any more
            slot.used = monotonic()
            slot.n_users -= 1
            slot.lock.release()

        running.add_done_callback(done)
        return await asyncio.shield(running)  # the caller may be cancelled; the worker answers first

    async def _slot(self, key: Hashable, columns: Sequence[tuple[str, Source]]) -> _Slot:
        """Return the slot of `key`; to make room for a new one, end the worker unused for longest."""
        if (slot := self._slots.get(key)) is not None:
            return slot
        oldest = None
        if len(self._slots) >= self._most:
            unused = [name for name, other in self._slots.items() if other.n_users == 0]
            if not unused:
                raise Busy(f"all {self._most} workers are busy; use fewer columns, or try again in a moment")
            oldest = self._slots.pop(min(unused, key=lambda name: self._slots[name].used))
        slot = self._slots[key] = _Slot(columns)
        if oldest is not None:
            slot.n_users += 1  # kept while the other one ends
            try:
                await self._run(oldest.end)
            finally:
                slot.n_users -= 1
        return slot

    def _run(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._threads, function)

    async def reap(self) -> None:
        """Drop workers that died while nothing was asked of them, forever."""
        while True:
            await asyncio.sleep(_REAP_SECONDS)
            for slot in self._slots.values():
                if slot.n_users == 0 and slot.worker is not None and slot.worker.has_ended:
                    slot.end()

    def close(self) -> None:
        """End every process."""
        for slot in self._slots.values():
            slot.end()
        self._threads.shutdown(wait=False, cancel_futures=True)
