"""Read the user's parallel text from files: with equally many lines, one TSV file, or a folder of FLORES.

Every reader returns texts in the order of their files or columns, and raises `DataError` that names file and line.

The files are plain text (`dev/tur_Latn.dev` as in FLORES-200, `dev/dev.tur_Latn` as in the first FLORES+), JSON lines
or Parquet with the sentence in `text` (`dev/tur_Latn.parquet`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice, pairwise
from pathlib import Path

from harness.data import DataError
from harness.evaluate.texts import CountedText
from impls.core.errors import InvalidFile, near_and_known
from impls.core.text.files import TextFile


def is_chosen(language: str, chosen: Sequence[str]) -> bool:
    """Return whether a language matches `chosen` (names, or patterns such as `*_Latn`); if empty, all do."""
    return not chosen or any(fnmatchcase(language, one) for one in chosen)


def chosen_of(languages: Collection[str], chosen: Sequence[str]) -> list[str]:
    """Return the languages that are `chosen`; raise `DataError` if an entry of `chosen` matches none."""
    for one in chosen:
        if not any(fnmatchcase(language, one) for language in languages):
            known = near_and_known(one, list(languages), "the files")
            raise DataError(f"--language {one}: is not a language here; {known}")
    return [language for language in languages if is_chosen(language, chosen)]


def of_files(files: Sequence[Path], chosen: Sequence[str] = ()) -> list[CountedText]:
    """Return a text for each file of lines; the file name says the language: `flores.tr`, `tr.txt`."""
    kept = chosen_of([language_in(file) for file in files], chosen)
    texts = [
        CountedText(str(file), language_in(file), partial(lines, file)) for file in files if language_in(file) in kept
    ]
    check_equally_long(texts)
    return texts


def check_equally_long(texts: Sequence[CountedText]) -> None:
    """Raise `DataError` if two texts have different numbers of lines."""
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


def of_tsv(file: Path, chosen: Sequence[str] = ()) -> list[CountedText]:
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
    return [CountedText(f"{file}:{language}", language, partial(column, language)) for language in kept]


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file without their ends; raise `DataError` if it is empty or not UTF-8."""
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


_TABLES = (".parquet", ".jsonl")


def flores_texts(folder: Path, chosen: Sequence[str] = (), *, with_ends: bool = False) -> list[CountedText]:
    """Return a text for each language, its documents the sentences of `dev`, then those of `devtest`.

    With `with_ends`, an empty document follows the last sentence of a plain file that ends in a line feed, as when its
    content is split at line feeds. Raise `DataError` for any other folder, a language missing in one part, unequal
    numbers of sentences, and lines that are empty or not UTF-8.
    """
    dev, devtest = _files(folder / "dev"), _files(folder / "devtest")
    kept = chosen_of({**dev, **devtest}, chosen)
    for part, has, other, lacks in (("dev", dev, "devtest", devtest), ("devtest", devtest, "dev", dev)):
        missing = [language for language in kept if language in has and language not in lacks]
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise DataError(
                f"{folder / other}: has no file of {missing[0]!r}{more}, and {part} has; name those that are in both "
                "with --language"
            )
    for by_language in (dev, devtest):
        check_equally_long(
            [CountedText(str(by_language[one]), one, partial(_sentences, by_language[one])) for one in kept]
        )

    def documents(language: str) -> Iterator[str]:
        for file in (dev[language], devtest[language]):
            yield from _sentences(file)
            if with_ends and file.suffix not in _TABLES and file.read_bytes().endswith(b"\n"):
                yield ""

    return [CountedText(f"{folder}:{language}", language, partial(documents, language)) for language in kept]


def _files(part: Path) -> dict[str, Path]:
    """Return the file of each language of a part, in order."""
    if not part.is_dir():
        raise DataError(
            f"{part}: there is no such folder; FLORES has the folders dev and devtest, of one file a language"
        )
    suffixes = (f".{part.name}", *_TABLES)
    found: dict[str, Path] = {}
    for file in sorted(part.iterdir()):
        language = file.stem if file.suffix in suffixes else file.name.removeprefix(f"{part.name}.")
        if language == file.name:
            continue
        if language in found:
            raise DataError(f"{file}: {found[language]} is the same language; keep one of the two")
        found[language] = file
    if not found:
        raise DataError(f"{part}: holds no file named LANGUAGE{suffixes[0]}, LANGUAGE.parquet or LANGUAGE.jsonl")
    return found


def _sentences(file: Path) -> Iterator[str]:
    if file.suffix not in _TABLES:
        yield from lines(file)
        return
    try:
        for number, text in enumerate(TextFile(file).texts(), 1):
            if not text.strip():
                raise DataError(f"{file}: row {number} is empty; parallel files have a text in every row")
            yield text
    except InvalidFile as error:
        raise DataError(str(error)) from None
