"""The two parts of what `-c` and `--held-out` name: the text to train on, and the text to measure on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from harness.commands import options

if TYPE_CHECKING:
    from harness.data import Corpus


def corpus_parts(
    names: Sequence[str], held_out: Sequence[str], max_bytes: int | None
) -> tuple[list[Corpus], list[Corpus]]:
    """Return the corpora to train on and those held out; raise `DataError` where one holds no text.

    Those of `held_out` are read for it, of a named corpus only its held-out part. Where there are none, it is about a
    tenth of the documents of each corpus to train on, the user's files included.
    """
    trained = [options.load_corpus(name, max_bytes=max_bytes) for name in dict.fromkeys(names)]
    if not held_out:
        return [_part(one, "train") for one in trained], [_part(one, "held-out") for one in trained]
    others = [options.load_corpus(name, max_bytes=max_bytes) for name in dict.fromkeys(held_out)]
    return (
        [_part(one, "train") if one.has_split else one for one in trained],
        [_part(one, "held-out") if one.has_split else one for one in others],
    )


def all_documents(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Yield the documents of all corpora."""
    return chain.from_iterable(corpus.documents() for corpus in corpora)


def label(corpora: Sequence[Corpus]) -> str:
    """Return what to call the texts: `turkish/held-out, mine.txt`."""
    return ", ".join(one.name if one.split is None else f"{one.name}/{one.split}" for one in corpora)


def _part(corpus: Corpus, split: Literal["train", "held-out"]) -> Corpus:
    from harness.data import DataError

    part = replace(corpus, split=split)
    if not any(part.documents()):
        raise DataError(f"{corpus.name}: its part {split} holds no text; name a text to measure on with --held-out")
    return part
