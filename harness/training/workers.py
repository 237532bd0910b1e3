"""The workers that count the pieces of a text: processes here, or a cluster."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager

from impls.core.errors import BPEError, Missing

_RETRIES = 3
"""How often a task is given to another worker after one died with it."""
_SECONDS = 20.0
"""How long to wait for the scheduler."""
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
_LAST_PORT = 65535


def executors_of(workers: int | None, scheduler: str | None) -> Callable[[], AbstractContextManager[Executor]] | None:
    """Return a function that starts `workers` processes or connects to a scheduler; None if neither is given."""
    if scheduler is not None:
        if not _ADDRESS.fullmatch(scheduler) or int(scheduler.rpartition(":")[2]) > _LAST_PORT:
            raise BPEError(f"--scheduler {scheduler}: invalid address; write tcp://HOST:PORT")
        return lambda: _dask(scheduler)
    # Spawned, not forked: the process has threads.
    return None if workers is None else lambda: ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))


@contextmanager
def _dask(scheduler: str) -> Iterator[Executor]:
    try:
        from distributed import Client
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker
    except ModuleNotFoundError:
        raise Missing("--scheduler", "bpebench[cluster]") from None
    try:
        client = Client(scheduler, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BPEError(f"{scheduler}: no scheduler answers: {error}; start one with `dask scheduler`") from None
    try:
        if not client.scheduler_info()["workers"]:
            raise BPEError(f"{scheduler}: has no workers; start some with `dask worker {scheduler}`")
        yield client.get_executor(retries=_RETRIES)
    except KilledWorker as error:
        raise BPEError(f"{scheduler}: workers died with a part of the text; they may lack memory: {error}") from None
    except (CancelledError, FutureCancelledError, OSError):
        raise BPEError(f"{scheduler}: the connection was lost") from None
    finally:
        client.close()
