"""The patterns that keep scripts apart are run as automata, and cut as `regex` does."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import regex

from impls.compiled.context import Context
from impls.compiled.cpython import plain
from impls.compiled.pretokenize.splitting import splitting_of
from impls.compiled.tables import build_tables
from impls.core.model.model import Model
from impls.core.text.patterns import NAMED, Splitter
from impls.core.text.script_patterns import SCRIPTS

LETTERS = [
    next(filter(regex.compile(rf"[^\P{{L}}\P{{{script}}}]").match, map(chr, range(0x110000)))) for script in SCRIPTS
]


@pytest.mark.parametrize("name", ["scripts-3", "scripts-1"])
def test_an_automaton_cuts_as_regex_does(name: str) -> None:
    splitting, words = splitting_of(NAMED[name])
    assert words == "automaton"
    assert splitting is not None
    context = Context(build_tables(Model(tokens=tuple(bytes([byte]) for byte in range(256)))), splitting)
    reference, rng = Splitter(NAMED[name]), random.Random(name)
    alphabet = [*LETTERS, *"ሰµ\u0301\u0640\u30fc\uff70059½ .'\n"]
    for _ in range(1000):
        text = "".join(rng.choices(alphabet, k=rng.choice([2, 9, 80])))
        data, ends = text.encode(), [0, *plain.piece_ends(context, text).tolist()]
        assert [data[start:end].decode() for start, end in pairwise(ends)] == reference.split(text), text
