"""Parity-aware byte pair encoding: the language that is compressed least chooses the next merge.

Idea
    Every language has its own corpus. Before each merge the compression rates (text per token) are compared; the
    language with the lowest rate chooses the pair that is most frequent in its corpus, and that pair is merged in all
    corpora. This way a language with few texts gets its merges too.
    Rates are measured on parallel texts held out for it, one translation for each language: texts per token. Without
    them they are measured on the corpora: base symbols per token.
Cost
    That of training with `priority`, whose incremental counts are kept once for each corpus.
Source
    Foroutan et al. 2025, "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in Tokenization"; its base
    variant. If the least compressed language has no pair left that may be merged, the next one chooses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from impls.core.arguments import texts_in_turn
from impls.core.errors import BPEError
from impls.core.model import Model
from impls.core.specification import TrainingSpec, check_spec
from impls.core.training import Corpus, Pair, base_symbols, piece_symbols, piece_weights
from impls.learner import Learner


def train_parity_aware(
    texts: Mapping[str, Iterable[str]], spec: TrainingSpec, *, dev: Mapping[str, Iterable[str]] | None = None
) -> Model:
    """Learn one model from the texts of several languages, by name; `dev` are parallel texts by the same names.

    `merge_counts` are counts in the corpus of the language that chose. Of equally compressed languages the first named
    chooses. Raise BPEError for a language without text, and if `dev` has other names or is not parallel.
    """
    check_spec(spec)
    pieces = {language: piece_weights(corpus, spec) for language, corpus in texts.items()}
    held_out = None if dev is None else {language: list(texts_in_turn(corpus)) for language, corpus in dev.items()}
    _check(pieces, held_out)
    base = base_symbols(chain.from_iterable(pieces.values()), spec)
    learners = {language: Learner(Corpus(corpus, spec, base)) for language, corpus in pieces.items()}
    measured, counted = pieces, learners
    if held_out is not None:
        measured = {language: piece_weights(held_out[language], spec) for language in pieces}
        counted = {language: Learner(Corpus(corpus, spec, base)) for language, corpus in measured.items()}
    n_tokens = {language: _n_symbols(corpus, spec) for language, corpus in measured.items()}
    n_units = dict(n_tokens) if held_out is None else {language: len(held_out[language]) for language in pieces}
    any_corpus = next(iter(learners.values())).corpus
    learned: dict[Pair, int] = {}
    while len(learned) < any_corpus.budget:
        by_rate = sorted(pieces, key=lambda language: n_units[language] / n_tokens[language])
        best = next((pair for name in by_rate if (pair := learners[name].pop_best()) is not None), None)
        if best is None:
            break
        learned[best[0]] = best[1]
        for language in pieces:
            n_fewer = learners[language].merge(best[0])
            n_tokens[language] -= n_fewer if held_out is None else counted[language].merge(best[0])
    return any_corpus.model([*learned], [*learned.values()])


def _n_symbols(pieces: Mapping[str, int], spec: TrainingSpec) -> int:
    """Count the base symbols of pieces, those outside the alphabet included."""
    return sum(count * len(piece_symbols(piece, spec)) for piece, count in pieces.items())


def _check(pieces: Mapping[str, Mapping[str, int]], dev: Mapping[str, list[str]] | None) -> None:
    if not pieces:
        raise BPEError("there is no language to train on")
    for language, corpus in pieces.items():
        if not corpus:
            raise BPEError(f"the language {language!r} has no text")
    if dev is None:
        return
    if set(dev) != set(pieces):
        raise BPEError(f"dev has texts in {', '.join(sorted(dev))}, training in {', '.join(sorted(pieces))}")
    sizes = {language: len(translations) for language, translations in dev.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{n} of {language!r}" for language, n in sizes.items())
        raise BPEError(f"dev texts must be parallel, the same number for each language, not {shown}")
    for language, translations in dev.items():
        if not any(translations):
            raise BPEError(f"the dev texts of {language!r} are all empty")
