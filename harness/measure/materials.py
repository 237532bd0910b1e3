"""The files a run gives to its workers: texts and models, made once, kept in a temporary folder until it ends."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from harness.measure.new_documents import new_documents
from harness.measure.scratch import Scratch
from harness.measure.texts import shuffled, workload_texts, write_texts
from harness.measure.workloads import N_PARTS, Workload, short_corpus, short_name
from impls import BPEError, Model

M = TypeVar("M")


class CorpusLike(Protocol):
    """What a run needs of a corpus (`harness.data.Corpus`)."""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of its documents."""

    def documents(self) -> Iterable[str]:
        """Yield its documents in order."""


LoadCorpus = Callable[[str, Any], CorpusLike]
"""(name, split) -> corpus"""
LoadModel = Callable[[str], Model]
"""name or path -> model"""


class Unavailable(Exception):
    """A model or corpus is not available; the message says why."""


class TextFile(msgspec.Struct, frozen=True):
    """Texts on disk."""

    path: str
    n_texts: int
    n_bytes: int
    digest: str
    """SHA-256 of the texts, each preceded by its length."""


class ModelFile(msgspec.Struct, frozen=True):
    """A model on disk, pickled for the workers, and its digest."""

    path: str
    digest: str
    n_tokens: int
    round_trip: str = ""
    """`Model.round_trip`."""


class Materials:
    """Texts and models of one run. Use it in a `with` statement, which removes the folder at its end."""

    def __init__(self, load_model: LoadModel, load_corpus: LoadCorpus) -> None:
        self._load_model, self._load_corpus = load_model, load_corpus
        self._scratch = Scratch()
        self._folder = self._scratch.folder
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
        return self._folder / name

    def texts(self, workload: Workload) -> TextFile:
        """Return the texts of a workload; raise `Unavailable`."""
        key = workload.text_key
        if key not in self._texts:
            self._texts[key] = self._made(lambda: self._make_texts(workload, len(self._texts)))
        return _or_raise(self._texts[key])

    def model(self, name: str) -> ModelFile:
        """Return a model, pickled; raise `Unavailable`."""
        if name not in self._models:
            self._models[name] = self._made(lambda: self._make_model(name, len(self._models)))
        return _or_raise(self._models[name])

    def round_trip(self, name: str) -> str:
        """Return `Model.round_trip` of a model already made, empty for any other."""
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
        """Return digests of everything used: models and corpora by name, texts by what they were cut from."""
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
        corpus = self._load_corpus(workload.corpus, workload.split)
        documents = shuffled(corpus.documents())
        self._corpora[f"{short_corpus(workload.corpus)} {workload.split or ''}".strip()] = corpus.digest
        if workload.state == "sustained":
            return self._make_parts(documents, workload, number)
        texts = workload_texts(documents, workload)
        if not texts:
            raise Unavailable(f"the corpus {workload.corpus!r} has no text after {workload.skip_bytes} bytes")
        path = self.new_path(f"texts-{number}")
        write_texts(path, texts)
        hasher = hashlib.sha256()
        for text in texts:
            hasher.update(len(text).to_bytes(8, "little") + text)
        return TextFile(str(path), len(texts), sum(map(len, texts)), hasher.hexdigest())

    def _make_parts(self, documents: Iterable[str], workload: Workload, number: int) -> TextFile:
        """Write new documents, one file per part; the file without a number also holds the first part."""
        path = self.new_path(f"texts-{number}")
        endless = new_documents(documents, workload.document_bytes)
        per_part = max(1, workload.max_bytes // N_PARTS // workload.document_bytes)
        hasher = hashlib.sha256()
        n_bytes = 0
        for part in range(N_PARTS):
            try:
                texts = list(islice(endless, per_part))
            except ValueError as error:
                raise Unavailable(f"the corpus {workload.corpus!r}: {error}") from None
            write_texts(self.new_path(f"{path.name}-{part}"), texts)
            for text in texts:
                hasher.update(len(text).to_bytes(8, "little") + text)
                n_bytes += len(text)
            if not part:
                write_texts(path, texts)
        return TextFile(str(path), per_part * N_PARTS, n_bytes, hasher.hexdigest())

    def _make_model(self, name: str, number: int) -> ModelFile:
        model = self._load_model(name)
        if model.merge_rule == "concatenation":
            _ = model.recovered_merges  # derived here once, instead of in each worker whose library needs merges
        path = self.new_path(f"model-{number}.pickle")
        path.write_bytes(pickle.dumps(model))
        return ModelFile(str(path), model.digest, model.n_tokens, model.round_trip)

    def _made(self, make: Callable[[], M]) -> M | Unavailable:
        try:
            return make()
        except Unavailable as error:
            return error
        except (BPEError, OSError) as error:
            return Unavailable(" ".join(str(error).split()))


def _or_raise(made: M | Unavailable) -> M:
    if isinstance(made, Unavailable):
        raise made
    return made
