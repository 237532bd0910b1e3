"""Corpora by name: real text (fetched on first use), the suite's own samples, generated text, the user's files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.data.catalogue import Item, RealCorpus, datasets_folder, real_corpora
from harness.data.documents import interleaved, pack, side, take_bytes, unpack
from harness.data.errors import DataError
from harness.data.fetching import ensure, is_fetched, read_item
from harness.data.generated import FAMILIES, generate, generated_names
from harness.data.user_files import documents_in, matching_files
from impls.core.errors import UnknownName
from impls.core.text.files import TextFile, TextFiles

_SAMPLES = "samples"
_COLUMNS = ("name", "language", "licence", "bytes", "cached", "about", "parts")

Source = Callable[[], Iterator[tuple[str, str]]]
"""Yields each document with the text that decides its side of the split: the document itself, except in parallel
corpora."""


@dataclass(frozen=True)
class Corpus:
    """A named sequence of documents, read lazily; each pass reads them again."""

    name: str
    source: Source = field(repr=False)
    has_split: bool
    """Whether training should exclude its held-out part by default, as for real corpora. Any corpus can be split."""
    split: str | None = None
    """`held-out` for about a tenth of the documents, `train` for the rest, None for all."""
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        """Raise `DataError` for an unknown split and a negative limit."""
        if self.split not in (None, "train", "held-out"):
            raise DataError(f"unknown split {self.split!r}; there are 'train' and 'held-out', or None for all")
        if self.max_bytes is not None and self.max_bytes < 0:
            raise DataError(f"max_bytes must not be negative, not {self.max_bytes}")

    def documents(self) -> Iterator[str]:
        """Yield the documents in a fixed order; the limit on bytes applies after the split."""
        split = self.split
        chosen = (document for document, key in self.source() if split is None or side(key) == split)
        return take_bytes(chosen, self.max_bytes)

    @cached_property
    def _measured(self) -> tuple[int, str]:
        hasher, n_bytes = hashlib.sha256(), 0
        for document in self.documents():
            length, content = pack([document])
            hasher.update(length + content)
            n_bytes += len(content)
        return n_bytes, hasher.hexdigest()

    @property
    def n_bytes(self) -> int:
        """Return the UTF-8 bytes of all documents (surrogatepass); the first call takes a pass over them."""
        return self._measured[0]

    @property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of each document's length (8 bytes, little-endian) and UTF-8; takes one
        pass, once."""
        return self._measured[1]


def load_corpus(name: str | Path, split: str | None = None, max_bytes: int | None = None) -> Corpus:
    """Return the corpus of a name (fetched on first use), or of a path or glob of the user's own files.

    The side of the split is decided by each document's text. `max_bytes` limits the UTF-8 bytes; the last document is
    cut between characters. Raise `UnknownName`, `DataError`; reading raises `InvalidFile` naming the place.
    """
    source, has_split = _resolve(name)
    return Corpus(str(name), source, has_split, split, max_bytes)


def corpus_of(name: str, content: bytes, split: str | None = None, max_bytes: int | None = None) -> Corpus:
    """Return the content of a text file as a corpus named `name`, with `split` and `max_bytes` as in `load_corpus`."""
    documents = list(documents_in(content, name))
    return Corpus(name, lambda: _stripped(documents), False, split, max_bytes)


def _resolve(name: str | Path) -> tuple[Source, bool]:
    """Return the documents of a corpus, and whether it is a real one."""
    if isinstance(name, str) and is_named(name):
        family, _, part = name.partition("/")
        if family in real_corpora():
            return _real(real_corpora()[family], name), True
        if family == _SAMPLES:
            return _samples(part, name), False
        generate(name)
        return lambda: _by_itself(generate(name)), False
    if name == "-":
        raise DataError("-: standard input cannot be read here; save it to a file and name that")
    files = TextFiles([TextFile(path) for path in matching_files(str(name))])
    return lambda: _stripped(files), False


