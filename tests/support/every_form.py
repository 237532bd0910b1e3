"""Ids by every method that encodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from impls import Tokenizer


def every_form(tokenizer: Tokenizer, texts: Sequence[str], **special: Any) -> list[list[int]]:
    """The ids of each text, after every other encoding method has given them too."""
    rows = [tokenizer.encode(text, **special) for text in texts]
    assert {type(i) for ids in rows for i in ids} <= {int}
    arrays = [tokenizer.encode_array(text, **special) for text in texts]
    assert [array.tolist() for array in arrays] == rows
    assert {array.dtype.str for array in arrays} == {"<u4"}
    for threads in (1, 2, None):
        assert tokenizer.encode_batch(iter(texts) if threads else texts, threads, **special) == rows
        ids, offsets = tokenizer.encode_ragged(texts if threads else iter(texts), threads, **special)
        assert (ids.dtype.str, offsets.dtype.str) == ("<u4", "<i8")
        assert [ids[start:end].tolist() for start, end in pairwise(offsets)] == rows
    return rows
