"""Alphabets of characters: a piece begins where no token holds two neighbours side by side."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

import numpy as np
from piece_ends import piece_ends
from sentencepiece_models import pieces_model

from impls.compiled import Compiled
from impls.compiled.context import Context
from impls.compiled.pretokenize.layout import AUTOMATON
from impls.compiled.pretokenize.splitting import Splitting
from impls.compiled.tables import build_tables
from impls.core.model.model import Model
from impls.core.pattern.borders import border_tables
from impls.core.pattern.steps import CUT
from impls.core.pattern.tables import SplitTables
from impls.priority import Priority

LETTERS = "abcxyz01 .,\n\t▁éßğıæжшאبあ漢語가😀’…\u0301\u00a0\u2580\u2582\ufffd"


def random_tables(rng: random.Random) -> SplitTables:
    known = rng.sample(LETTERS, rng.randrange(2, len(LETTERS)))
    parts = ["".join(rng.choices(known, k=rng.randrange(1, 5))) for _ in range(rng.choice([0, 3, 30, 200]))]
    joined, ends, together = "".join(parts), [*accumulate(map(len, parts))], rng.random() < 0.5
    return border_tables(joined, ends, known, unknown_stay_together=together)


def random_text(rng: random.Random) -> str:
    letters = rng.sample(LETTERS, rng.choice([1, 2, 5, len(LETTERS)]))
    return "".join(rng.choices(letters, k=rng.choice([1, 20, 63, 64, 65, 200, 3000])))


def expected_ends(tables: SplitTables, text: str) -> list[int]:
    """Return the number of bytes before each character that begins a piece, and the total."""
    cuts = [tables.rows[1 + tables.class_of(left)][tables.class_of(right)] & CUT for left, right in pairwise(text)]
    ends = np.cumsum([len(letter.encode()) for letter in text])
    return [int(end) for end, cut in zip(ends, [*cuts, True], strict=True) if cut]


def test_the_automaton_cuts_between_characters_no_token_holds_side_by_side(fuzz: int) -> None:
    rng = random.Random(11)
    byte_tables = build_tables(Model(tokens=tuple(bytes([byte]) for byte in range(256))))
    for _ in range(40 * fuzz):
        tables = random_tables(rng)
        automaton = Context(byte_tables, Splitting(AUTOMATON, (tables,)))
        for _ in range(12):
            text = random_text(rng)
            assert piece_ends(automaton, text) == expected_ends(tables, text), text


def test_the_automaton_of_a_sentencepiece_model_gives_the_ids_of_priority() -> None:
    model = pieces_model("▁ a b é 你 ab ▁a aé ▁ab", "a+b ▁+a a+é ▁a+b", byte_tokens=())
    fast, reference, rng = Compiled(model), Priority(model), random.Random(5)
    assert fast.splitting == "automaton, borders"
    for length in [*range(1, 140), 400, 999, 1000, 1001, 3000]:
        text = "".join(rng.choices("aab é你\U0001f600x.", k=length))
        expected = reference.encode(text)
        assert fast.encode(text) == fast.encode_array(text).tolist() == expected, text
        assert fast.encode_batch([text, text], threads=1) == [expected, expected]
