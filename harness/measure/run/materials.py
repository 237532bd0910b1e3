"""Files that a run gives to its workers: texts and models, made once and kept in a temporary folder until it ends.

A folder is in use while its lock is held; the system releases the lock of a process that dies, however it dies.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from filelock import FileLock, Timeout

from harness.data import load_corpus, load_model
from harness.measure.protocol import Failed
from harness.measure.texts import new_documents, shuffled, workload_texts, write_texts
from harness.measure.worker import WorkerFailed
from harness.measure.workloads import N_PARTS, Workload, short_corpus, short_name
from harness.outcome import Outcome
from impls import BPEError, Model

M = TypeVar("M")

_FOLDER_PREFIX = "bpebench-run-"
_LOCK = "in-use"

LoadCorpus = Callable[[str, Any], Any]
"""(name, split) -> corpus, of which a run needs `documents()` and `digest`."""
LoadModel = Callable[[str], Model]
"""Name or path -> model."""


class Unavailable(WorkerFailed):
    """A model or corpus is not available, so that no worker can run; the message is the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(Failed(status=Outcome.MISSING, reason=reason), dead=False)


class TextFile(msgspec.Struct, frozen=True):
    """Texts on disk."""

    path: str
    n_bytes: int
    digest: str
    """SHA-256 of the texts, each preceded by its length; for a file to train from, of its content."""


class ModelFile(msgspec.Struct, frozen=True):
    """A model on disk, pickled for the workers, and its digest."""

    path: str
    digest: str
    n_tokens: int
    round_trip: str = ""
    """`Model.round_trip`."""


class Scratch:
    """A temporary folder of this process. Creating one removes those of dead processes."""

    def __init__(self) -> None:
        # A folder without a lock file is being made or removed by another process.
        for lock in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*/{_LOCK}"):
            with contextlib.suppress(OSError), FileLock(lock, timeout=0):
                shutil.rmtree(lock.parent, ignore_errors=True)
        held = False
        while not held:
            self.folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
            self._lock = FileLock(self.folder / _LOCK, timeout=0)
            # Another process that cleans up may remove the folder before it is locked.
            with contextlib.suppress(Timeout):
                self._lock.acquire()
                held = self.folder.exists()

    def close(self) -> None:
        """Remove the folder."""
        self._lock.release()
        shutil.rmtree(self.folder, ignore_errors=True)


