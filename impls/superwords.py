"""SuperBPE: subwords first, then superwords, whose tokens may span white space.

Idea
    Stage one trains with a pattern that cuts at white space. Stage two keeps its merges, encodes with them the corpus
    cut by a coarser pattern, and continues learning: the new merges join whole words, or parts of words.
    The model has the pattern of stage two and the merges of both stages in the order they were learned, so that any
    implementation of byte pair encoding runs it.
Cost
    Stage two learns over pieces as long as texts, which hardly ever repeat.
Source
    Liu, Hayase, Hofmann, Oh, Smith and Choi 2025, "SuperBPE: Space Travel for Language Models".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from impls.core.arguments import texts_in_turn
from impls.core.errors import InvalidSpec, Unsupported
from impls.core.extension import extends
from impls.core.model import Model
from impls.core.specification import TrainingSpec
from impls.core.text.patterns import resolve
from impls.interface import Tokenizer


def superword_model(
    implementation: type[Tokenizer],
    texts: Iterable[str],
    spec: TrainingSpec,
    superword_from: int,
    superword_pattern: str = "superword",
    extend: Model | None = None,
) -> Model:
    """Learn the first `superword_from` of `spec.vocab_size` ids by `spec.pattern`, the rest by `superword_pattern`.

    Special tokens count towards `superword_from`. Stage one continues from the model `extend`, if given.

    Raise `Unsupported` if the implementation cannot continue from a model, `InvalidSpec`, and `InvalidPattern`.
    """
    stage_one, stage_two = replace(spec, vocab_size=superword_from), replace(spec, pattern=superword_pattern)
    resolve(superword_pattern)
    if superword_from > spec.vocab_size:
        problem = f"{spec.vocab_size} is below the {superword_from} ids that superwords follow"
        raise InvalidSpec("vocab_size", problem)
    if not extends(implementation):
        raise Unsupported(implementation.name, "does not continue from a model, which learning superwords needs")
    corpus = list(texts_in_turn(texts))
    if extend is None:
        begun = implementation.train_model(corpus, stage_one)
    else:
        begun = implementation.extend_model(extend, corpus, stage_one)
    return implementation.extend_model(begun, corpus, stage_two)
