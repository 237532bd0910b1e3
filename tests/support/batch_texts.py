"""Texts for batches of `compiled`, and every form of batch compared with `priority`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from impls.compiled import Compiled
from impls.core.model.model import Model
from impls.priority import Priority

WORDS = [
    "the cat", "kedi paspasın üstünde", "日本語の日本", "  \n\n x", "it'll", "", "naïve café", "\U0001f389!", "12345",
]  # fmt: skip


def texts_of(n_texts: int, repeat: int = 9) -> list[str]:
    return [WORDS[i % len(WORDS)] * (i % repeat) + str(i) for i in range(n_texts)]


def check_every_batch(tokenizer: Compiled, model: Model, texts: list[str], threads: int, allowed: str = "") -> None:
    options = {"allowed_special": allowed or (), "disallowed_special": ()}
    reference = Priority(model)
    expected = [reference.encode(text, **options) for text in texts]  # type: ignore[arg-type]
    assert tokenizer.encode_batch(texts, threads, **options) == expected  # type: ignore[arg-type]
    ids, offsets = tokenizer.encode_ragged(texts, threads, **options)  # type: ignore[arg-type]
    assert (ids.dtype, offsets.dtype) == (np.uint32, np.int64)
    assert [ids[start:end].tolist() for start, end in pairwise(offsets)] == expected