class Materials:
    """Texts and models of one run. Use it in a `with` statement, which removes the folder at its end."""

    def __init__(self, load_model: LoadModel = load_model, load_corpus: LoadCorpus = load_corpus) -> None:
        self._load_model, self._load_corpus = load_model, load_corpus
        self._scratch = Scratch()
        self.temporary = self.new_path("temporary")
        """Folder for the workers' temporary files."""
        self.temporary.mkdir()
        self._texts: dict[Any, TextFile | Unavailable] = {}
        self._models: dict[str, ModelFile | Unavailable] = {}
        self._own: dict[str, str] = {}
        self._corpora: dict[str, str] = {}

    def __enter__(self) -> Materials:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.close()

    def new_path(self, name: str) -> Path:
        """Return a path in the folder."""
        return self._scratch.folder / name

    def texts(self, workload: Workload) -> TextFile:
        """Return the texts of a workload; raise `Unavailable`."""
        return _once(self._texts, workload.text_key, lambda: self._make_texts(workload, len(self._texts)))

    def model(self, name: str) -> ModelFile:
        """Return a model, pickled; raise `Unavailable`."""
        return _once(self._models, name, lambda: self._make_model(name, len(self._models)))

    def round_trip(self, name: str) -> str:
        """Return `Model.round_trip` of a model already loaded, or an empty string."""
        made = self._models.get(name)
        return made.round_trip if isinstance(made, ModelFile) else ""

    def own_format(self, name: str) -> str:
        """Return the path of a model in the suite's own format; raise `Unavailable`."""
        if name not in self._own:
            path = self.new_path(f"model-{len(self._own)}.json")
            pickled = self.model(name).path
            pickle.loads(Path(pickled).read_bytes()).save(path)
            Model.load(path)  # fills the cache of parsed files before any implementation is timed
            self._own[name] = str(path)
        return self._own[name]

    def digests(self) -> dict[str, dict[str, str]]:
        """Return digests of everything used: models and corpora by name, texts by the workload they were made for."""
        return {
            "corpora": dict(self._corpora),
            "models": {
                short_name(name): made.digest for name, made in self._models.items() if isinstance(made, ModelFile)
            },
            "texts": {
                " ".join(short_corpus(str(part)) for part in key if part is not None): made.digest
                for key, made in self._texts.items()
                if isinstance(made, TextFile)
            },
        }

    def _make_texts(self, workload: Workload, number: int) -> TextFile:
        """Write the texts; those of `sustained` one file per part, and the first part also without a number."""
        corpus = self._load_corpus(workload.corpus, workload.split)
        documents = shuffled(corpus.documents())
        self._corpora[f"{short_corpus(workload.corpus)} {workload.split or ''}".strip()] = corpus.digest
        path = self.new_path(f"texts-{number}")
        hasher, n_bytes = hashlib.sha256(), 0
        if workload.reads_file:
            return _written(path, documents, workload)
        for part, texts in enumerate(_parts(documents, workload)):
            if workload.state == "sustained":
                write_texts(path.with_name(f"{path.name}-{part}"), texts)
            if not part:
                write_texts(path, texts)
            for text in texts:
                hasher.update(len(text).to_bytes(8, "little") + text)
                n_bytes += len(text)
        return TextFile(str(path), n_bytes, hasher.hexdigest())

    def _make_model(self, name: str, number: int) -> ModelFile:
        model = self._load_model(name)
        if model.merge_rule == "concatenation":
            _ = model.recovered_merges  # derived once here, instead of in each worker whose library needs merges
        path = self.new_path(f"model-{number}.pickle")
        path.write_bytes(pickle.dumps(model))
        return ModelFile(str(path), model.digest, model.n_tokens, model.round_trip)


def _written(path: Path, documents: Iterable[str], workload: Workload) -> TextFile:
    """Write documents that never repeat, each with a line end, to a plain text file."""
    hasher, n_bytes = hashlib.sha256(), 0
    with path.open("wb") as file:
        for document in _new_documents(documents, workload):
            hasher.update(document + b"\n")
            n_bytes += file.write(document + b"\n")
            if n_bytes >= workload.max_bytes:
                return TextFile(str(path), n_bytes, hasher.hexdigest())
    raise AssertionError("there are always more documents")


def _parts(documents: Iterable[str], workload: Workload) -> Iterator[list[bytes]]:
    """Yield the texts of a workload: part by part for `sustained`, else all at once; raise `Unavailable`."""
    if workload.state != "sustained":
        texts = workload_texts(documents, workload)
        if not texts:
            raise Unavailable(f"the corpus {workload.corpus!r} has no text after {workload.skip_bytes} bytes")
        yield texts
        return
    endless = _new_documents(documents, workload)
    per_part = max(1, workload.max_bytes // N_PARTS // workload.document_bytes)
    for _ in range(N_PARTS):
        yield list(islice(endless, per_part))


def _new_documents(documents: Iterable[str], workload: Workload) -> Iterator[bytes]:
    """Yield documents without end; raise `Unavailable` for a corpus without text."""
    try:
        yield from new_documents(documents, workload.document_bytes)
    except ValueError as error:
        raise Unavailable(f"the corpus {workload.corpus!r}: {error}") from None


def _once(made: dict[Any, M | Unavailable], key: object, make: Callable[[], M]) -> M:
    """Return the result of `make` for `key`, made once; raise `Unavailable`, at later calls again."""
    if key not in made:
        try:
            made[key] = make()
        except Unavailable as error:
            made[key] = error
        except (BPEError, OSError) as error:
            made[key] = Unavailable(" ".join(str(error).split()))
    found = made[key]
    if isinstance(found, Unavailable):
        raise found
    return found
