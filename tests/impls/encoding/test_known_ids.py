"""Known ids of the published vocabularies, from each exact implementation."""

from __future__ import annotations

from functools import cache

import pytest

import impls

pytestmark = pytest.mark.corpus

EXACT = ["naive", "wordcount", "priority", "bytelevel", "backtracking"]
PAIRS = [
    *((name, "r50k_base") for name in EXACT),
    *((name, "cl100k_base") for name in ("naive", "priority", "bytelevel")),
    *((name, "o200k_base") for name in ("priority", "bytelevel")),
]
KnownIds = dict[str, dict[str, str]]


@cache
def loaded(name: str, model: str) -> impls.Tokenizer:
    from harness.data import load_model

    return impls.load(name, load_model(model))


@pytest.mark.parametrize(("name", "model"), PAIRS)
def test_known_ids(name: str, model: str, known_ids: KnownIds) -> None:
    tokenizer, known = loaded(name, model), known_ids[model]
    encoded = {text: " ".join(map(str, tokenizer.encode(text, disallowed_special=()))) for text in known}
    assert encoded == known
    assert all(tokenizer.decode(tokenizer.encode(text, disallowed_special=())) == text for text in known)


@pytest.mark.parametrize(("name", "model"), [pair for pair in PAIRS if pair[0] != "priority"])
def test_inputs_worth_keeping_get_the_same_ids_from_all(name: str, model: str, worth_keeping: list[str]) -> None:
    ours, yardstick = loaded(name, model), loaded("priority", model)
    slow = name in ("naive", "bytelevel")  # their time grows with the square of a piece
    for text in [text for text in worth_keeping if not slow or len(text) < 500]:
        assert ours.encode(text) == yardstick.encode(text), text
