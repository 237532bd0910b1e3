"""What a text uses of a vocabulary."""

from __future__ import annotations

from typing import Any

import impls
from harness.measure.token_use import all_of, ordinary_tokens, token_use


def test_tokens_are_counted_by_id_in_every_document(hand_made: Any) -> None:
    model = hand_made("a+b", "", alphabet="bytes", special_tokens={"<s>": 257})
    tokenizer = impls.load("priority", model)
    use = token_use(tokenizer, ["abab", "", "b<s>"], "mine")
    assert {i: int(times) for i, times in enumerate(use.times) if times} == {
        256: 2, ord("b"): 1, ord("<"): 1, ord("s"): 1, ord(">"): 1,
    }  # fmt: skip
    assert (use.n_documents, use.n_bytes, use.n_tokens) == (2, 8, 6)
    both = all_of([use, token_use(tokenizer, ["ab"], "other")])
    assert (both.text, both.n_documents, both.n_bytes, both.n_tokens) == ("mine, other", 3, 10, 7)
    assert both.times[256] == 3
    assert len(ordinary_tokens(model)) == 257
    assert 257 not in ordinary_tokens(model)
