"""Parallel text: the same documents in several languages.

Parallel text is a corpus of the suite with a part per language, such parts named one by one, or the user's own files:
one per language, of equal line count and named by the last part of the file's name that is not `txt` (`flores.tr`,
`tr.txt`), or one TSV file with a column per language, named in its first line. A document is a line.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.data import DataError, load_corpus
from harness.data.catalogue import real_corpora
from harness.data.corpora import is_named
from harness.data.user_files import matching_files
from harness.evaluate.parallel_files import chosen_of, of_files, of_tsv
from harness.evaluate.texts import CountedText


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
        raise DataError(f"{', '.join(names)}: not parallel text; `parallel` is, and files of equal line count are")
    named = [(part, part.partition("/")[2]) for part in parts]
    kept = chosen_of([language for _, language in named], chosen)
    return [CountedText(part, name, load_corpus(part, split=split).documents) for part, name in named if name in kept]
