"""The text a vocabulary is trained on: documents in memory, or counts of text too large for that.

Pieces are counted by threads, by processes here, or by the workers of a cluster.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import re
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import psutil

from harness.data import Corpus, DataError, load_corpus
from harness.data.corpora import is_named
from harness.data.documents import take_bytes
from harness.data.user_files import matching_files
from harness.progress import progress
from harness.training.counts import load_counts
from impls.core.counts import CountedSource, PieceCounts, added
from impls.core.errors import BPEError, Missing
from impls.core.text.files import TextFile, TextFiles

if TYPE_CHECKING:
    from impls.compiled.training.count import Executors


@dataclass(frozen=True)
class TrainingText:
    """Corpora (of named ones only the training part) and files of counts."""

    corpora: tuple[str, ...]
    documents: Literal["paragraphs", "lines"] = "paragraphs"
    field: str = "text"
    """How the user's files are read, as `documents`; see `impls.core.text.files.TextFile`."""
    count_files: tuple[Path, ...] = ()
    max_bytes: int | None = None
    """UTF-8 bytes taken of each corpus."""

    @cached_property
    def given_counts(self) -> list[PieceCounts]:
        """Return the counts of the files. Raises `DataError` for a file without pieces."""
        return [_not_empty(str(path), load_counts(path)) for path in dict.fromkeys(self.count_files)]

    def counts(
        self, pattern: tuple[str, ...], memory_limit: int | None, executors: Executors | None = None
    ) -> PieceCounts:
        """Return the sum of the counts of all corpora and files; raise `DataError` for one without text."""
        limit = memory_limit or int(psutil.virtual_memory().available) // 2
        names = dict.fromkeys(self.corpora)
        counts = [_not_empty(name, self._counted(name, pattern, limit, executors)) for name in names]
        counts[:0] = self.given_counts
        return replace(counts[0] if len(counts) == 1 else added(counts), memory_limit=limit)

    def _counted(
        self, name: str, pattern: tuple[str, ...], memory_limit: int, executors: Executors | None
    ) -> PieceCounts:
        from impls.compiled.training.count import count_files, count_texts

        if is_named(name):
            corpus = _training_part(name)
            counts = count_texts(corpus.documents(), pattern)
            return replace(counts, sources=(CountedSource(name, corpus.n_bytes, corpus.digest),))
        files = self._files(name)
        sizes = [0 if file.path is None else file.path.stat().st_size for file in files]
        with progress(f"counting {name}", sum(sizes) or None, "bytes") as bar:
            counts = count_files(
                TextFiles(files), pattern, progress=bar.advance, memory_limit=memory_limit, executors=executors
            )
        sources = [CountedSource(file.name, size, _digest(file)) for file, size in zip(files, sizes, strict=True)]
        return replace(counts, sources=tuple(sources))

    def texts(self) -> list[str]:
        """Return the documents of all corpora. Raises `DataError` for a corpus without text."""
        texts: list[str] = []
        for name in dict.fromkeys(self.corpora):
            source = _training_part(name).documents() if is_named(name) else TextFiles(self._files(name))
            documents = list(take_bytes(source, self.max_bytes))
            if not any(documents):
                raise DataError(f"{'standard input' if name == '-' else name}: contains no text")
            texts += documents
        return texts

    def _files(self, name: str) -> list[TextFile]:
        """Return the files of a path, a folder or a glob, or standard input for `-`."""
        paths = [None] if name == "-" else matching_files(name)
        return [TextFile(path, self.documents, self.field) for path in paths]


def _training_part(name: str) -> Corpus:
    corpus = load_corpus(name)
    return replace(corpus, split="train") if corpus.has_split else corpus


def _not_empty(name: str, counts: PieceCounts) -> PieceCounts:
    if not len(counts):
        raise DataError(f"{name}: contains no text")
    return counts


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
        raise BPEError(f"{scheduler}: workers died with part of the text, perhaps out of memory: {error}") from None
    except (CancelledError, FutureCancelledError, OSError):
        raise BPEError(f"{scheduler}: the connection was lost") from None
    finally:
        client.close()
