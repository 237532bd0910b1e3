"""One pass of each task, and the expected answer. Runs in the worker; reads no clock.

Every implementation gets the same texts, cut the same way, treats special tokens as ordinary text, and returns only
ids: a list for `encode` and similar tasks, arrays for `encode-array`, `encode-documents-array` and `encode-ragged`, a
number for `count`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from harness.decoded import ModelDecoder
from harness.measure.answers import (
    NotIds,
    digest_of_counts,
    digest_of_ids,
    digest_of_merges,
    digest_of_texts,
    read_ids,
)
from harness.measure.protocol import Expected, Job
from harness.measure.texts import read_texts, stretches, take
from harness.measure.workloads import BATCHES, STRETCHES
from impls import Model, Tokenizer, TrainingSpec
from impls.core.round_trip import comes_back_as
from impls.core.text.text import repair_surrogates

ARRAYS = ("encode-array", "encode-documents-array", "encode-ragged")
"""Tasks that return arrays."""

Inputs = Sequence[Any]
Pass = Callable[[Inputs], Any]


class PreparedJob(msgspec.Struct, kw_only=True):
    """A job ready to run: its texts and the call to be timed."""

    passes: list[list[bytes]]
    """The texts of each pass; every pass reads the same single list, except in `warm-other`."""
    other: list[bytes]
    """Other text: for `warm-other` to read before the first pass, for `warm-between` before every one."""
    run: Pass
    """One pass over the inputs."""
    fresh: Callable[[list[bytes]], Inputs]
    """Makes new inputs for a pass over these texts, outside the timing."""
    n_calls: int
    """Number of calls in one pass."""

    @property
    def texts(self) -> list[bytes]:
        """Return the texts of all passes."""
        return [text for texts in self.passes for text in texts]

    @property
    def n_bytes(self) -> int:
        """Return the bytes of all texts."""
        return sum(map(len, self.texts))


def strings(texts: list[bytes]) -> list[str]:
    """Return new `str` objects, since reading the same ones again favours libraries that cache UTF-8 inside them."""
    return [text.decode("utf-8", "surrogatepass") for text in texts]


def prepare(job: Job, tokenizer: Tokenizer | None, implementation: type[Tokenizer], ids_file: str = "") -> PreparedJob:
    """Read a job's texts and bind the call to be timed."""
    other: list[bytes] = []
    passes = [take(texts, job.n_bytes) for texts in stretches(read_texts(Path(job.texts)), job.state)]
    if job.state in STRETCHES:
        other, *passes = passes
    fresh: Callable[[list[bytes]], Inputs] = strings
    if job.state == "same-object":
        kept = strings(passes[0])
        fresh = lambda _: kept  # noqa: E731
    if job.task == "train":
        spec = TrainingSpec(**job.training)
        run: Pass = lambda inputs: implementation.train_model(inputs, spec)  # noqa: E731
        return PreparedJob(passes=passes, other=other, run=run, fresh=fresh, n_calls=1)
    assert tokenizer is not None, "only training runs without a model"
    if job.task == "decode":
        ids = read_ids(Path(ids_file))
        fresh = lambda _: [list(some) for some in ids]  # noqa: E731
    run = bind(job, tokenizer)
    if job.state == "warm-between":
        fresh = _after_other_text(fresh, run, other)
    n_calls = 1 if job.task in BATCHES else len(passes[0])
    return PreparedJob(passes=passes, other=other, run=run, fresh=fresh, n_calls=n_calls)


def _after_other_text(
    fresh: Callable[[list[bytes]], Inputs], run: Pass, other: list[bytes]
) -> Callable[[list[bytes]], Inputs]:
    """Return `fresh` preceded by a pass over other text."""

    def inputs(texts: list[bytes]) -> Inputs:
        run(fresh(other))
        return fresh(texts)

    return inputs


def bind(job: Job, tokenizer: Tokenizer) -> Pass:
    """Return one pass of a job as a function of its inputs; not for `load` and `train`."""
    if job.task == "decode":
        decode = tokenizer.decode
        return lambda inputs: [decode(ids) for ids in inputs]
    if job.task == "count":
        count = tokenizer.count
        return lambda inputs: [count(text) for text in inputs]
    if job.task in BATCHES:
        batch: Callable[..., Any] = tokenizer.encode_batch if job.task == "encode-batch" else tokenizer.encode_ragged
        threads = job.threads
        return lambda inputs: batch(inputs, threads, disallowed_special=())
    encode: Callable[..., Any] = tokenizer.encode_array if job.task in ARRAYS else tokenizer.encode
    return lambda inputs: [encode(text, disallowed_special=()) for text in inputs]


def same_answer(job: Job, a: Any, b: Any) -> bool:
    """Return whether two passes have the same answer."""
    if job.task in ARRAYS:
        return len(a) == len(b) and all(map(np.array_equal, a, b))
    if job.task == "train":
        return bool(digest_of_model(a) == digest_of_model(b))
    return bool(a == b)


def join_answers(job: Job, answers: Sequence[Any]) -> Any:
    """Concatenate the answers of passes, one entry per text; raise `NotIds`."""
    if job.task == "train":
        return answers[-1]
    return [entry for answer in answers for entry in (_rows(answer) if job.task == "encode-ragged" else answer)]


def _rows(answer: Any) -> list[np.ndarray]:
    """Split one array of all ids at its offsets into the ids of each text; raise `NotIds`."""
    try:
        ids, offsets = answer
        borders = [int(border) for border in offsets]
    except (TypeError, ValueError) as error:
        raise NotIds(f"an answer that is not an array of ids and one of offsets: {error}") from None
    if borders[:1] != [0] or borders[-1] != len(ids) or any(a > b for a, b in pairwise(borders)):
        raise NotIds(f"offsets that do not divide {len(ids)} ids")
    return [ids[a:b] for a, b in pairwise(borders)]


def digest_of_model(model: Model) -> str:
    """Return the digest of what training learned."""
    return digest_of_merges(model.tokens, model.merges)


def digest(job: Job, answer: Any) -> tuple[str, int]:
    """Return the digest of a pass's answer and its number of tokens (of merges, for `train`)."""
    if job.task == "train":
        return digest_of_model(answer), len(answer.merges)
    if job.task == "count":
        return digest_of_counts(answer)
    if job.task == "decode":
        return digest_of_texts(answer), 0
    return digest_of_ids(answer)


def digest_of_parts(digests: Iterable[str]) -> str:
    """Combine the digests of the parts of a text into one."""
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def decoded_texts(texts: list[bytes], expected: Expected, model: Model) -> list[str] | None:
    """Return what the reference's ids of `texts` must decode to; None where neither texts nor model determine it.

    It is the text, or its normal form; for a lossy model, the text the ids decode to by the model.
    """
    decoder = ModelDecoder(model)
    wanted: list[str] = []
    for text, ids in zip(strings(texts), read_ids(Path(expected.ids_file)), strict=False):
        back = comes_back_as(model, repair_surrogates(text))
        if back is None and not decoder.is_known:
            return None
        wanted.append(decoder.decode(ids) if back is None else back)
    return wanted


def expected_digest(job: Job, texts: list[bytes], expected: Expected, model: Model | None) -> str | None:
    """Return the expected result of `digest`, by the reference's answer; None where that does not determine it.

    `model` is the tokenizer's; training has none.
    """
    if job.task == "count":
        return digest_of_counts(len(ids) for ids in read_ids(Path(expected.ids_file)))[0]
    if job.task == "decode":
        assert model is not None
        wanted = decoded_texts(texts, expected, model)
        return None if wanted is None else digest_of_texts(wanted)
    return expected.digest
