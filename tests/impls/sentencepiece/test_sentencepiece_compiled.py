"""`compiled` on models of SentencePiece: its library's ids on models it trained, priority's on random ones."""

from __future__ import annotations

import random
from typing import Any

import pytest
from refusals import refused

from impls import Model, Unsupported
from impls.compiled import Compiled
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.priority import Priority


@pytest.mark.parametrize("trained", ["plain", "unknown", "runs of spaces"], indirect=True)
def test_long_texts_are_cut_where_no_token_reaches_across(trained: Any) -> None:
    tokenizer = Compiled(trained.model)
    assert tokenizer.splitting == "automaton, borders"
    texts = ["the cat  sat, lower 你好\n" * 900, "the" * 3000, " " * 5000 + "x", "\u0301" * 3000, "é ß " * 2000]
    for text in texts:
        assert tokenizer.encode(text) == trained.library.encode(text)


def random_model(rng: random.Random) -> Model:
    """Random tokens over a few characters, some of which are unknown; ranks in any order."""
    letters = "abcd▁é你"
    known = rng.sample(letters, rng.randrange(3, len(letters) + 1))
    tokens = {"".join(rng.choice(known) for _ in range(rng.choice((2, 2, 3, 3, 4, 7)))) for _ in range(30)}
    order = [token.encode() for token in [*known, *sorted(tokens, key=lambda token: rng.random())]]
    given: dict[str, Any] = {"alphabet": "chars", "unknown": "<unk>", "unknown_id": len(order)}
    rules: dict[str, Any] = {"fuse_unknown": rng.random() < 0.5}
    if rng.random() < 0.5:
        rules["byte_ids"] = tuple(range(len(order) + 1, len(order) + 257))
        order += [None] * 257  # type: ignore[list-item]
    if rng.random() < 0.5:
        rules["ranks"] = tuple(rng.sample(range(1000), len(order)))
    if rng.random() < 0.4:
        ids = {token: i for i, token in enumerate(order)}
        given["merges"] = [
            (ids[token[:k]], ids[token[k:]])
            for token in order
            if token
            for k in range(1, len(token))
            if token[:k] in ids and token[k:] in ids
        ]
        rng.shuffle(given["merges"])
        rules.pop("ranks", None)
    else:
        given["merge_rule"] = "concatenation"
    if rng.random() < 0.3:
        given["pattern"] = (r"\p{L}+|[^\p{L}]+",)
    if rng.random() < 0.3:
        given["added_tokens"] = {"<x>": 2000}
    return Model(tokens=tuple(order), sentencepiece=SentencePieceRules(**rules), **given)


def test_random_models_encode_as_priority_does(fuzz: int) -> None:
    rng = random.Random(7)
    for _ in range(15 * fuzz):
        model = random_model(rng)
        fast, reference = Compiled(model), Priority(model)
        for _ in range(30):
            size = rng.choice((0, 1, 3, 9, 70, 300))
            text = "".join(rng.choice("aaabbcd  é你好x<x>") for _ in range(size))
            expected = reference.encode(text)
            assert fast.encode(text) == expected, text
            assert fast.encode_array(text).tolist() == expected
            assert fast.decode(expected) == reference.decode(expected)


UNKNOWN = {"unknown": "?", "unknown_id": 9}


@pytest.mark.parametrize(
    ("rules", "fields", "why"),
    [
        (None, {"end_of_word": "</w>"}, "end_of_word"),
        (SentencePieceRules(ranks=(5, 5, 3, 3)), UNKNOWN, "same rank"),
        (SentencePieceRules(), UNKNOWN | {"ignore_merges": True}, "ignore_merges"),
        (SentencePieceRules(user_defined_ids=(2,)), UNKNOWN | {"pattern": ("a+|[^a]",)}, "user-defined"),
    ],
)
def test_what_the_kernels_cannot_run_is_refused_with_the_reason(rules: Any, fields: dict[str, Any], why: str) -> None:
    tokens = (b"a", b"b", b"ab", b"ba")
    model = Model(tokens=tokens, alphabet="chars", merge_rule="concatenation", sentencepiece=rules).with_(**fields)
    refused(Unsupported, why, Compiled, model)
