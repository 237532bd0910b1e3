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
from itertools import chain, groupby
from typing import NamedTuple

from impls.core.arguments import texts_in_turn
from impls.core.errors import BPEError
from impls.core.model import Model
from impls.core.specification import TrainingSpec, check_spec
from impls.core.training import (
    base_symbols,
    first_base_id,
    merge_budget,
    piece_symbols,
    piece_weights,
    trained_model,
)
from impls.learner import Learner, Pair


def train_parity_aware(
    texts: Mapping[str, Iterable[str]], spec: TrainingSpec, *, dev: Mapping[str, Iterable[str]] | None = None
) -> Model:
    """Learn one model from the texts of several languages, by name; `dev` are parallel texts by the same names.

    `merge_counts` are counts in the corpus of the language that chose. Of equally compressed languages the first named
    chooses. Raise BPEError for a language without text, and if `dev` has other names or is not parallel.
    """
    check_spec(spec)
    pieces = {language: piece_weights(its_texts, spec) for language, its_texts in texts.items()}
    held_out = (
        None if dev is None else {language: list(texts_in_turn(its_texts)) for language, its_texts in dev.items()}
    )
    _check(pieces, held_out)
    base = base_symbols(chain.from_iterable(pieces.values()), spec)
    corpora = {language: _corpus(its_pieces, base, spec) for language, its_pieces in pieces.items()}
    measured, n_units = corpora, {language: corpus.n_tokens for language, corpus in corpora.items()}
    if held_out is not None:
        measured = {language: _corpus(piece_weights(held_out[language], spec), base, spec) for language in pieces}
        n_units = {language: len(held_out[language]) for language in pieces}
    n_tokens = {language: corpus.n_tokens for language, corpus in measured.items()}
    budget = merge_budget(base, spec)
    merges: list[Pair] = []
    counts: list[int] = []
    while len(merges) < budget:
        by_rate = sorted(pieces, key=lambda language: n_units[language] / n_tokens[language])
        chosen = (corpora[language].learner.pop_best() for language in by_rate)
        best = next((found for found in chosen if found is not None), None)
        if best is None:
            break
        merges.append(best[0])
        counts.append(best[1])
        for language, corpus in corpora.items():
            n_fewer = corpus.learner.merge(best[0])
            if held_out is not None:
                n_fewer = measured[language].learner.merge(best[0])
            n_tokens[language] -= n_fewer
    return trained_model(spec, base, merges, counts)


class _Corpus(NamedTuple):
    learner: Learner
    n_tokens: int
    """Number of base symbols, including those outside the alphabet."""


def _corpus(count_by_piece: Mapping[str, int], base: list[bytes], spec: TrainingSpec) -> _Corpus:
    first = first_base_id(spec)
    id_of = {symbol: first + index for index, symbol in enumerate(base)}
    words: list[list[int]] = []
    weights: list[int] = []
    n_tokens = 0
    for piece, count in count_by_piece.items():
        symbols = piece_symbols(piece, spec)
        n_tokens += count * len(symbols)
        # Symbols of held-out texts outside the alphabet take part in no merge.
        for known, run in groupby(symbols, id_of.__contains__):
            if known:
                words.append([id_of[symbol] for symbol in run])
                weights.append(count)
    return _Corpus(Learner(words, weights, [b""] * first + base, spec), n_tokens)


def _check(pieces: Mapping[str, Mapping[str, int]], dev: Mapping[str, list[str]] | None) -> None:
    if not pieces:
        raise BPEError("there is no language to train on")
    for language, its_pieces in pieces.items():
        if not its_pieces:
            raise BPEError(f"the language {language!r} has no text")
    if dev is None:
        return
    if set(dev) != set(pieces):
        raise BPEError(f"dev texts of {', '.join(sorted(dev))} do not go with texts of {', '.join(sorted(pieces))}")
    sizes = {language: len(its_texts) for language, its_texts in dev.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{n} of {language!r}" for language, n in sizes.items())
        raise BPEError(f"dev texts must be parallel, as many for each language, not {shown}")
    for language, its_texts in dev.items():
        if not any(its_texts):
            raise BPEError(f"the dev texts of {language!r} hold no text")
