"""`scripts-3` and `scripts-1` cut where they say: between scripts, after three digits, around signs."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from impls.core.text.patterns import NAMED, Splitter
from impls.core.text.script_patterns import SCRIPTS

SPLITTERS = {name: Splitter(NAMED[name]) for name in ("scripts-3", "scripts-1")}
DIGITS_TOGETHER = {"scripts-3": 3, "scripts-1": 1}
LENGTHENS = {"\u0640": ["Arabic"], "\u30fc": ["Hiragana", "Katakana"], "\uff70": ["Hiragana", "Katakana"]}
ONE_OF_EACH = "aZéяΩժაאبकকதతกकम한ひカ漢ሰᏣµʹ"
texts = st.text(
    alphabet=st.sampled_from(ONE_OF_EACH + "\u0301\u0640\u30fc\uff70\u0e31059½٤Ⅷ .,!'’\t\n\u00a0😀"), max_size=30
)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Москва2024is", ["Москва", "202", "4", "is"]),
        ("aбв αβγ", ["a", "бв", " αβγ"]),
        ("東京Tower", ["東京", "Tower"]),
        ("コーヒーを飲む", ["コーヒー", "を", "飲", "む"]),
        ("ሰላምabc", ["ሰላም", "abc"]),
        ("e\u0301te\u0301 n", ["e\u0301te\u0301", " n"]),
        ("عـربي", ["عـربي"]),
        ("don't!?", ["don", "'", "t", "!?"]),
        ("1234567 8", ["123", "456", "7", " ", "8"]),
        ("x ½²٤٥", ["x", " ", "½²٤", "٥"]),
        ("  two  x\n\n y ", [" ", " two", " ", " x", "\n\n", " y", " "]),
        ("a\u0301\u0301b \u0301c", ["a\u0301\u0301b", " \u0301", "c"]),
    ],
)
def test_examples(text: str, pieces: list[str]) -> None:
    assert SPLITTERS["scripts-3"].split(text) == pieces
    singly = [part for piece in pieces for part in (piece if regex.fullmatch(r"\p{N}+", piece) else [piece])]
    assert SPLITTERS["scripts-1"].split(text) == singly


def script_of(letter: str) -> str:
    return next((script for script in SCRIPTS if regex.match(rf"\p{{Script={script}}}", letter)), "other")


def stated_borders(text: str, n_digits: int) -> set[int]:
    """The offsets between two characters, neither of them white space, at which the statement says there is a cut."""
    borders = set()
    word, digits, signs = "", 0, False  # what the character before belongs to
    for at, character in enumerate(text):
        is_letter = regex.match(r"\p{L}", character) is not None
        if character.isspace():
            word, digits, signs = "", 0, False
        elif (word and regex.match(r"\p{M}", character)) or word in LENGTHENS.get(character, ()):
            pass
        elif is_letter:
            if script_of(character) != word:
                borders.add(at)
            word, digits, signs = script_of(character), 0, False
        elif regex.match(r"\p{N}", character):
            if not 0 < digits < n_digits:
                borders.add(at)
            word, digits, signs = "", digits % n_digits + 1, False
        else:
            if not signs:
                borders.add(at)
            word, digits, signs = "", 0, True
    return {at for at in borders if at and not text[at - 1].isspace()}


@pytest.mark.parametrize("name", SPLITTERS)
@given(text=texts)
@settings(max_examples=400)
def test_pieces_begin_where_the_statement_says(name: str, text: str) -> None:
    pieces = SPLITTERS[name].split(text)
    starts = [len("".join(pieces[:i])) for i in range(1, len(pieces))]
    inner = {at for at in starts if not (text[at].isspace() or text[at - 1].isspace())}
    assert inner == stated_borders(text, DIGITS_TOGETHER[name])
    spaces = {at for at in starts if text[at - 1].isspace() and not text[at].isspace()}
    assert all(text[at - 1] != " " or regex.match(r"\p{N}", text[at]) for at in spaces)
