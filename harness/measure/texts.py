"""The texts of a run: documents of its corpora in a seeded order, each once per process, cut into the texts of calls.

Texts are kept as bytes (UTF-8 with surrogatepass), so that every pass gets new `str` objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from harness.data.documents import boundary, encoded
from harness.measure.workloads import Workload

MOST_CHARACTERS = 64_000_000
"""Of a huge corpus, the beginning."""
_LONGEST_CHARACTER = 4


LoadCorpus = Callable[[str, Any], Any]
"""Name and split -> corpus, of which a run needs `documents()` and `digest`."""


class Corpora:
    """The corpora of a run, each read once."""

    def __init__(self, load_corpus: LoadCorpus) -> None:
        self._load = load_corpus
        self._read: dict[tuple[str, str | None], tuple[list[bytes], int]] = {}
        self.digests: dict[tuple[str, str | None], str] = {}

    def read(self, name: str, split: str | None) -> tuple[list[bytes], int]:
        """Return the documents of a corpus, and their bytes. Raises what loading raises."""
        if (name, split) not in self._read:
            corpus, room = self._load(name, split), MOST_CHARACTERS
            documents: list[bytes] = []
            for document in corpus.documents():
                documents.append(encoded(document))
                room -= len(document)
                if room < 0:
                    break
            self.digests[name, split] = corpus.digest
            self._read[name, split] = documents, sum(map(len, documents))
        return self._read[name, split]


class Stream:
    """What one process reads: no document of any corpus twice, in an order of its own.

    What is to be read again (state `again`) is not new text, and is taken from the beginning, whatever was given.
    """

    def __init__(self, corpora: Corpora, seed: str) -> None:
        self._corpora, self._seed = corpora, seed
        self._given: set[bytes] = set()
        self._left: dict[tuple[str, str | None, bool], Iterator[bytes]] = {}
        self._buffers: dict[tuple[str, str | None, bool], bytearray] = {}

    def calls(self, workload: Workload) -> list[list[bytes]] | None:
        """Return the texts of each call of a pass, after those of its lead; None once the corpus is too short for it.

        Generated texts are one document each, given as they are.
        """
        documents, corpus_bytes = self._corpora.read(workload.corpus, workload.split)
        if workload.corpus.startswith("gen/"):
            return [[document] for document in documents[: workload.n_calls]]
        # A corpus that is too short for two passes is read in shorter calls.
        n_bytes = min(workload.call_bytes, corpus_bytes // least_bytes(workload))
        calls = []
        for _ in range(_all_calls(workload) if n_bytes else 0):
            texts = [self._take(workload, n_bytes) for _ in range(workload.n_documents)]
            if not all(texts):
                return None
            calls.append([text for text in texts if text])
        return calls or None

    def _take(self, workload: Workload, n_bytes: int) -> bytes | None:
        """Return the next text: documents, each with a line end after it unless it ends in one, cut between
        characters."""
        is_again = workload.state == "again"
        key = (workload.corpus, workload.split, is_again)
        if key not in self._left:
            documents = list(self._corpora.read(*key[:2])[0])
            Random(f"{self._seed}/{key[:2]}").shuffle(documents)
            self._left[key], self._buffers[key] = iter(documents), bytearray()
        buffer = self._buffers[key]
        while len(buffer) < n_bytes:
            document = next(self._left[key], None)
            if document is None:
                return None
            if is_again or document not in self._given:
                self._given.add(document)
                buffer += document if document.endswith(b"\n") else document + b"\n"
        end = boundary(buffer, n_bytes) or boundary(buffer, _LONGEST_CHARACTER)
        text = bytes(buffer[:end])
        del buffer[:end]
        return text


def least_bytes(workload: Workload) -> int:
    """Return the size of the smallest corpus that has a text, of a byte, for every call."""
    return (1 if workload.is_once else 3) * _all_calls(workload) * workload.n_documents


def _all_calls(workload: Workload) -> int:
    return workload.lead_calls + workload.n_calls


def strings(texts: list[bytes]) -> list[str]:
    """Return new `str` objects, since reading the same ones again favours libraries that cache UTF-8 inside them."""
    return [text.decode("utf-8", "surrogatepass") for text in texts]


def write_training_file(path: Path, corpora: Corpora, workload: Workload) -> None:
    """Write a text file to train from, one document per line, as long as the workload says or the corpus is.

    Raises what loading raises, and `ValueError` for a corpus without text.
    """
    documents = [document.replace(b"\n", b" ") for document in corpora.read(workload.corpus, workload.split)[0]]
    Random(f"0/{workload.corpus}").shuffle(documents)
    content = b"\n".join(documents)
    if not content.strip():
        raise ValueError(f"the corpus {workload.corpus!r} has no text")
    path.write_bytes(content[: boundary(content, workload.call_bytes - 1)] + b"\n")
