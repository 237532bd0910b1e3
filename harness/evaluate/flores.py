"""FLORES-200 and FLORES+ in a folder of the user's: `dev/` and `devtest/` with a file per language in each.

The files are plain text (`dev/tur_Latn.dev` as in FLORES-200, `dev/dev.tur_Latn` as in the first FLORES+), JSON lines
or Parquet with the sentence in `text` (`dev/tur_Latn.parquet`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from harness.data import DataError
from harness.evaluate.parallel_files import check_equally_long, chosen_of, lines
from harness.evaluate.texts import Text
from impls.core.errors import InvalidFile
from impls.core.text.files import TextFile

_TABLES = (".parquet", ".jsonl")


def flores_texts(folder: Path, chosen: Sequence[str] = (), *, with_ends: bool = False) -> list[Text]:
    """Return a text for each language, its documents the sentences of `dev`, then those of `devtest`.

    With `with_ends`, an empty one follows the last sentence of a plain file that ends in a line feed, as in what
    splitting its content at line feeds gives. Raise `DataError` for what is not such a folder, a language that one part
    lacks, unequal numbers of sentences, and lines that are empty or not UTF-8.
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
        check_equally_long([Text(str(by_language[one]), one, partial(_sentences, by_language[one])) for one in kept])

    def documents(language: str) -> Iterator[str]:
        for file in (dev[language], devtest[language]):
            yield from _sentences(file)
            if with_ends and file.suffix not in _TABLES and file.read_bytes().endswith(b"\n"):
                yield ""

    return [Text(f"{folder}:{language}", language, partial(documents, language)) for language in kept]


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
