"""Every merge step of one implementation on one text.

The steps come from `harness.explain.algorithms` and are compared with the ids of the implementation: a piece whose
ids differ is marked.
"""

from __future__ import annotations

import impls
from harness.explain.algorithms import ALGORITHM_OF, ALGORITHMS, MAX_SYMBOLS, derive
from harness.explain.rules import Rules
from harness.explanations import Trace, TracedPiece
from harness.printable import readable
from impls.core.errors import Unsupported
from impls.core.model.model import Model


def trace(implementation: str, model: Model, text: str, model_name: str = "") -> Trace:
    """Return the steps of `implementation` on `text`, special tokens read as text.

    Raises `Unsupported` for a piece of more than `MAX_SYMBOLS` symbols, and what encoding raises.
    """
    if model.beyond_merges is not None:
        raise Unsupported("trace", f"the steps of this model are not shown: {model.beyond_merges}")
    tokenizer = impls.load(implementation, model)
    algorithm = ALGORITHM_OF.get(implementation, "leftmost")
    ids = tokenizer.encode(text, disallowed_special=())
    rules = Rules(model)
    pieces: list[TracedPiece] = []
    n_derived = 0
    for piece in tokenizer.pieces(text):
        if len(model.symbols(piece)) > MAX_SYMBOLS:
            raise Unsupported("trace", f"the piece {piece[:20]!r}… has more than {MAX_SYMBOLS} symbols; give less text")
        derived = derive(rules, piece, algorithm)
        note = ""
        if derived.steps and derived.steps[0].action == "whole piece":
            merged = derive(rules, piece, algorithm, look_up=False)
            if merged.ids == derived.ids:
                derived, note = merged, "a token: looked up at once, not merged; merging leads to it as well"
        its_ids = ids[n_derived : n_derived + len(derived.ids)]
        n_derived += len(derived.ids)
        pieces.append(
            TracedPiece(
                text=readable(piece),
                symbols=rules.texts(derived.symbols),
                steps=tuple(derived.steps),
                ids=tuple(derived.ids),
                note=note,
                reproduces=its_ids == derived.ids,
            )
        )
    return Trace(
        name=implementation,
        model=model_name,
        text=readable(text),
        way=ALGORITHMS[algorithm],
        ids=ids,
        pieces=pieces,
        reproduces=n_derived == len(ids) and all(piece.reproduces for piece in pieces),
    )
