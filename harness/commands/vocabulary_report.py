"""The report of `bpebench vocab -c`: made of the text, and its charts written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.commands import options
from harness.commands.corpus_parts import all_documents, label
from harness.progress import progress

if TYPE_CHECKING:
    from harness.data import Corpus
    from harness.report.vocabulary import VocabularyReport
    from impls.core.model.model import Model


def report_on(name: str, model: Model, trained: Sequence[Corpus], held_out: Sequence[Corpus]) -> VocabularyReport:
    """Return the report of `model` over both texts; say on standard error what is wrong with them, or not possible."""
    from harness.measure.compression import counter
    from harness.measure.token_use import token_use
    from harness.report.vocabulary import VocabularyReport, curve_sizes
    from harness.training.vocabulary_curve import uncuttable, vocabulary_curve

    _warn_of_training_text(name, model, held_out)
    tokenizer, curve = counter(model), None
    with progress(f"reading {label([*trained, *held_out])}"):
        used, used_held_out = (
            [token_use(tokenizer, corpus.documents(), label([corpus])) for corpus in part]
            for part in (trained, held_out)
        )
        if why_not := uncuttable(model):
            options.say(f"bytes per token by size are left out: {name} cannot be cut: {why_not}", err=True)
        else:
            curve = vocabulary_curve(model, all_documents(held_out), curve_sizes(len(model.merges)))
    return VocabularyReport(name, model, used, used_held_out, curve)


def _warn_of_training_text(name: str, model: Model, held_out: Sequence[Corpus]) -> None:
    from harness.data.overlap import training_overlap

    for corpus in held_out:
        overlap = training_overlap(model, corpus.documents())
        options.warn_of_training_text(name, label([corpus]), overlap, "name another text with --held-out")
