"""Many texts at once, on several threads, as lists or as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from impls.core.arguments import SpecialSet, check_special_sets, check_texts, text_sequence, thread_count
from impls.core.model.whole_tokens import WholeTokens
from impls.operations.coder import Coder
from impls.operations.specials import written

if TYPE_CHECKING:
    import numpy as np

Ids = TypeVar("Ids")


def encode_batch(
    tokenizer: Coder,
    texts: Sequence[str],
    threads: int | None,
    *,
    allowed_special: SpecialSet = (),
    disallowed_special: SpecialSet = "all",
) -> list[list[int]]:
    """Return `Tokenizer.encode_batch`."""
    texts, threads = text_sequence(texts), thread_count(threads)
    if _are_ordinary(tokenizer, texts, allowed_special, disallowed_special):
        return _prepared(tokenizer, tokenizer.encode_normalized_batch, texts, threads)
    encode = partial(tokenizer.encode, allowed_special=allowed_special, disallowed_special=disallowed_special)
    return map_on_threads(encode, texts, threads)


def encode_ragged(
    tokenizer: Coder,
    texts: Sequence[str],
    threads: int | None,
    *,
    allowed_special: SpecialSet = (),
    disallowed_special: SpecialSet = "all",
) -> tuple[np.ndarray, np.ndarray]:
    """Return `Tokenizer.encode_ragged`."""
    texts, threads = text_sequence(texts), thread_count(threads)
    if _are_ordinary(tokenizer, texts, allowed_special, disallowed_special):
        return _prepared(tokenizer, tokenizer.encode_normalized_ragged, texts, threads)
    encode = partial(tokenizer.encode_array, allowed_special=allowed_special, disallowed_special=disallowed_special)
    return joined(map_on_threads(encode, texts, threads))


def _are_ordinary(
    tokenizer: Coder, texts: Sequence[str], allowed_special: SpecialSet, disallowed_special: SpecialSet
) -> bool:
    """Return whether no text contains a special or added token to encode."""
    if not (allowed_special or disallowed_special or tokenizer.model.added_tokens):
        return True
    check_texts(texts)
    check_special_sets(allowed_special, disallowed_special)
    occur = tokenizer.model.derived(WholeTokens).occur
    return not any(occur(text, allowed_special, disallowed_special) for text in texts)


def _prepared(tokenizer: Coder, encode: Callable[[Sequence[str], int], Ids], texts: Sequence[str], threads: int) -> Ids:
    """Return `encode(texts, threads)`, with the texts repaired and normalised if needed."""
    if tokenizer.refusals:
        try:
            return encode(texts, threads)
        except tokenizer.refusals:
            pass
    check_texts(texts)
    return encode([written(tokenizer, text) for text in texts], threads)


def map_on_threads(encode: Callable[[str], Ids], texts: Sequence[str], threads: int) -> list[Ids]:
    """Return `encode(text)` of each text, in order."""
    if threads == 1 or len(texts) < 2:
        return [encode(text) for text in texts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(encode, texts))


def as_array(ids: Sequence[int]) -> np.ndarray:
    """Return ids as a uint32 array."""
    import numpy as np

    return np.array(ids, dtype=np.uint32)


def joined(rows: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists or arrays of ids concatenated (uint32), and their offsets (int64 of shape (len(rows) + 1,))."""
    import numpy as np

    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    if rows and not isinstance(rows[0], np.ndarray):
        rows = list(map(as_array, rows))
    return (np.concatenate(rows) if rows else np.zeros(0, np.uint32)), offsets
