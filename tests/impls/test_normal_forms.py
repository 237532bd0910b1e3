"""Normal forms, marks and lower case are those of Hugging Face's library, whatever Unicode version Python has."""

from __future__ import annotations

import itertools
import random
import unicodedata

import pytest
from tokenizers import normalizers

from impls.core.text.normalization import normalizer

_CODES = {*range(0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0x20000, 0x110000, 97)}
CHARACTERS = list(map(chr, sorted(_CODES)))
"""All of the planes in which characters differ, and some of the others."""
CHANGING = [
    character
    for number, character in enumerate(CHARACTERS)
    if number % 11 == 0 or unicodedata.combining(character) or unicodedata.normalize("NFKD", character) != character
]
"""Those that a form rewrites or moves, and some of the others."""
STEPS = {
    "nfc": normalizers.NFC(),
    "nfd": normalizers.NFD(),
    "nfkc": normalizers.NFKC(),
    "nfkd": normalizers.NFKD(),
    "lowercase": normalizers.Lowercase(),
    "strip-accents": normalizers.StripAccents(),
    "nmt": normalizers.Nmt(),
}
FORMS = ("nfc", "nfd", "nfkc", "nfkd")
NEWER = [
    *"\u07fd\u0898\u1ac1\u1dfa\u32ff\ua7f2\U00010f82\U00011935\U00011930\U00011938\U00010781\U0001e130\U00016d63",
    *"\U00016d67\U000105d2\U0001fbf0\U0001f16c",
]


def differing(name: str, texts: list[str]) -> list[str]:
    step, theirs = normalizer(name), STEPS[name]
    return [text for text in texts if step(text) != theirs.normalize_str(text)]


@pytest.mark.parametrize("name", STEPS)
def test_every_character_alone_is_written_as_the_library_writes_it(name: str) -> None:
    assert differing(name, CHARACTERS) == []


@pytest.mark.parametrize("name", FORMS)
def test_parts_of_every_decomposition_are_put_together_as_in_the_library(name: str) -> None:
    texts = []
    for character in CHANGING:
        parts = unicodedata.normalize("NFD", character)
        if parts != character:
            texts += map("".join, itertools.islice(itertools.permutations([*parts, "\u0327"]), 6))
    texts += map("".join, itertools.product([*NEWER, "\u0307", "\u0323", "a"], repeat=3))
    assert differing(name, texts) == []


@pytest.mark.parametrize("name", FORMS)
def test_strings_of_marks_and_what_they_join_are_written_as_in_the_library(name: str, fuzz: int) -> None:
    picked = [character for character in CHANGING if unicodedata.normalize("NFKD", character) != character]
    marks = [character for character in CHANGING if unicodedata.combining(character)]
    jamo = [chr(code) for code in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A7, 0x11C3))]
    draw = random.Random(9)
    texts = [
        "".join(draw.choice(draw.choice((picked, marks, marks, jamo, NEWER))) for _ in range(draw.randint(2, 9)))
        for _ in range(10_000 * fuzz)
    ]
    assert differing(name, texts) == []


def test_lower_case_knows_no_end_of_a_word_and_keeps_the_dot_of_the_turkish_capital() -> None:
    text = "ΣΑΣ ΟΔΟΣ İIŞ \ua7cb\U00016ea0"
    assert (
        normalizer("lowercase")(text) == STEPS["lowercase"].normalize_str(text) == "σασ οδοσ i\u0307iş \u0264\U00016ebb"
    )
