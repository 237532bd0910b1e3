"""Input options of the verbs that count text of any size, and the parts of corpora to train and measure on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

import click

from harness.commands import inputs, options
from harness.commands.verb import option

if TYPE_CHECKING:
    from harness.data import Corpus

counts = option("File written by `--count-only`; repeatable.", "--counts", type=options.FILE, multiple=True)
documents = option(
    "What a document of a text file is; no piece spans two.",
    type=click.Choice(["paragraphs", "lines"]),
    default="paragraphs",
)
field = option("Field of JSON lines, column of Parquet.", "--field", "--column", default="text", metavar="NAME")
memory_limit = option(
    "Memory for tables; more goes through files.  [default: half of what is free]",
    type=options.SIZE,
    metavar="SIZE",
    advanced=True,
)

workers = option("Count in so many processes, in place of threads.", type=options.POSITIVE, metavar="N", advanced=True)
scheduler = option("Count on the workers of a Dask cluster.", metavar="tcp://HOST:PORT", advanced=True)


def corpus_parts(
    names: Sequence[str], held_out: Sequence[str], max_bytes: int | None
) -> tuple[list[Corpus], list[Corpus]]:
    """Return the corpora to train on and those held out; raise `DataError` if one holds no text.

    The corpora of `held_out` are used for the latter, of a named corpus only its held-out part. Without any, about a
    tenth of the documents of each training corpus is held out, also of the user's files.
    """
    trained = [inputs.load_corpus(name, max_bytes=max_bytes) for name in dict.fromkeys(names)]
    if not held_out:
        return [_part(one, "train") for one in trained], [_part(one, "held-out") for one in trained]
    others = [inputs.load_corpus(name, max_bytes=max_bytes) for name in dict.fromkeys(held_out)]
    return (
        [_part(one, "train") if one.has_split else one for one in trained],
        [_part(one, "held-out") if one.has_split else one for one in others],
    )


def all_documents(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Yield the documents of all corpora."""
    return chain.from_iterable(corpus.documents() for corpus in corpora)


def label(corpora: Sequence[Corpus]) -> str:
    """Return a label for the texts: `turkish/held-out, mine.txt`."""
    return ", ".join(one.name if one.split is None else f"{one.name}/{one.split}" for one in corpora)


def _part(corpus: Corpus, split: Literal["train", "held-out"]) -> Corpus:
    from harness.data import DataError

    part = replace(corpus, split=split)
    if not any(part.documents()):
        raise DataError(f"{corpus.name}: its part {split} holds no text; name a text to measure on with --held-out")
    return part
