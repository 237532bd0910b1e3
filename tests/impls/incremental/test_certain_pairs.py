"""Between two characters that are called certain, a text may be cut: all short texts over the classes are tried."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest
from random_patterns import ALPHABET, random_pattern, random_text

from impls.core.pattern.classes import N_CODE_POINTS
from impls.core.text.patterns import NAMED, Splitter
from impls.operations.certain_cuts import pair_cuts_of

_MOST_TEXTS = 4_000
STAGED = [
    ((r"\p{N}{1,3}|\P{N}+", r"\p{L}+|(?:(?!\p{L}+)[\s\S])+"), True), ((r"[ab]+|[^ab]+", r"a+b?|[\s\S]"), True),
    ((r"\s+|\S+", r"\p{L}+|[^\p{L}]"), True), ((r"ab|(?:(?!ab)[\s\S])+",), False),
    ((r"(?:a(?=b)|b)+|[\s\S]", r"ba|[\s\S]"), True), ((r"[\s\S]{1,3}", r"\p{L}+|\P{L}+"), False),
    ((r"\p{L}+|(?:(?!\p{L}+)[\s\S])+", r" ?[^ ]+| +"), False),
]  # fmt: skip
"""Stages before one that separates, and whether they pass its cuts: not those that count, nor those with gaps."""


def representatives(stages: tuple[str, ...]) -> list[str]:
    """One character of each class, of all stages together."""
    pairs = pair_cuts_of(stages)
    found: dict[tuple[int, ...], str] = {}
    likely = "a b1 \n\r\t'.s!日/X_é\u0301lrvemtdſ\u00a0½ǅʰ"
    codes = [*map(ord, likely), *range(0x3000), *range(0x3000, N_CODE_POINTS, 37)]
    for code in codes:
        if not 0xD800 <= code < 0xE000:
            found.setdefault(tuple(stage.class_of(chr(code)) for stage in pairs.stages), chr(code))
    return list(found.values())


def check(stages: tuple[str, ...], text: str) -> int:
    """Assert that all cuts called certain change no piece; return how many there are."""
    pairs, splitter = pair_cuts_of(stages), Splitter(stages)
    whole, n_found = splitter.split(text), 0
    for place, (before, after) in enumerate(pairwise(text), 1):
        if pairs.separates(before, after):
            n_found += 1
            assert splitter.split(text[:place]) + splitter.split(text[place:]) == whole, (text[:place], text[place:])
    return n_found


@pytest.mark.parametrize("name", [name for name in NAMED if NAMED[name]])
def test_every_short_text_over_the_classes_of_a_named_pattern_may_be_cut(name: str) -> None:
    some = representatives(NAMED[name])
    longest = next(n for n in range(8, 0, -1) if len(some) ** n <= _MOST_TEXTS)
    assert longest >= 2
    n_found = sum(check(NAMED[name], "".join(text)) for text in product(some, repeat=longest))
    assert n_found > 90


@pytest.mark.parametrize(("stages", "pass_cuts"), STAGED)
def test_texts_may_be_cut_where_a_stage_separates_and_others_pass(stages: tuple[str, ...], pass_cuts: bool) -> None:
    assert (sum(check(stages, "".join(text)) for text in product("ab1 é\n", repeat=4)) > 100) == pass_cuts


def test_random_patterns_of_one_and_two_stages_are_cut_right(fuzz: int) -> None:
    rng, n_tried, n_found = random.Random(3), 0, 0
    while n_tried < 60 * fuzz:
        stages = tuple(random_pattern(rng) for _ in range(rng.choice((1, 1, 2))))
        if pair_cuts_of(stages) is None:
            continue
        n_tried += 1
        n_found += sum(check(stages, random_text(rng)[:30]) for _ in range(10))
        n_found += sum(check(stages, "".join(rng.choices(ALPHABET[:12], k=6))) for _ in range(10))
    assert n_found > 10 * n_tried
