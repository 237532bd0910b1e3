"""Parallel text: the same documents in several languages, and what that says of a vocabulary's fairness.

Parallel text is a corpus of the suite with a part per language, such parts named one by one, files of equal line count
(one per language, named by the last part of the file's name that is not `txt`: `flores.tr`, `tr.txt`), or one TSV file
with a column per language, named in its first line. A document of a file is a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.data import DataError, load_corpus
from harness.data.catalogue import real_corpora
from harness.data.corpora import is_named
from harness.data.user_files import matching_files
from harness.evaluate.intervals import Figure, ratio, statistic


class Text(NamedTuple):
    """A text of one language."""

    name: str
    language: str | None
    documents: Callable[[], Iterator[str]]


class Lengths(NamedTuple):
    """How many tokens a text takes under a model."""

    n_documents: int
    tokens: np.ndarray
    """By group of documents, as in `harness.evaluate.tally`."""


class Fairness(NamedTuple):
    """What parallel text costs in several languages under one model."""

    premiums: dict[str, Figure]
    """Tokens of each language over those of the pivot."""
    gini: Figure
    worst: str
    best: str


def language_of(name: str) -> str | None:
    """Return the language of a corpus of the suite, None where it is not known or is not one."""
    family, _, part = name.partition("/")
    if part and family in {*real_corpora(), "samples"}:
        return part if len(part) == 2 else None
    language = real_corpora()[family].language if family in real_corpora() else ""
    return language if len(language) == 2 else None


def parallel_texts(names: Sequence[str], split: str | None = None) -> list[Text]:
    """Return the texts of parallel corpora or files; raise `DataError` where they are not parallel."""
    if all(is_named(name) for name in names):
        texts = _of_corpora(names, split)
    else:
        files = [file for name in names for file in matching_files(name)]
        if split is not None:
            raise DataError("parallel files are not split; leave out --split")
        texts = _of_tsv(files[0]) if len(files) == 1 and files[0].suffix == ".tsv" else _of_files(files)
    languages = [text.language for text in texts]
    if len(texts) < 2:
        raise DataError(f"{names[0]}: is one language; parallel text needs two or more")
    if again := [language for language in languages if languages.count(language) > 1]:
        raise DataError(f"the language {again[0]!r} is there twice; name each file by its own")
    return texts


def _of_corpora(names: Sequence[str], split: str | None) -> list[Text]:
    parts = []
    for name in names:
        known = real_corpora().get(name)
        parts += [item.name for item in known.parts] if known is not None and len(known.parts) > 1 else [name]
    families = {part.partition("/")[0] for part in parts}
    family = real_corpora().get(families.pop()) if len(families) == 1 else None
    if family is None or len(family.parts) < 2:
        raise DataError(f"{', '.join(names)}: not parallel text; `parallel` is, and files of equal line count are")
    corpora = [load_corpus(part, split=split) for part in parts]
    return [Text(corpus.name, corpus.name.partition("/")[2], corpus.documents) for corpus in corpora]


def _of_files(files: Sequence[Path]) -> list[Text]:
    texts = [Text(str(file), _language_in(file), lambda file=file: lines(file)) for file in files]  # type: ignore[misc]
    n_lines = [sum(1 for _ in text.documents()) for text in texts]
    for (one, other), (n_one, n_other) in zip(pairwise(files), pairwise(n_lines), strict=True):
        if n_one != n_other:
            raise DataError(f"{one} has {n_one:,} lines and {other} has {n_other:,}; parallel files have equally many")
    return texts


def _language_in(file: Path) -> str:
    suffix = file.suffix.removeprefix(".")
    return file.stem.rpartition(".")[2] if suffix in ("", "txt") else suffix


def _of_tsv(file: Path) -> list[Text]:
    header = next(lines(file), "")
    languages = header.split("\t")
    if len(languages) < 2 or not all(language.strip() for language in languages):
        raise DataError(f"{file}: the first line must name two languages or more, with a tab between them")
    for number, line in enumerate(lines(file), 1):
        cells = line.split("\t")
        if len(cells) != len(languages):
            raise DataError(f"{file}: line {number} has {len(cells)} cells; the first line names {len(languages)}")
        for language, cell in zip(languages, cells, strict=True):
            if not cell.strip():
                raise DataError(f"{file}: line {number}: the cell of {language!r} is empty")

    def column(index: int) -> Iterator[str]:
        rows = lines(file)
        next(rows)
        return (line.split("\t")[index] for line in rows)

    return [
        Text(f"{file}:{language}", language, lambda index=index: column(index))  # type: ignore[misc]
        for index, language in enumerate(languages)
    ]


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file without their ends; raise `DataError` for an empty one, or one that is not UTF-8."""
    with file.open("rb") as source:
        for number, line in enumerate(source, 1):
            content = line.removesuffix(b"\n").removesuffix(b"\r")
            text = None
            with suppress(UnicodeDecodeError):
                text = content.decode("utf-8-sig" if number == 1 else "utf-8")
            if text is None:
                raise DataError(f"{file}: line {number} is not UTF-8; convert it to UTF-8 first")
            if not text.strip():
                raise DataError(f"{file}: line {number} is empty; parallel files have a text in every line")
            yield text


def fairness(lengths: dict[str, Lengths], pivot: str) -> Fairness:
    """Return premiums and inequality of one model by language; documents are resampled in all languages at once.

    Raise `DataError` where the numbers of documents differ. The premium is the ratio of totals of tokens (Petrov et al.
    2023, "Language Model Tokenizers Introduce Unfairness Between Languages"), so it holds for this text and its
    translators as much as for the languages.
    """
    numbers = {language: found.n_documents for language, found in lengths.items()}
    if len(set(numbers.values())) > 1:
        raise DataError(f"not parallel: documents by language are {numbers}")
    n = numbers[pivot]
    premiums = {language: ratio(found.tokens, lengths[pivot].tokens, n) for language, found in lengths.items()}
    totals = {language: int(found.tokens.sum()) for language, found in lengths.items()}
    inequality = statistic(np.column_stack([found.tokens for found in lengths.values()]), gini, n)
    return Fairness(premiums, inequality, max(totals, key=totals.__getitem__), min(totals, key=totals.__getitem__))


def gini(totals: np.ndarray) -> np.ndarray:
    """Return the Gini coefficient of each row, 0 (all equal) to below 1: sum |x_i - x_j| / (2 n^2 mean).

    Over tokens of the same text by language, as Foroutan et al. 2025 ("Parity-Aware Byte-Pair Encoding"). It depends on
    which languages are there, and counts each as one, whatever its number of speakers.

    >>> gini(np.array([[1, 3], [2, 2]])).tolist()
    [0.25, 0.0]
    """
    differences = np.abs(totals[:, :, None] - totals[:, None, :]).sum(axis=(1, 2))
    return np.asarray(differences / (2 * totals.shape[1] * totals.sum(axis=1)))
