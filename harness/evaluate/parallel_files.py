"""The user's parallel text in files: one per language with equally many lines, one TSV file, or a folder of the UDHR.

Every reader gives texts in the order of their files or columns, and raises `DataError` that names file and line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice, pairwise
from pathlib import Path

from harness.data import DataError
from harness.data.user_files import matching_files
from harness.evaluate.texts import Text

_UDHR_HEAD_ENDS = "---"
_MOST_HEAD_LINES = 12


def is_chosen(language: str, chosen: Sequence[str]) -> bool:
    """Return whether a language is one of `chosen` (names, or patterns as in `*_Latn`); without any, each one is."""
    return not chosen or any(fnmatchcase(language, one) for one in chosen)


def chosen_of(languages: Collection[str], chosen: Sequence[str]) -> list[str]:
    """Return which of these languages are `chosen`; raise `DataError` where one of `chosen` is none of them."""
    for one in chosen:
        if not any(fnmatchcase(language, one) for language in languages):
            raise DataError(f"--language {one}: is not a language here; there are {', '.join(languages) or 'none'}")
    return [language for language in languages if is_chosen(language, chosen)]


def of_files(files: Sequence[Path], chosen: Sequence[str] = ()) -> list[Text]:
    """Return a text for each file of lines, whose name says the language: `flores.tr`, `tr.txt`."""
    kept = chosen_of([language_in(file) for file in files], chosen)
    texts = [Text(str(file), language_in(file), partial(lines, file)) for file in files if language_in(file) in kept]
    check_equally_long(texts)
    return texts


def check_equally_long(texts: Sequence[Text]) -> None:
    """Raise `DataError` where two texts have unequal numbers of lines."""
    n_lines = [sum(1 for _ in text.documents()) for text in texts]
    for (one, other), (n_one, n_other) in zip(pairwise(texts), pairwise(n_lines), strict=True):
        if n_one != n_other:
            raise DataError(
                f"{one.name} has {n_one:,} lines and {other.name} has {n_other:,}; parallel files have equally many"
            )


def language_in(file: Path) -> str:
    """Return the last part of a file's name that is not `txt`."""
    suffix = file.suffix.removeprefix(".")
    return file.stem.rpartition(".")[2] if suffix in ("", "txt") else suffix


def of_tsv(file: Path, chosen: Sequence[str] = ()) -> list[Text]:
    """Return the columns of a file whose first line names their languages."""
    header = next(lines(file), "")
    languages = header.split("\t")
    if len(languages) < 2 or not all(language.strip() for language in languages):
        raise DataError(f"{file}: the first line must name two languages or more, with a tab between them")
    for number, line in enumerate(lines(file), 1):
        cells = line.split("\t")
        if len(cells) != len(languages):
            raise DataError(f"{file}: line {number} has {len(cells)} cells; the first line names {len(languages)}")
        for language, cell in zip(languages, cells, strict=True):
            if is_chosen(language, chosen) and not cell.strip():
                raise DataError(f"{file}: line {number}: the cell of {language!r} is empty")

    def column(language: str) -> Iterator[str]:
        index = languages.index(language)
        return (line.split("\t")[index] for line in islice(lines(file), 1, None))

    kept = chosen_of(languages, chosen)
    return [Text(f"{file}:{language}", language, partial(column, language)) for language in kept]


def udhr_texts(folder: Path, chosen: Sequence[str] = ()) -> list[Text]:
    """Return the Universal Declaration of Human Rights by language, each file of a folder being one document.

    Its translations are not cut into the same lines, so only the whole is parallel. `udhr_tur.txt` and `tur.txt` are
    `tur`; what stands before a line `---` among the first lines, the head of "UDHR in Unicode", is left out.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder; --udhr takes one with a text file for each language")
    files = [file for file in matching_files(str(folder)) if file.suffix in ("", ".txt")]
    languages = [file.stem.removeprefix("udhr_") for file in files]
    kept = chosen_of(languages, chosen)

    def whole(file: Path) -> Iterator[str]:
        every = list(lines(file, may_be_empty=True))
        head = every[:_MOST_HEAD_LINES]
        start = head.index(_UDHR_HEAD_ENDS) + 1 if _UDHR_HEAD_ENDS in head else 0
        yield "\n".join(every[start:]).strip()

    named = zip(languages, files, strict=True)
    return [Text(str(file), language, partial(whole, file)) for language, file in named if language in kept]


def lines(file: Path, *, may_be_empty: bool = False) -> Iterator[str]:
    """Yield the lines of a file without their ends; raise `DataError` for an empty one, or one that is not UTF-8."""
    with file.open("rb") as source:
        for number, line in enumerate(source, 1):
            content = line.removesuffix(b"\n").removesuffix(b"\r")
            text = None
            with suppress(UnicodeDecodeError):
                text = content.decode("utf-8-sig" if number == 1 else "utf-8")
            if text is None:
                raise DataError(f"{file}: line {number} is not UTF-8; convert it to UTF-8 first")
            if not (may_be_empty or text.strip()):
                raise DataError(f"{file}: line {number} is empty; parallel files have a text in every line")
            yield text
