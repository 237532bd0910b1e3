"""What one pass of each task does, and what its answer must be. Runs in the worker; holds no clock.

Every implementation is given the same texts in the same pieces, reads special tokens as ordinary text, and answers
ids only: a list for `encode` and its kin, an array for `encode-array`, a number for `count`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from harness.measure.answers import (
    digest_of_counts,
    digest_of_ids,
    digest_of_merges,
    digest_of_texts,
    read_ids,
)
from harness.measure.protocol import Expected, Job
from harness.measure.texts import read_texts, take, take_each
from impls import Model, Tokenizer, TrainingSpec
from impls.text import repair_surrogates

Inputs = Sequence[Any]
Pass = Callable[[Inputs], Any]


class Work(msgspec.Struct, kw_only=True):
    """A job made ready to run."""

    texts: list[bytes]
    """What one pass reads; for `warm-other` the texts of all passes."""
    warm_up: bytes | None
    """For `warm-other`: text to read first."""
    run: Pass
    """One pass over the inputs."""
    fresh: Callable[[list[bytes]], Inputs]
    """New inputs for a pass over these texts, made outside the timing."""
    n_calls: int

    @property
    def n_bytes(self) -> int:
        """Bytes of all texts."""
        return sum(map(len, self.texts))


def strings(texts: list[bytes]) -> list[str]:
    """New `str` objects: reading the same one again flatters whoever keeps something inside it."""
    return [text.decode("utf-8", "surrogatepass") for text in texts]


def prepare(job: Job, tokenizer: Tokenizer | None, implementation: type[Tokenizer], ids_file: str = "") -> Work:
    """Read a job's texts and bind the call to be timed."""
    texts = read_texts(Path(job.texts))
    warm_up: bytes | None = None
    if job.state == "warm-other":
        warm_up, *texts = take_each(texts, job.n_bytes)
    else:
        texts = take(texts, job.n_bytes)
    fresh: Callable[[list[bytes]], Inputs] = strings
    if job.state == "same-object":
        kept = strings(texts)
        fresh = lambda _: kept  # noqa: E731
    if job.task == "train":
        spec = TrainingSpec(**job.training)
        run: Pass = lambda inputs: implementation.train_model(inputs, spec)  # noqa: E731
        return Work(texts=texts, warm_up=None, run=run, fresh=fresh, n_calls=1)
    assert tokenizer is not None, "only training runs without a model"
    if job.task == "decode":
        ids = read_ids(Path(ids_file))
        fresh = lambda _: [list(some) for some in ids]  # noqa: E731
    n_calls = 1 if job.task == "encode-batch" or warm_up is not None else len(texts)
    return Work(texts=texts, warm_up=warm_up, run=_pass(job, tokenizer), fresh=fresh, n_calls=n_calls)


def _pass(job: Job, tokenizer: Tokenizer) -> Pass:
    if job.task == "decode":
        decode = tokenizer.decode
        return lambda inputs: [decode(ids) for ids in inputs]
    if job.task == "count":
        count = tokenizer.count
        return lambda inputs: [count(text) for text in inputs]
    if job.task == "encode-batch":
        encode_batch, threads = tokenizer.encode_batch, job.threads
        return lambda inputs: encode_batch(inputs, threads, disallowed_special=())
    encode: Callable[..., Any] = tokenizer.encode_array if job.task == "encode-array" else tokenizer.encode
    return lambda inputs: [encode(text, disallowed_special=()) for text in inputs]


def same(job: Job, a: Any, b: Any) -> bool:
    """Whether two passes answered the same."""
    if job.task == "encode-array":
        return len(a) == len(b) and all(map(np.array_equal, a, b))
    if job.task == "train":
        return bool(digest_of_model(a) == digest_of_model(b))
    return bool(a == b)


def digest_of_model(model: Model) -> str:
    """Digest of what training learned."""
    return digest_of_merges(model.tokens, model.merges)


def digest(job: Job, answer: Any) -> tuple[str, int]:
    """Digest of a pass's answer and its number of tokens (of merges, for `train`)."""
    if job.task == "train":
        return digest_of_model(answer), len(answer.merges)
    if job.task == "count":
        return digest_of_counts(answer)
    if job.task == "decode":
        return digest_of_texts(answer), 0
    return digest_of_ids(answer)


def expected_digest(job: Job, texts: list[bytes], expected: Expected) -> str:
    """What `digest` must give, from what the reference answered."""
    if job.task == "count":
        return digest_of_counts(len(ids) for ids in read_ids(Path(expected.ids_file)))[0]
    if job.task == "decode":
        return digest_of_texts(repair_surrogates(text) for text in strings(texts))
    return expected.digest


def lost_text(texts: list[bytes], answer: Any, tokenizer: Tokenizer) -> bytes | None:
    """The first text whose ids do not decode to it, or None where all come back."""
    for text, ids in zip(texts, answer, strict=True):
        wanted = repair_surrogates(text.decode("utf-8", "surrogatepass")).encode()
        if tokenizer.decode_bytes(list(map(int, ids))) != wanted:
            return text
    return None
