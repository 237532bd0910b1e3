"""Batches of `compiled` are the ids of their texts, whatever the texts, their number and the number of threads."""

from __future__ import annotations

import ctypes

import pytest
from batch_texts import check_every_batch, texts_of
from refusals import refused

import impls
from impls.compiled import Compiled
from impls.compiled.threads import worker_threads
from impls.core.model.model import Model
from impls.priority import Priority

CAREFUL = ["a\ud800b", "<|end|>", "x<|end|>y"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n_texts", [1, 1024, 1025, 2100])
def test_any_number_of_texts_and_waves(tokenizer: Compiled, model: Model, n_texts: int, threads: int) -> None:
    check_every_batch(tokenizer, model, texts_of(n_texts), threads)


@pytest.mark.parametrize("allowed", ["", "all"])
@pytest.mark.parametrize("places", [[0, 5, 6, 1299], range(0, 1300, 7)])
def test_texts_that_need_care_stay(tokenizer: Compiled, model: Model, places: range | list[int], allowed: str) -> None:
    texts = texts_of(1300)
    for place in places:
        texts[place] = CAREFUL[place % len(CAREFUL)]
    check_every_batch(tokenizer, model, texts, 2, allowed)


def test_texts_larger_than_the_buffer_of_a_thread(fast: Compiled, model: Model) -> None:
    fast._own["out_limit"] = 2000
    check_every_batch(fast, model, texts_of(100, repeat=200), 1)
    with fast._pool.borrowed() as context:
        context["out_limit"] = 100
    check_every_batch(fast, model, texts_of(100, repeat=200), 2)


def test_a_batch_that_fails_leaves_the_tokenizer_as_it_was(tokenizer: Compiled, model: Model) -> None:
    texts = [*texts_of(400), "<|end|>", *texts_of(400)]
    for _ in range(3):
        refused(impls.SpecialToken, None, tokenizer.encode_batch, texts, 2)
        refused(impls.SpecialToken, None, tokenizer.encode_ragged, texts, 2)
        for nonsense in (5, b"bytes", ["list"], None):
            refused((TypeError, AttributeError), None, tokenizer.encode_batch, [*texts_of(100), nonsense], 2)
        assert tokenizer.encode("the cat") == Priority(model).encode("the cat")
        check_every_batch(tokenizer, model, texts_of(300), 2)


def test_a_str_may_get_its_utf8_kept_by_others_at_any_time(fast: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter caches it in the str when any code asks for it: here, after the texts were fetched."""
    utf8 = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
    utf8.restype, utf8.argtypes = ctypes.c_char_p, [ctypes.py_object, ctypes.c_void_p]
    texts = [f"kedi paspasın {i} üstünde 日本語" for i in range(20)]
    expected = list(map(fast.encode, texts))
    monkeypatch.setattr(worker_threads.BatchJob, "_ask_workers", lambda job: [utf8(text, None) for text in texts])
    assert fast.encode_batch([*texts], threads=1) == expected
