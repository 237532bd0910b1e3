"""What a certain place is, tried: both parts have the ids they have together, whatever of the fragments follows.

For each rule that forbids a place there are fragments of which some texts would be cut wrongly without it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count, product
from typing import Any

import pytest
from growing_texts import fresh
from sentencepiece_models import pieces_model

import impls
from impls import Model, TrainingSpec
from impls.core.text.normal_borders import NormalBorders, is_independent_of_next, is_independent_of_previous
from impls.core.text.normal_forms import normal_form
from impls.core.text.normalization import normalizer
from impls.core.text.patterns import NAMED
from impls.interface import Tokenizer
from impls.operations.incremental import Incremental


@cache
def joins_neighbours() -> Model:
    """A model over bytes with merges of many characters that may be neighbours, so that ids show where pieces end."""
    some = ["=", "≠", "≮", "a", "é", "\u0338", "á", " ", "\n", "]", "[", "x", "!", "가", "각", "ᆨ", "<", ">", "b", "c"]
    pairs = list(map("".join, product(some, repeat=2)))
    return impls.train("priority", pairs, TrainingSpec(vocab_size=700, pattern="none")).model


def bytes_model(pattern: str, **fields: Any) -> Model:
    return joins_neighbours().with_(pattern=NAMED.get(pattern, (pattern,)), **fields)


def specials(*texts: str) -> dict[str, int]:
    return dict(zip(texts, count(800), strict=False))


def sentencepiece(**fields: Any) -> Model:
    """Marks and a few letters, merges of marks and "a", and bytes or an unknown token for all else."""
    return pieces_model("▁ a e x ▁a ▁▁ ae", "▁+a ▁+▁ a+e", **fields)


WORDS = r"\s|\p{L}+|[^\s\p{L}]+"
SURROGATES = ["\ud83d", "\udc4da", "a", " ", "👍a b", "b"]
CASES: dict[str, tuple[Callable[[], Model], Sequence[str], dict[str, Any]]] = {
    "special tokens": (
        lambda: bytes_model("gpt2", special_tokens=specials("<a b>", "b>c", "a <")), ["<", "a", " ", "b", ">", "c"], {}
    ),
    "disallowed ones": (
        lambda: bytes_model("gpt2", special_tokens=specials("<a b>")), ["<a", "a", " ", "b", ">"],
        {"allowed_special": (), "disallowed_special": "all"},
    ),
    **{
        flag: (
            lambda flag=flag: bytes_model(  # type: ignore[misc]
                WORDS, added_tokens=specials("[x]", "aq", "!?"), whole_token_flags=dict.fromkeys(("[x]", "aq"), (flag,))
            ),
            ["[", "x]", "a", " ", "q", "!?"], {},
        )
        for flag in ("lstrip", "rstrip", "single_word", "normalized")
    },
    "surrogates and special tokens": (
        lambda: bytes_model("gpt2", special_tokens=specials("👍a b")), SURROGATES, {}
    ),
    "surrogates by characters": (lambda: sentencepiece(dummy_prefix="never"), SURROGATES, {}),
    "surrogates by unknown characters": (lambda: sentencepiece(byte_tokens=()), SURROGATES, {}),
    **{
        form: (
            lambda form=form: bytes_model("[=<]+|[^=<]+", normalization=form),  # type: ignore[misc]
            ["=", "\u0338", "a", "e\u0301", "\uac00", "\u11a8", "\u1100", "\u1161", "\ufb01", " "], {},
        )
        for form in ("nfc", "nfd", "nfkc", "nfkd", "lowercase+nfc", 'replace("a","\u0338")+nfc', "nfd+strip-accents")
    },
    "a prefix": (
        lambda: bytes_model("gpt2", normalization="prefix-space", special_tokens=specials("!?", "a?")),
        ["a", " ", "?", "!?"], {},
    ),
    "extra spaces go": (lambda: sentencepiece(remove_extra_spaces=True), ["a", " ", "▁", "e", "x"], {}),
    "extra spaces go, no prefix": (
        lambda: sentencepiece(remove_extra_spaces=True, dummy_prefix="never"), ["a", " ", "▁", "e", "x"], {}
    ),
    "user-defined pieces": (lambda: sentencepiece(user_defined=["ae", "▁▁"]), ["a", " ", "▁", "e", "x"], {}),
    "unknown characters": (lambda: sentencepiece(byte_tokens=()), ["a", " ", "y", "z", "e"], {}),
}  # fmt: skip


def places(grown: Incremental, text: str) -> Iterator[int]:
    """Yield all certain places of a text."""
    place = 0
    while place := grown._cuts.first(text, place + 1):
        yield place


def check(tokenizer: Tokenizer, fragments: Sequence[str], longest: int, options: dict[str, Any]) -> int:
    """Assert of all texts of so many fragments that they may be cut at their certain places; return how many."""
    grown, n_found = tokenizer.incremental(**options), 0
    following = ["", *fragments, *map("".join, product(fragments[:4], repeat=2))]
    for n in range(2, longest + 1):
        for text in map("".join, product(fragments, repeat=n)):
            certain = list(places(grown, text))
            assert grown._cuts.last(text) == (certain[-1] if certain else 0)
            for place in certain:
                n_found += 1
                for more in following:
                    ids = fresh(tokenizer, text + more, options)
                    if not isinstance(ids, str):
                        parts = grown._encode(text[:place]) + grown._encode_continued(text[place:] + more)
                        assert ids == parts, (text[:place], text[place:], more)
    return n_found


@pytest.mark.parametrize("name", CASES)
def test_a_text_may_be_cut_at_a_certain_place_whatever_follows(name: str) -> None:
    model, fragments, options = CASES[name]
    tokenizer = impls.load("priority", model())
    assert check(tokenizer, fragments, 3, {"allowed_special": "all", **options}) > 10


def test_characters_that_begin_afresh_or_stay_are_left_alone_by_every_normal_form() -> None:
    """All canonical compositions of two characters, and all characters with a combining class."""
    for code in range(0x110000):
        character = chr(code)
        parts = unicodedata.decomposition(character).split()
        if unicodedata.combining(character):
            assert not is_independent_of_previous(character)
        if len(parts) == 2 and "<" not in parts[0]:
            first, second = (chr(int(part, 16)) for part in parts)
            assert not is_independent_of_next(first)
            assert not is_independent_of_previous(second)
    for syllable, vowel, final in (("\u1100", "\u1161", "\u11a8"), ("\uac00", "", "\u11a8")):
        assert normal_form("NFC", syllable + vowel + final) == "\uac01"
        assert not (vowel and is_independent_of_previous(vowel))
        assert not is_independent_of_previous(final)
        assert not (is_independent_of_next(syllable) and is_independent_of_previous(syllable))


REWRITTEN = [
    "nfc", "nfkd", "lowercase+nfd", 'nfc+prepend("_")', 'replace("a","1b")', 'replace(" ","")+nfc',
    'nfkd+replace("\u0308","a")',
]  # fmt: skip


def cut_wrongly(normalization: str) -> tuple[int, str | None]:
    """Return in how many texts a place is called certain, and one that is written otherwise in two parts."""
    borders, normalize, n_found = NormalBorders(normalization), normalizer(normalization), 0
    for text in map("".join, product("a1 \u0308\u00a8\n", repeat=5)):
        for place in range(1, len(text)):
            beside = borders.characters_at_cut(text[place - 1], text[place])
            if beside is None:
                continue
            n_found += 1
            first, second = normalize(text[:place]), borders.continued(text[place:])
            if first + second != normalize(text) or (first and second and (first[-1], second[0]) != beside):
                return n_found, text
    return n_found, None


@pytest.mark.parametrize("normalization", REWRITTEN)
def test_all_short_texts_are_normalised_in_two_parts_as_in_one(normalization: str) -> None:
    n_found, wrong = cut_wrongly(normalization)
    assert wrong is None
    assert n_found > 1_000


@pytest.mark.parametrize("step", ["strip", "strip-left", "strip-right", 'replace("a1","c")', 'replace-regex("a+","c")'])
def test_steps_that_look_at_more_than_a_character_allow_no_cut(step: str) -> None:
    assert not NormalBorders(f"nfc+{step}").possible
