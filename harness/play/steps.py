"""One piece, merged step by step by four algorithms side by side."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import impls
from harness.explain.algorithms import ALGORITHMS, algorithm_of, derive_by_merging
from harness.explain.rules import Rules
from harness.play.messages import MAX_PIECE_CHARACTERS, Derivation, State, StepsAnswer
from impls.core.errors import BPEError, Unsupported

SHOWN = {"naive": "naive", "priority": "heap", "backtracking": "backtracking", "greedy": "greedy"}
"""Implementation -> the name shown for its algorithm."""


def steps_of(load: Callable[[str], impls.Tokenizer], text: str, piece: int | None) -> StepsAnswer:
    """Return the steps of every algorithm on one piece of `text`; `load` returns the implementations of `SHOWN`.

    Raise `Unsupported` for a missing piece, and `UnknownSymbol` as merging does.
    """
    tokenizer = load("naive")
    pieces, model = tokenizer.pieces(text), tokenizer.model
    if piece is None:
        fitting = [n if n <= MAX_PIECE_CHARACTERS else 0 for n in map(len, pieces)]
        piece = fitting.index(max(fitting, default=0)) if pieces else 0
    if not pieces:
        return StepsAnswer(pieces, piece, [], "the text has no pieces")
    if piece >= len(pieces):
        raise Unsupported("steps", f"the text has {len(pieces)} pieces, numbered from 0; there is no piece {piece}")
    chosen = pieces[piece]
    if len(chosen) > MAX_PIECE_CHARACTERS:
        note = f"the piece has {len(chosen)} characters; at most {MAX_PIECE_CHARACTERS} are merged step by step here"
        return StepsAnswer(pieces, piece, [], note)
    rules = Rules(model)
    return StepsAnswer(pieces, piece, [_derivation(rules, chosen, name, load) for name in SHOWN])


def _derivation(rules: Rules, piece: str, name: str, load: Callable[[str], impls.Tokenizer]) -> Derivation:
    algorithm = algorithm_of(name)
    derived, is_looked_up = derive_by_merging(rules, piece, algorithm)
    way = ALGORITHMS[algorithm]
    if is_looked_up:
        way += " (in fact the whole piece is looked up at once, with the same result)"
    reproduces: bool | None = None
    with suppress(BPEError):  # a user-defined piece is cut out before an algorithm sees it
        reproduces = piece in rules.model.user_defined_texts or load(name).encode_piece(piece) == derived.ids
    states = [
        State(
            symbols=list(rules.texts(ids)),
            ids=list(ids),
            ranks=[None if (merge := rules.merge(*pair)) is None else merge[0] for pair in pairwise(ids)],
        )
        for ids in derived.states
    ]
    return Derivation(SHOWN[name], way, derived.steps, states, derived.ids, reproduces)
