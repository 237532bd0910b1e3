"""The text a vocabulary is trained on: documents in memory, or counts of text too large for that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.data import DataError, load_corpus
from harness.data.corpora import is_named
from harness.data.documents import take_bytes
from harness.training.counting import Reading, counted, half_of_free
from impls.core.counts import PieceCounts, added
from impls.core.text.files import TextFiles
from impls.formats.counts import load_counts

if TYPE_CHECKING:
    from impls.compiled.training.count import Executors


@dataclass(frozen=True)
class TrainingText:
    """Corpora (of named ones only the training part) and files of counts."""

    corpora: tuple[str, ...]
    reading: Reading
    count_files: tuple[Path, ...] = ()
    max_bytes: int | None = None
    """UTF-8 bytes taken of each corpus."""

    @cached_property
    def given_counts(self) -> list[PieceCounts]:
        """Return the counts of the files. Raises `DataError` for a file without pieces."""
        found = [load_counts(path) for path in self.count_files]
        for path, counts in zip(self.count_files, found, strict=True):
            if not len(counts):
                raise DataError(f"{path}: holds no text")
        return found

    @property
    def is_all_named(self) -> bool:
        """Return whether no file of the user's is read."""
        return "-" not in self.corpora and all(map(is_named, self.corpora))

    def counts(
        self, pattern: tuple[str, ...], memory_limit: int | None, executors: Executors | None = None
    ) -> PieceCounts:
        """Return the sum of the counts; `executors` are those of `counted`."""
        limit = memory_limit or half_of_free()
        found = counted(self.corpora, pattern, self.reading, memory_limit=limit, executors=executors)
        kept = dict(zip(map(str, self.count_files), self.given_counts, strict=True))
        every = list((kept | found).values())
        return replace(every[0] if len(every) == 1 else added(every), memory_limit=limit)

    def texts(self) -> list[str]:
        """Return the documents of all corpora. Raises `DataError` for a corpus without text."""
        texts: list[str] = []
        for name in dict.fromkeys(self.corpora):
            found = self._documents(name)
            if not any(found):
                raise DataError(f"{'standard input' if name == '-' else name}: holds no text")
            texts += found
        return texts

    def _documents(self, name: str) -> list[str]:
        if name == "-" or not is_named(name):
            return list(take_bytes(TextFiles(self.reading.files(name)), self.max_bytes))
        corpus = load_corpus(name, max_bytes=self.max_bytes)
        if corpus.has_split:
            corpus = load_corpus(name, split="train", max_bytes=self.max_bytes)
        return list(corpus.documents())
