"""Every figure on a text small enough to count by hand, and tokenization-scorer's own examples."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import impls
from harness.evaluate.intervals import Figure, quantile, ratio
from harness.evaluate.metrics import EvaluationRow, figures_of, rank
from harness.evaluate.tally import GROUPS, ModelTally, TextTally
from harness.evaluate.texts import Segmenter, batch_of, batches
from harness.measure.token_use import TokenArray


def tallied(model: impls.Model, documents: list[str], implementation: str = "priority") -> tuple[TextTally, ModelTally]:
    tokenizer = impls.load(implementation, model)
    text, segmenter = TextTally(), Segmenter()
    made = ModelTally(tokenizer, TokenArray(model.bytes_by_id()))
    for some in batches(documents):
        batch = batch_of(some, segmenter)
        text.add(batch)
        made.add(batch)
    return text, made


def values(model: impls.Model, documents: list[str]) -> dict[str, float | None]:
    text, made = tallied(model, documents)
    return {name: figure.value for name, figure in figures_of(text, made).items()}


def test_figures_counted_by_hand(hand_made: Any) -> None:
    # ab| c|a|b|c  é is two bytes.   "ab cab" -> ab, ␠, c, ab;   "é b" -> C3, A9, ␠, b
    model = hand_made("a+b", alphabet="bytes")
    found = values(model, ["ab cab", "é b"])
    assert found["bytes_per_token"] == 10 / 8
    assert found["characters_per_token"] == 9 / 8
    assert found["tokens_per_document_mean"] == 4
    assert (found["tokens_per_document_median"], found["tokens_per_document_p95"]) == (4, 4)
    assert found["fertility"] == 8 / 4  # ab, cab, é, b
    assert found["continued_word_share"] == 2 / 4  # cab, é


@pytest.mark.parametrize("text", ["สวัสดีครับ", "日本語を話す", "မြန်မာ", "ສະບາຍດີ", "ភាសាខ្មែរ", "我说 ok"])
def test_words_are_not_counted_where_they_are_not_written_apart(hand_made: Any, text: str) -> None:
    model = hand_made("a+b", alphabet="bytes")
    found = values(model, [text])
    assert (found["fertility"], found["continued_word_share"]) == (None, None)
    assert found["bytes_per_token"] == 1
    assert values(model, ["some Latin text with one 字"])["fertility"] is not None


def test_a_normalising_model_is_judged_by_borders_in_the_normal_form() -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    model = impls.Model(tokens=(*tokens, "é".encode()), merges=((0xC3, 0xA9),), normalization="nfc")
    assert model.round_trip == "normalising"
    found = values(model, ["e\u0301 e\u0301"])
    assert (found["continued_word_share"], found["fertility"]) == (0, 3 / 2)


def test_text_with_surrogates_is_judged_by_what_the_ids_decode_to(hand_made: Any) -> None:
    found = values(hand_made("a+b", alphabet="bytes"), ["a\ud83d\ude00b", "c\ud800"])
    assert (found["continued_word_share"], found["fertility"]) == (0, 10 / 3)


def test_a_lossy_model_has_no_borders() -> None:
    model = impls.Model(tokens=(b"a", b"b", b"[UNK]"), unknown="[UNK]", unknown_id=2, alphabet="chars")
    assert model.round_trip == "lossy"
    assert values(model, ["abc", "c"])["continued_word_share"] is None


SAME_LENGTH = "\u2126a \u2126b \u2126c \u2126d \U0001d15e"
"""Its NFC has as many bytes, at other places."""
DIFFICULT = [
    SAME_LENGTH, "\u0301a b", "  two spaces", "\n\nx\n", "\u0301", " ", "日本語 のテキスト",
    "e\u0301te\u0301 d'e\u0301te\u0301",
]  # fmt: skip


@pytest.mark.parametrize("model", ["o200k_base", "qwen-nfc", "mistral-v1"])
def test_figures_are_those_of_one_document_after_the_other(model: str) -> None:
    from harness.data import load_corpus, load_model

    loaded = load_model(model)
    documents = [document for name in ("samples/tr", "samples/en") for document in load_corpus(name).documents()]
    documents = [*DIFFICULT, *documents, *DIFFICULT[:-1]]
    text, made = tallied(loaded, documents, "compiled")
    tokenizer = impls.load("priority", loaded)
    ids = [tokenizer.encode(document, disallowed_special=()) for document in documents]
    assert made.tokens.sum() == sum(map(len, ids))
    assert text.characters.sum() == sum(map(len, documents))
    # The borders of each document by themselves, and its words from its decoded text.
    from harness.evaluate.texts import spans

    by_id = loaded.bytes_by_id()
    continued = n_words = 0
    for some in ids:
        places, content = set(), b""
        for i in some:
            places.add(len(content))
            content += by_id[i]
        words = spans(content.decode())
        n_words += len(words)
        continued += sum(any(place in places for place in range(start + 1, end)) for start, end in words)
    assert (made.words.sum(), made.continued.sum()) == (n_words, continued)


# --- intervals -------------------------------------------------------------------------------------------------


def test_a_bootstrap_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        bottoms = random.integers(50, 150, 30)
        found = ratio(random.binomial(bottoms, 0.3), bottoms, 30, is_share=True)
        held += found.low <= 0.3 <= found.high
    assert 180 <= held <= 199


def test_few_documents_give_wide_intervals_and_one_gives_none() -> None:
    many, few = (ratio(np.tile([10, 20], n), np.tile([10, 10], n), 2 * n) for n in (200, 1))
    assert many.value == few.value == 1.5
    assert few.high - few.low > 20 * (many.high - many.low)
    assert ratio(np.array([3]), np.array([2]), 1) == Figure(1.5)
    assert ratio(np.array([0]), np.array([0]), 1) == Figure(None)


def test_a_share_of_nothing_is_not_certain_and_documents_without_an_observation_are_no_trials() -> None:
    none = ratio(np.zeros(3), np.ones(3), 3, is_share=True)
    assert none == Figure(0.0, 0.0, pytest.approx(1 - 0.025 ** (1 / 3)))
    assert ratio(np.ones(3), np.ones(3), 3, is_share=True) == Figure(1.0, pytest.approx(0.025 ** (1 / 3)), 1.0)
    once = np.array([1, *[0] * 999])
    assert ratio(once, once, 1_000, is_share=True) == Figure(1.0, pytest.approx(0.025), 1.0)
    assert ratio(0 * once, once, 1_000, is_share=True) == Figure(0.0, 0.0, pytest.approx(0.975))


def test_quantiles_are_numbers_that_occur_with_ranks_as_bounds() -> None:
    assert quantile(Counter(range(1, 101)), 0.5) == Figure(50, 41, 61)
    assert quantile(Counter([7]), 0.95) == Figure(7, None, None)


# --- sums and ranks --------------------------------------------------------------------------------------------


def test_sums_do_not_depend_on_how_documents_fall_into_batches(hand_made: Any, monkeypatch: Any) -> None:
    model = hand_made("a+b", alphabet="bytes")
    documents = [f"ab{'c' * (i % 5)} é" for i in range(GROUPS + 50)]
    text, made = tallied(model, documents)
    monkeypatch.setattr("harness.evaluate.texts._BATCH_DOCUMENTS", 7)
    again, remade = tallied(model, documents)
    for name in ("bytes", "characters", "words", "documents"):
        assert np.array_equal(getattr(text, name), getattr(again, name))
    for name in ("tokens", "words", "continued"):
        assert np.array_equal(getattr(made, name), getattr(remade, name))
    assert text.documents.max() == 2


def test_ranks_begin_at_one_are_shared_and_given_to_no_lossy_model() -> None:
    models = (("a", "exact", 30), ("b", "exact", 20), ("c", "lossy", 1), ("d", "normalised", 30), ("e", "exact", 31))
    rows = [
        EvaluationRow(name, "text", None, "compiled", 9, trip, {"n_tokens": n, "n_documents": 2}, {})
        for name, trip, n in models
    ]
    tallies: dict[str, Any] = {name: SimpleNamespace(tokens=np.array([n - 5, 5])) for name, _, n in models}
    rank(rows, tallies)
    assert [row.rank for row in rows] == [2, 1, None, 2, 4]
    fewest = [row.figures.get("tokens_over_fewest") for row in rows]
    assert [figure and figure.value for figure in fewest] == [1.5, 1, None, 1.5, 1.55]