def is_named(name: str) -> bool:
    """Return whether `name` is a known corpus rather than the user's own files; raise `UnknownName` if neither."""
    if name.strip() and name.partition("/")[0] in (*real_corpora(), _SAMPLES, "gen"):
        return True
    if not name.strip() or (name != "-" and not any(mark in name for mark in "./\\*?[") and not os.path.lexists(name)):
        raise UnknownName("corpus", name, [*corpus_names(), "a path or glob"])
    return False


def _by_itself(documents: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((document, document) for document in documents)


def _stripped(documents: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield documents of a file: the blank lines after a paragraph do not affect its side of the split."""
    return ((document, document.strip()) for document in documents)


def _real(corpus: RealCorpus, name: str) -> Source:
    """Return a corpus mixed of items (each document keeps its side of the split), or items that say the same."""
    is_mixed = corpus.mixed_of and name == corpus.name
    items = [item for item in corpus.parts if name in (corpus.name, item.name)]
    if not items and not is_mixed:
        raise UnknownName("corpus", name, [corpus.name, *(item.name for item in corpus.parts)])
    ensure(corpus.items)
    if is_mixed:
        taken = [(_resolve(item)[0], n_bytes) for item, n_bytes in corpus.mixed_of.items()]
        return lambda: interleaved([(documents(), n_bytes) for documents, n_bytes in taken])
    return lambda: _parallel(items, items[0] if corpus.mixed_of else corpus.items[0])


def _parallel(items: Sequence[Item], first: Item) -> Iterator[tuple[str, str]]:
    """Yield the first document of each item, then the second, …; those of `first` decide the split."""
    is_shown = first is items[0]
    contents = [unpack(read_item(item)) for item in (items if is_shown else (first, *items))]
    for documents in zip(*contents, strict=True):
        for document in documents if is_shown else documents[1:]:
            yield document, documents[0]


def sample_parts() -> dict[str, Path]:
    """Map part of the samples (`tr`, `emoji`, …) -> its file."""
    files = sorted(file for file in (datasets_folder() / _SAMPLES).iterdir() if file.suffix in (".txt", ".jsonl"))
    return {file.stem: file for file in files}


def _samples(part: str, name: str) -> Source:
    parts = sample_parts()
    if name != _SAMPLES and part not in parts:
        raise UnknownName("corpus", name, [_SAMPLES, *(f"{_SAMPLES}/{known}" for known in parts)])
    files = [parts[part]] if part else list(parts.values())
    return lambda: _by_itself(document for file in files for document in _paragraphs(file))


def _paragraphs(file: Path) -> Iterator[str]:
    """Yield the documents of a file of samples, without the blank lines between them."""
    for document in TextFile(file).texts():
        yield document if file.suffix == ".jsonl" else document.rstrip("\n")


def turkish_paragraph() -> str:
    """Return our own Turkish paragraph of about a kilobyte, which the headline comparison encodes."""
    (paragraph,) = _paragraphs(sample_parts()["paragraph"])
    return paragraph


def corpus_names() -> list[str]:
    """Return every name `load_corpus` accepts: real corpora, samples, the parts of both, and generated ones."""
    names: list[str] = []
    for corpus in real_corpora().values():
        names += dict.fromkeys([corpus.name, *(item.name for item in corpus.parts)])
    return [*names, _SAMPLES, *(f"{_SAMPLES}/{part}" for part in sample_parts()), *generated_names()]


def describe_corpora() -> list[dict[str, Any]]:
    """Return a row per corpus: name, language, licence, bytes of text, whether it is cached, description, parts."""
    samples = sample_parts()
    n_bytes = sum(file.stat().st_size for file in samples.values())
    rows: list[tuple[Any, ...]] = [
        (c.name, c.language, c.licence, c.n_bytes, is_fetched(c.name), c.description, " ".join(i.part for i in c.parts))
        for c in real_corpora().values()
    ]
    about = "the suite's own sentences and oddities"
    rows.append((_SAMPLES, f"{len(samples)} parts", "MIT", n_bytes, True, about, " ".join(samples)))
    rows += [(f"gen/{family}", "", "MIT", None, True, about, "") for family, (_, about) in FAMILIES.items()]
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
