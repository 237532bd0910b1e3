"""What the generators of random texts and ids cover, and that the same seed gives the same."""

from __future__ import annotations

from random import Random

import pytest

import impls
from harness.generators.alphabets import ALPHABETS, is_newer, of_property, unassigned
from harness.generators.families import DIRECT, Family, mutations, nested
from harness.generators.texts import RandomIds, of_bytes, pairs_of_parts, random_texts, short_parts, texts_by_size


def test_every_category_and_script_has_characters_and_newer_ones_are_told() -> None:
    assert all(of_property(category) for category in ALPHABETS["categories"])
    assert all(of_property(f"Script={script}") for script in ALPHABETS["scripts"])
    assert is_newer("\u0c5c")
    assert is_newer("\U00011de0")
    assert not any(map(is_newer, "a\uffff\ufdd0\u1c89\ue000"))
    assert sum(map(len, unassigned())) > 50_000
    assert all(map(is_newer, unassigned()[0]))


@pytest.mark.parametrize("family", [*DIRECT.values(), mutations(["the cat sat"])], ids=[*DIRECT, "mutations"])
def test_a_family_makes_texts_that_differ(family: Family) -> None:
    random = Random(1)
    texts = [family(random) for _ in range(50)]
    assert len(set(texts)) > 20
    assert all(isinstance(text, str) for text in texts)


def test_nested_texts_are_joined_repeated_and_changed_in_case() -> None:
    family = nested([lambda random: "ab", lambda random: "cd"])
    random, same = Random(1), Random(1)
    texts = [family(random) for _ in range(300)]
    assert texts == [family(same) for _ in range(300)]
    for wanted in ("abcd", "abab", "ab'cd", "AB", "ba", "aabb"):
        assert any(wanted in text for text in texts), wanted
    assert max(map(len, texts)) <= 4_000


def test_random_texts_of_a_seed_are_the_same_and_none_is_newer_than_unicode_16() -> None:
    texts = list(random_texts(3, 2_000))
    assert texts == list(random_texts(3, 2_000)) != list(random_texts(4, 2_000))
    assert all(0 < len(text) <= 60 and not any(map(is_newer, text)) for text in texts)
    assert len(set(texts)) > 1_500
    assert sum(any("\ud800" <= character <= "\udfff" for character in text) for text in texts) == 0


def test_pairs_are_made_of_short_parts_of_every_family() -> None:
    parts = short_parts(list(DIRECT.values()))
    texts = pairs_of_parts(parts, 5_000, Random(1))
    assert len(set(texts)) > 4_000
    assert max(map(len, texts)) <= 13


def test_sizes_lie_beside_powers_of_two_and_reach_a_megabyte() -> None:
    family = lambda random: "a word, é字 "  # noqa: E731
    texts = [text for round in range(20) for text in texts_by_size(family, round, Random(round))]
    lengths = {length for text in texts for length in (len(text), len(text.encode()))}
    assert {4095, 4096, 4097, 65_535, 65_536, 65_537} <= lengths
    assert 1 << 20 in {length & ~1 for length in lengths} | {length + 1 for length in lengths}


def test_a_text_is_cut_at_a_character_and_padded_to_a_number_of_bytes() -> None:
    assert [of_bytes("aé字", n) for n in (1, 2, 3, 5, 8)] == ["a", "ax", "aé", "aéxx", "aé字xx"]


def test_lists_of_ids_hold_any_id_of_the_model() -> None:
    spec = impls.TrainingSpec(vocab_size=300, pattern="cl100k", special_tokens=("<|end|>",))
    model = impls.train("priority", ["the cat sat on the mat, İstanbul'da 12"], spec).model
    ids, random = RandomIds(model), Random(1)
    assert {i for _ in range(3_000) for i in ids.draw(random)} == set(model.bytes_by_id())
