"""`bpebench evaluate --morphology`: print token borders against the morphs of segmented words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.printable import printable
from harness.progress import progress
from harness.report.round_trips import named
from harness.report.table import Table, grouped, table_of

if TYPE_CHECKING:
    from harness.evaluate.morphology import BorderAgreement
    from impls import Tokenizer


class MorphologyRow(NamedTuple):
    """The figures of one vocabulary on one gold file, in one context."""

    model: str
    tokenizer: Tokenizer
    words: str
    found: BorderAgreement


def compare_with_morphs(models: Sequence[str], files: Sequence[str]) -> list[MorphologyRow]:
    """Return a row for each gold file, context and model; raise `DataError` for an invalid file."""
    from harness.data import load_model
    from harness.evaluate.morphology import CONTEXTS, agreement, read_gold
    from harness.evaluate.run import fastest

    words = {file: read_gold(file) for file in dict.fromkeys(files)}
    with progress("comparing with morphs"):
        tokenizers = {name: fastest(load_model(name)) for name in dict.fromkeys(models)}
        return [
            MorphologyRow(name, tokenizer, file, agreement(tokenizer, words[file], context))
            for file in words
            for context in CONTEXTS
            for name, tokenizer in tokenizers.items()
        ]


def cells(row: MorphologyRow) -> dict[str, Any]:
    """Return the row by name, in the order of CSV."""
    found = row.found
    return {
        "model": row.model,
        "words": row.words,
        "context": found.context,
        "implementation": row.tokenizer.name,
        "round_trip": row.tokenizer.model.round_trip,
        "n_words": found.n_words,
        "n_left_out": found.n_left_out,
        "n_morph_borders": found.n_morph_borders,
        "n_token_borders": found.n_token_borders,
        "n_shared_borders": found.n_shared_borders,
        **found.figures,
    }


def tables(rows: Sequence[MorphologyRow]) -> list[Table]:
    """Return a table for each gold file and context."""
    return [_table(title, some) for title, some in _by_file_and_context(rows)]


def _by_file_and_context(rows: Sequence[MorphologyRow]) -> Iterator[tuple[str, list[MorphologyRow]]]:
    """Yield the title and rows of each table, the highest F1 first and lossy vocabularies last."""
    for (file, context), some in grouped(rows, lambda row: (row.words, row.found.context)).items():
        some.sort(key=lambda row: (_is_lossy(row), -(row.found.figures["f1"].value or 0)))
        yield f"{printable(file)}: words {context}", some


def _table(title: str, rows: Sequence[MorphologyRow]) -> Table:
    lossy = " A lossy vocabulary comes last; the words it does not keep are left out of its figures."
    return table_of(
        "morphology",
        [cells(row) | {"model": named(printable(row.model), row.tokenizer.model.round_trip)} for row in rows],
        without=() if any(row.found.n_left_out for row in rows) else ("n_left_out",),
        what=title,
        lossy=lossy if any(map(_is_lossy, rows)) else "",
    )


def _is_lossy(row: MorphologyRow) -> bool:
    return row.tokenizer.model.round_trip == "lossy"
