"""Parallel text: the same documents in several languages.

Parallel text is a corpus of the suite with a part per language, such parts named one by one, or the user's own files:
one per language, of equal line count and named by the last part of the file's name that is not `txt` (`flores.tr`,
`tr.txt`), or one TSV file with a column per language, named in its first line. A document is a line.

Of FLORES a folder is read, with a file per language in `dev` and in `devtest`: plain text (`dev/tur_Latn.dev` as in
FLORES-200, `dev/dev.tur_Latn` as in the first FLORES+), JSON lines or Parquet with the sentence in `text`
(`dev/tur_Latn.parquet`). Every reader returns texts in the order of their files or columns, and raises `DataError` that
names file and line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice, pairwise, permutations
from pathlib import Path

from harness.data import DataError, load_corpus
from harness.data.catalogue import real_corpora
from harness.data.corpora import is_named
from harness.data.user_files import matching_files
from harness.evaluate.texts import CountedText
from impls.core.errors import near_and_known
from impls.core.text.files import TextFile

_TABLES = (".parquet", ".jsonl")


def chosen_of(languages: Collection[str], chosen: Sequence[str]) -> list[str]:
    """Return the languages that match `chosen` (names, or patterns such as `*_Latn`), all if it is empty.

    Raise `DataError` if an entry of `chosen` matches none.
    """
    for pattern in chosen:
        if not any(fnmatchcase(language, pattern) for language in languages):
            known = near_and_known(pattern, list(languages), "the files")
            raise DataError(f"--language {pattern}: unknown language; {known}")
    return [name for name in languages if not chosen or any(fnmatchcase(name, pattern) for pattern in chosen)]


def of_files(files: Sequence[Path], chosen: Sequence[str] = ()) -> list[CountedText]:
    """Return a text for each file of lines; the file name says the language: `flores.tr`, `tr.txt`."""
    by_language = _by_language((language_in(file), file) for file in files)
    kept = {language: by_language[language] for language in chosen_of(by_language, chosen)}
    _check_equally_long(kept.values())
    return [CountedText(str(file), language, partial(lines, file)) for language, file in kept.items()]


def language_in(file: Path) -> str:
    """Return the last part of a file's name that is not `txt`."""
    suffix = file.suffix.removeprefix(".")
    return file.stem.rpartition(".")[2] if suffix in ("", "txt") else suffix


