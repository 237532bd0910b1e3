"""`compiled` over characters: pieces whose ends differ from their insides, and texts with unknown characters."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import impls
from impls import Model, TrainingSpec, UnknownSymbol, Unsupported
from impls.compiled import Compiled
from impls.naive import Naive
from impls.priority import Priority

ENDS = [None, "</w>", "_", "▁"]
LENGTHS = [0, 1, 2, 7, 30, 70, 300, 6000]


def outcome(encode: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    try:
        return encode(*arguments, **keywords)
    except UnknownSymbol as error:
        return error.character, error.offset


def trained(rng: random.Random, letters: str, end_of_word: str | None, unknown: str | None) -> Model:
    texts = ["".join(rng.choices(letters, k=rng.randrange(1, 60))) for _ in range(30)]
    spec = TrainingSpec(
        vocab_size=rng.choice([40, 80]),
        alphabet="chars",
        pattern=rng.choice([r"\S+|\s", "none", "gpt2", r"\S++|\s"]),
        end_of_word=end_of_word,
        unknown=unknown,
        special_tokens=("<s>",),
    )
    return Priority.train_model(texts, spec)


@pytest.mark.parametrize("unknown", [None, "<unk>"])
@pytest.mark.parametrize("end_of_word", ENDS)
def test_ids_and_unknown_characters_are_those_of_priority(end_of_word: str | None, unknown: str | None) -> None:
    rng = random.Random(f"{end_of_word}{unknown}")
    for _ in range(8):
        letters = "abcdé日😀 \n"[: rng.choice([4, 6, 9])]
        model = trained(rng, letters, end_of_word, unknown)
        fast, reference = Compiled(model), Priority(model)
        for _ in range(30):
            others = rng.choice(["", "", "x", "</w>", "▁_"])
            text = "".join(rng.choices(letters + others, k=rng.choice(LENGTHS))) + rng.choice(["", "<s>"])
            for kinds in ({"disallowed_special": ()}, {"allowed_special": "all"}):
                expected = outcome(reference.encode, text, **kinds)
                assert outcome(fast.encode, text, **kinds) == expected
                answers = [outcome(fast.encode_array, text, **kinds), outcome(fast.encode_ragged, [text], **kinds)]
                batch = outcome(fast.encode_batch, [text, text], threads=2, **kinds)
                if isinstance(expected, list):
                    assert [answers[0].tolist(), answers[1][0].tolist(), batch] == [expected, expected, [expected] * 2]
                else:
                    assert [*answers, batch] == [expected] * 3
                if isinstance(expected, list):
                    assert fast.decode(expected) == reference.decode(expected)
            expected = outcome(reference.encode, text, disallowed_special=())
            counted = outcome(fast.count, text)
            assert counted == (len(expected) if isinstance(expected, list) else expected)


def test_a_character_known_only_inside_a_word_is_unknown_at_its_end() -> None:
    model = Model(tokens=(b"a", b"b</w>"), alphabet="chars", end_of_word="</w>", pattern=r"\S+|\s")
    for tokenizer in (Compiled(model), Naive(model)):
        assert tokenizer.encode("aab") == [0, 0, 1]
        for text, unknown in (("ba", ("b", 0)), ("aa", ("a", 1)), ("ab ", (" ", 2))):
            assert outcome(tokenizer.encode, text) == unknown


def test_a_token_that_two_spellings_make() -> None:
    """The text `a_` inside a word, and `a` at the end of one."""
    tokens = (b"a", b"_", b"b", b"a_", b"b_", b"__", b"ba_")
    model = Model(tokens=tokens, merges=((0, 1), (2, 3)), alphabet="chars", end_of_word="_", pattern=())
    fast, reference = Compiled(model), Priority(model)
    for text in ("a", "ba", "ba_b", "a_a", "ba_ba_ba", "baa", "a__b"):
        assert outcome(fast.encode, text) == outcome(reference.encode, text)


def test_what_a_model_of_words_cannot_have_there_is_named() -> None:
    model = Model(tokens=(b"a", b"a_", b"aa_"), merges=((0, 1),), alphabet="chars", end_of_word="_", pattern=())
    with pytest.raises(Unsupported, match="does not run ignore_merges with end_of_word"):
        impls.load("compiled", model.with_(ignore_merges=True))
    with pytest.raises(Unsupported, match="end_of_word with merges by joined text"):
        impls.load("compiled", model.with_(merges=(), merge_rule="concatenation"))


def test_joined_text_decides_where_nothing_is_unknown() -> None:
    tokens = (b"a", b"b", "é".encode(), b"ab", b"aab", "bé".encode(), b"abab")
    model = Model(tokens=tokens, alphabet="chars", merge_rule="concatenation", pattern=(r"[ab]+|[^ab]",))
    fast, reference = Compiled(model), Priority(model)
    rng = random.Random(4)
    for _ in range(300):
        text = "".join(rng.choices("aabbé" + rng.choice(["", "x"]), k=rng.choice(LENGTHS[:-1])))
        assert outcome(fast.encode, text) == outcome(reference.encode, text)
