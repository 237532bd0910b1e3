"""Count the pieces of corpora of any size, here or by workers, for `train` to learn from or to write."""

from __future__ import annotations

import hashlib
import multiprocessing
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import psutil

from harness.data import DataError, load_corpus
from harness.data.corpora import is_named
from harness.data.user_files import matching_files
from harness.progress import progress
from impls.core.counts import CountedSource, PieceCounts
from impls.core.errors import BPEError, Missing
from impls.core.text.files import TextFile, TextFiles

if TYPE_CHECKING:
    from impls.compiled.training.count import Executors


@dataclass(frozen=True, slots=True)
class Reading:
    """How the user's files are read; see `impls.core.text.files.TextFile`."""

    documents: Literal["paragraphs", "lines"] = "paragraphs"
    field: str = "text"

    def files(self, name: str) -> list[TextFile]:
        """Return the files of a path, a folder or a glob, or standard input for `-`."""
        paths = [None] if name == "-" else matching_files(name)
        return [TextFile(path, self.documents, self.field) for path in paths]


def counted(
    corpora: Sequence[str],
    pattern: tuple[str, ...],
    reading: Reading,
    *,
    memory_limit: int,
    executors: Executors | None = None,
) -> dict[str, PieceCounts]:
    """Return the counts of each corpus; of a named corpus, those of its training part."""
    found = {}
    for name in dict.fromkeys(corpora):
        if is_named(name):
            count = _of_corpus(name, pattern)
        else:
            count = _of_files(name, pattern, reading, memory_limit, executors)
        if not len(count):
            raise DataError(f"{name}: holds no text")
        found[name] = count
    return found


def _of_corpus(name: str, pattern: tuple[str, ...]) -> PieceCounts:
    from impls.compiled.training.count import count_texts

    corpus = load_corpus(name)
    if corpus.has_split:
        corpus = load_corpus(name, split="train")
    counts = count_texts(corpus.documents(), pattern)
    return replace(counts, sources=(CountedSource(name, corpus.n_bytes, corpus.digest),))


def _of_files(
    name: str,
    pattern: tuple[str, ...],
    reading: Reading,
    memory_limit: int,
    executors: Executors | None,
) -> PieceCounts:
    from impls.compiled.training.count import count_files

    files = reading.files(name)
    sizes = [0 if file.path is None else file.path.stat().st_size for file in files]
    with progress(f"counting {sum(sizes) / 1e6:.1f} MB of {name}", sum(sizes) or None, "bytes") as bar:
        counts = count_files(
            TextFiles(files), pattern, progress=bar.advance, memory_limit=memory_limit, executors=executors
        )
    sources = [CountedSource(file.name, size, _digest(file)) for file, size in zip(files, sizes, strict=True)]
    return replace(counts, sources=tuple(sources))


def half_of_free() -> int:
    """Return half of the free memory, in bytes."""
    return int(psutil.virtual_memory().available) // 2


def _digest(file: TextFile) -> str:
    """Return the SHA-256 of a file, empty for standard input."""
    if file.path is None:
        return ""
    with Path(file.path).open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


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
    if workers is not None:
        # Spawned, not forked: the process has threads.
        return lambda: ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    return None


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