def _by_language(files: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    by_language: dict[str, Path] = {}
    for language, file in files:
        if language in by_language:
            raise DataError(
                f"{file}: {by_language[language]} is the same language ({language}); rename one, or keep only one"
            )
        by_language[language] = file
    return by_language


def _check_equally_long(files: Iterable[Path]) -> None:
    for (file, n_lines), (other, n_other) in pairwise([(file, sum(1 for _ in lines(file))) for file in files]):
        if n_lines != n_other:
            raise DataError(
                f"{file} has {n_lines:,} lines and {other} has {n_other:,}; parallel files have equal line counts"
            )


def of_tsv(file: Path, chosen: Sequence[str] = ()) -> list[CountedText]:
    """Return the columns of a file whose first line names their languages."""
    languages = next(lines(file), "").split("\t")
    if len(languages) < 2 or not all(language.strip() for language in languages):
        raise DataError(f"{file}: the first line must name two languages or more, with a tab between them")
    kept = chosen_of(languages, chosen)
    for number, line in enumerate(lines(file), 1):
        cells = line.split("\t")
        if len(cells) != len(languages):
            raise DataError(f"{file}: line {number} has {len(cells)} cells; the first line names {len(languages)}")
        for language, cell in zip(languages, cells, strict=True):
            if language in kept and not cell.strip():
                raise DataError(f"{file}: line {number}: the cell of {language!r} is empty")

    def column(language: str) -> Iterator[str]:
        index = languages.index(language)
        return (line.split("\t")[index] for line in islice(lines(file), 1, None))

    return [CountedText(f"{file}:{language}", language, partial(column, language)) for language in kept]


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file without their ends, or the texts of JSON lines or Parquet; raise if one is empty."""
    for number, text in enumerate(TextFile(file).texts() if file.suffix in _TABLES else plain_lines(file), 1):
        if not text.strip():
            raise DataError(f"{file}: line {number} is empty; in parallel files no line is empty")
        yield text


def plain_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a text file without their ends, and without a byte order mark; raise for what is not UTF-8."""
    with file.open("rb") as source:
        for number, line in enumerate(source, 1):
            try:
                text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise DataError(f"{file}: line {number} is not UTF-8; convert it to UTF-8 first") from None
            yield text


def flores_texts(folder: Path, chosen: Sequence[str] = (), *, with_ends: bool = False) -> list[CountedText]:
    """Return a text for each language, its documents the sentences of `dev`, then those of `devtest`.

    With `with_ends`, an empty document follows the last sentence of a plain file that ends in a line feed, as when its
    content is split at line feeds. Raise `DataError` for any other folder, a language missing in one part, unequal
    numbers of sentences, and lines that are empty or not UTF-8.
    """
    parts = {name: _files(folder / name) for name in ("dev", "devtest")}
    kept = chosen_of({**parts["dev"], **parts["devtest"]}, chosen)
    for (part, _), (other, by_language) in permutations(parts.items(), 2):
        if missing := [language for language in kept if language not in by_language]:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise DataError(
                f"{folder / other}: has no file of {missing[0]!r}{more}, but {part} has; choose languages of both "
                "with --language"
            )
    for by_language in parts.values():
        _check_equally_long(by_language[language] for language in kept)

    def documents(language: str) -> Iterator[str]:
        for by_language in parts.values():
            file = by_language[language]
            yield from lines(file)
            if with_ends and file.suffix not in _TABLES and file.read_bytes().endswith(b"\n"):
                yield ""

    return [CountedText(f"{folder}:{language}", language, partial(documents, language)) for language in kept]


def _files(part: Path) -> dict[str, Path]:
    """Return the file of each language of a part, in order."""
    if not part.is_dir():
        raise DataError(f"{part}: no such folder; FLORES has the folders dev and devtest, with one file per language")
    ends, begin = (f".{part.name}", *_TABLES), f"{part.name}."
    files = ((file.stem if file.suffix in ends else file.name.removeprefix(begin), file) for file in part.iterdir())
    by_language = _by_language(sorted((language, file) for language, file in files if language != file.name))
    if not by_language:
        raise DataError(f"{part}: contains no file named LANGUAGE{ends[0]}, LANGUAGE.parquet or LANGUAGE.jsonl")
    return by_language


def language_of(name: str) -> str | None:
    """Return the language of a corpus of the suite; None if it is unknown."""
    family, _, part = name.partition("/")
    if part and family in {*real_corpora(), "samples"}:
        return part if len(part) == 2 else None
    language = real_corpora()[family].language if family in real_corpora() else ""
    return language if len(language) == 2 else None


def parallel_texts(names: Sequence[str], split: str | None = None, chosen: Sequence[str] = ()) -> list[CountedText]:
    """Return the texts of parallel corpora or files in the `chosen` languages; raise `DataError` if not parallel."""
    if all(is_named(name) for name in names):
        texts = _of_corpora(names, split, chosen)
    else:
        files = [file for name in names for file in matching_files(name)]
        if split is not None:
            raise DataError("parallel files are not split; leave out --split")
        if memories := [file for file in files if file.suffix.lower() == ".tmx"]:
            raise DataError(f"{memories[0]}: translation memories (TMX) are not read; use TSV, a column per language")
        is_tsv = len(files) == 1 and files[0].suffix.lower() == ".tsv"
        texts = of_tsv(files[0], chosen) if is_tsv else of_files(files, chosen)
    return several(texts, names[0])


def several(texts: list[CountedText], name: str) -> list[CountedText]:
    """Return `texts`; raise `DataError` unless they are of two languages or more."""
    languages = [text.language for text in texts]
    if len(texts) < 2:
        raise DataError(f"{name}: has one language; parallel text needs two or more")
    if again := [language for language in languages if languages.count(language) > 1]:
        raise DataError(f"the language {again[0]!r} occurs twice; name each file by its own language")
    return texts


def joined(text: CountedText) -> CountedText:
    """Return a text as one document, its documents joined by single spaces.

    Petrov et al. 2023 encode FLORES-200 this way, dev before devtest. With one length per language there is no
    interval.
    """
    return text._replace(documents=lambda: iter([" ".join(text.documents())]))


def _of_corpora(names: Sequence[str], split: str | None, chosen: Sequence[str]) -> list[CountedText]:
    parts = []
    for name in names:
        known = real_corpora().get(name)
        parts += [name] if known is None else [item.name for item in known.parts]
    families = {part.partition("/")[0] for part in parts}
    family = real_corpora().get(families.pop()) if len(families) == 1 else None
    if family is None or family.mixed_of or len(family.parts) < 2:
        raise DataError(f"{', '.join(names)}: not parallel text; give `parallel`, or files of equal line count")
    named = [(part, part.partition("/")[2]) for part in parts]
    kept = chosen_of([language for _, language in named], chosen)
    return [CountedText(part, name, load_corpus(part, split=split).documents) for part, name in named if name in kept]
