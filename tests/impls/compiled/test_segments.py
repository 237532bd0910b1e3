"""Pieces are cut where no token reaches across; tokens that begin or end inside a character are the risk."""

from __future__ import annotations

import random

import pytest
from literal_training import replaced

import impls
from impls.compiled.tables import tables_of
from impls.core.model.model import Model

LENGTHS = [1, 2, 5, 12, 40, 61, 62, 63, 64, 123, 124, 125, 186, 187, 400]
"""Some are longer than what is read of a segment at a time."""
CHARACTERS = [chr(code) for code in (*range(0x4E00, 0x4E50, 3), *range(0x3041, 0x3060, 2), *range(0xAC00, 0xAC40, 5))]


def random_model(rng: random.Random, letters: list[str]) -> Model:
    """Return a model with merges of neighbours found in a text, wherever its characters begin and end."""
    text = "".join(rng.choices(letters, k=400)).encode()
    symbols = [(bytes([byte]), 0) for byte in text]
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for _ in range(120):
        at = rng.randrange(len(symbols) - 1)
        left, right = symbols[at][0], symbols[at + 1][0]
        if left + right in tokens:
            continue
        merges.append((tokens.index(left), tokens.index(right)))
        tokens.append(left + right)
        symbols = list(replaced(symbols, (left, right)))
    if not any(token[0] & 0xC0 == 0x80 and len(token) > 2 for token in tokens):
        return random_model(rng, letters)  # none begins inside a character
    return Model(tokens=tuple(tokens), merges=tuple(merges), pattern="cl100k")


@pytest.mark.parametrize("seed", range(8))
def test_ids_are_those_of_whole_pieces(seed: int, fuzz: int) -> None:
    rng = random.Random(seed)
    letters = rng.sample(CHARACTERS, rng.choice([2, 3, 6, 12]))
    model = random_model(rng, letters)
    assert len(tables_of(model)["joins"])
    compiled, reference = impls.get("compiled")(model), impls.get("priority")(model)
    strangers = [character for character in CHARACTERS if character not in letters]
    for _ in range(60 * fuzz):
        others = rng.choice([[], ["a", " ", rng.choice(CHARACTERS)]])
        run = "".join(rng.choices([*letters, *others], k=rng.choice(LENGTHS)))
        text = run + "".join(strangers[: rng.choice([0, 0, 1, 70])]) + rng.choice(["", run])
        assert compiled.encode(text) == reference.encode(text), text
        assert compiled.encode(text) == reference.encode(text), f"again: {text}"
