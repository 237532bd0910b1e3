"""The cache of pieces starts small and grows: ids do not change, no entry is lost, no access is out of bounds."""

from __future__ import annotations

import random

import numpy as np
import pytest
from random_models import BYTES

import impls
from impls.compiled import Compiled, context
from impls.priority import Priority

LETTERS = "abcd"
SPLIT_OUTSIDE = r"(?<=[a-z])[ ]|[a-z]+|[^a-z]"
"""It has a look-behind, which the automaton lacks: the kernels get pieces split by `regex`."""


@pytest.fixture(scope="module")
def model() -> impls.Model:
    text = " ".join(distinct(random.Random(7), 300, 9))
    return Priority.train_model([text], impls.TrainingSpec(vocab_size=400, pattern="gpt2"))


def distinct(rng: random.Random, n_words: int, n_letters: int) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < n_words:
        words["".join(rng.choices(LETTERS, k=n_letters))] = None
    return list(words)


def state(tokenizer: Compiled) -> tuple[int, int]:
    """Return the number of slots and of entries, in the only context that was used."""
    (slots,) = tokenizer._pool.free or [tokenizer._own]
    return 1 << (64 - slots["entries_shift"]), slots["n_entries"]


@pytest.mark.parametrize(("n_letters", "n_words"), [(9, 50_000), (20, 60_000)])
@pytest.mark.parametrize("pattern", ["gpt2", SPLIT_OUTSIDE])
def test_a_table_that_grew_holds_what_it_held(model: impls.Model, n_letters: int, n_words: int, pattern: str) -> None:
    model = model.with_(pattern=pattern)
    tokenizer, reference = Compiled(model), Priority(model)
    assert tokenizer.splitting.startswith("regex") == (pattern is SPLIT_OUTSIDE)
    words = distinct(random.Random(n_words), n_words, n_letters)
    begun = state(tokenizer)[0]
    texts = [" ".join(words[at : at + 997]) for at in range(0, n_words, 997)]
    expected = [reference.encode(text) for text in texts]
    assert [tokenizer.encode(text) for text in texts] == expected
    grown, entries = state(tokenizer)
    assert grown >= 4 * begun
    assert 0.6 * n_words < entries <= 3 * grown // 4
    assert [tokenizer.encode(text) for text in texts] == expected
    for token in model.tokens:
        if token.isalpha():
            assert tokenizer.encode(token.decode()) == reference.encode(token.decode())
    assert state(tokenizer) == (grown, entries), "what was known had to be made again"


def test_a_cache_counts_the_entries_it_holds_those_of_the_vocabulary_included() -> None:
    """Of a token that no merge makes it holds the ids that its bytes have."""
    tokens = (*BYTES, b"ab", b"xyz", b"qqq")
    tokenizer = Compiled(impls.Model(tokens=tokens, merges=((97, 98),), pattern="gpt2"))
    slots = tokenizer._own
    assert (slots["n_cache_tokens"], slots["n_cache_rows"]) == (257, 2)
    for text in ("", " ab xyz qqq x", "abx xyzab"):
        tokenizer.encode(text)
        entries = slots.held("entries")[: 32 << (64 - slots["entries_shift"])].view(np.int64).reshape(-1, 4)
        assert np.count_nonzero(entries[:, 1]) == slots["n_entries"]


@pytest.mark.parametrize(("seed", "pattern"), [(1, "gpt2"), (2, "cl100k"), (3, "turkish")])
def test_tables_of_a_few_slots_grow(seed: int, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "_LEAST_CACHE_BITS", 4)
    rng = random.Random(seed)
    kinds = ["abcdefgh", "éüß", "日本語テキ", "абвГ", " "]

    def text(n_words: int) -> str:
        lengths = rng.choice([[1, 2, 5, 7], [6, 20], [40, 100], [3, 17, 33, 300]])
        return " ".join("".join(rng.choices(rng.choice(kinds), k=rng.choice(lengths))) for _ in range(n_words))

    model = Priority.train_model([text(60)], impls.TrainingSpec(vocab_size=300, pattern=pattern))
    tokenizer, reference = Compiled(model), Priority(model)
    slots = tokenizer._own
    shift = slots["entries_shift"]
    before = ""
    for _ in range(30):
        each = text(rng.choice([5, 300]))
        for again in (each, before, each):
            assert tokenizer.encode(again) == reference.encode(again)
        before = each
    assert shift > slots["entries_shift"]


def test_two_longer_pieces_with_one_key_have_their_own_ids() -> None:
    """The key is a hash; here the entry of one piece is given the key of another."""
    tokenizer = Compiled(impls.Model(tokens=BYTES, pattern="gpt2"))
    one, other = "a" * 20, "b" * 20
    tokenizer.encode(one)
    slots = tokenizer._own
    entries = slots.held("entries")[: 32 << (64 - slots["entries_shift"])].view(np.int64).reshape(-1, 4)
    (held,) = np.flatnonzero(entries[:, 1] == -20)
    entry = entries[held].copy()
    tokenizer.encode(other)
    (where,) = set(np.flatnonzero(entries[:, 1] == -20)) - {held}
    entries[where, 2:] = entry[2:]
    for _ in range(2):
        assert tokenizer.encode(other) == [98] * 20
        assert tokenizer.encode(one) == [97] * 20
