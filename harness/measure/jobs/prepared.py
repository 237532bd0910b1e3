"""A job ready to run: its texts and one pass over them. Reads no clock.

Every implementation gets the same texts, cut the same way, reads special tokens as ordinary text, and returns only ids:
a list for `encode` and similar tasks, arrays for `ARRAYS`, a number for `count`, a text for `TEXTS`.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.measure.jobs.answers import read_ids
from harness.measure.jobs.growing import GrowingPass
from harness.measure.jobs.timing import Samples
from harness.measure.protocol import Expected, Job, Measured
from harness.measure.texts import read_texts, stretches, take
from harness.measure.workloads import ARRAYS, BATCHES, DECODING, GROWING, STRETCHES
from impls import Tokenizer, TrainingSpec
from impls.core.decoding import Decoder
from impls.core.text.files import TextFile, TextFiles

OWN = ("pure", "compiled")
"""Kinds of implementations that define these calls; libraries only inherit them and are not timed by them."""


def streaming(tokenizer: Tokenizer) -> Callable[[Sequence[int]], str]:
    """Return a call that decodes ids one by one and returns their joined text.

    Our implementations push each id to a decoder; a library with a stream of its own (`decode_stream`) uses that. A
    library that returns bytes has those of each id decoded by Python's incremental decoder. Any other decodes the ids
    since the last but one complete text and takes the new part, unless it ends in U+FFFD.
    """
    if tokenizer.kind in OWN:
        return lambda ids: _pushed(tokenizer, ids)
    if (own := getattr(tokenizer, "decode_stream", None)) is not None:
        return lambda ids: "".join(list(own(ids)))
    if tokenizer.kind != "third-party" and type(tokenizer).decode_bytes is not Decoder.decode_bytes:
        return lambda ids: _read_singly(tokenizer.decode_bytes, ids)
    return lambda ids: _since_last(tokenizer.decode, ids)


def _pushed(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    decoder = tokenizer.decoder()
    parts = [decoder.push((i,)) for i in ids]
    return "".join([*parts, decoder.finish()])


def _read_singly(decode_bytes: Callable[[Sequence[int]], bytes], ids: Sequence[int]) -> str:
    read = codecs.getincrementaldecoder("utf-8")("replace").decode
    parts = [read(decode_bytes((i,))) for i in ids]
    return "".join([*parts, read(b"", final=True)])


def _since_last(decode: Callable[[Sequence[int]], str], ids: Sequence[int]) -> str:
    parts: list[str] = []
    start = shown = 0
    for end in range(1, len(ids) + 1):
        text, before = decode(ids[start:end]), decode(ids[start:shown])
        if len(text) > len(before) and (end == len(ids) or not text.endswith("\ufffd")):
            parts.append(text[len(before) :])
            start, shown = shown, end
    return "".join(parts)


def truncating(tokenizer: Tokenizer, n_tokens: int) -> Callable[[str], str]:
    """Return a call that truncates a text to `n_tokens`: ours by `truncate`, others by decoding the first ids."""
    if tokenizer.kind in OWN:
        return lambda text: tokenizer.truncate(text, n_tokens)

    def cut(text: str) -> str:
        ids = tokenizer.encode(text, disallowed_special=())
        return text if len(ids) <= n_tokens else tokenizer.decode(ids[:n_tokens]).rstrip("\ufffd")

    return cut


Inputs = Sequence[Any]
Pass = Callable[[Inputs], Any]


def strings(texts: list[bytes]) -> list[str]:
    """Return new `str` objects, since reading the same ones again favours libraries that cache UTF-8 inside them."""
    return [text.decode("utf-8", "surrogatepass") for text in texts]


def as_it_is(answer: Any) -> Any:
    """Return the result of a pass unchanged."""
    return answer


class PreparedJob(msgspec.Struct, kw_only=True):
    """A job, its texts and the call to be timed."""

    job: Job
    tokenizer: Tokenizer | None
    """None for training."""
    passes: list[list[bytes]]
    """The texts of each pass; every pass reads the same single list, except in `warm-other`."""
    other: list[bytes] = []
    """Other text: for `warm-other` to read before the first pass, for `warm-between` before every one."""
    run: Pass
    """Runs one pass over the inputs."""
    fresh: Callable[[list[bytes]], Inputs] = strings
    """Makes new inputs for a pass over these texts, outside the timing."""
    read: Callable[[Any], Any] = as_it_is
    """Extracts the answer from the result of a pass, outside the timing."""
    n_steps: int = 0
    """The number of calls in one pass, for `GROWING`."""

    @property
    def texts(self) -> list[bytes]:
        """Return the texts of all passes."""
        return [text for texts in self.passes for text in texts]

    @property
    def n_calls(self) -> int:
        """Return the number of calls in one pass; the number of ids if each id is a call."""
        if self.job.task in GROWING:
            return self.n_steps
        if self.job.task == "decode-stream":
            return sum(map(len, self.fresh(self.passes[0])))
        return 1 if self.job.task in (*BATCHES, "train") else len(self.passes[0])

    def reply(self, verdict: tuple[str, int], samples: Samples, peak_memory_bytes: int | None) -> Measured:
        """Return the samples of passes whose answers were verified, with their digest and number of tokens."""
        passes, texts = len(self.passes), self.texts
        return Measured(
            samples_seconds=samples.seconds,
            loops=samples.loops,
            n_texts=len(texts) // passes,
            n_bytes=sum(map(len, texts)) // passes,
            n_tokens=verdict[1] // passes,
            n_calls=self.n_calls,
            digest=verdict[0],
            peak_memory_bytes=peak_memory_bytes,
        )


def prepare(
    job: Job, tokenizer: Tokenizer | None, implementation: type[Tokenizer], expected: Expected | None = None
) -> PreparedJob:
    """Read a job's texts and bind the call to be timed, which reads the file itself if that is part of the job.

    `decode` decodes the `expected` ids.
    """
    if job.reads_file:
        files, spec = TextFiles([TextFile(Path(job.texts), "lines")]), TrainingSpec(**job.training)
        return PreparedJob(job=job, tokenizer=None, passes=[[]], run=lambda _: implementation.train_model(files, spec))
    passes = [take(texts, job.n_bytes) for texts in stretches(read_texts(Path(job.texts)), job.state)]
    other = passes.pop(0) if job.state in STRETCHES else []
    if job.task == "train":
        spec = TrainingSpec(**job.training)
        return PreparedJob(
            job=job, tokenizer=None, passes=passes, run=lambda inputs: implementation.train_model(inputs, spec)
        )
    assert tokenizer is not None, "only training runs without a model"
    if job.task in GROWING:
        growing = GrowingPass(job.task, tokenizer, strings(passes[0]))
        return PreparedJob(
            job=job,
            tokenizer=tokenizer,
            passes=passes,
            run=growing.run,
            fresh=growing.fresh,
            read=growing.ids,
            n_steps=growing.n_steps,
        )
    work = PreparedJob(job=job, tokenizer=tokenizer, passes=passes, other=other, run=bind(job, tokenizer))
    if job.task in DECODING:
        assert expected is not None, "there is nothing to decode"
        ids = read_ids(Path(expected.ids_file))
        work.fresh = lambda _: [list(some) for some in ids]
    elif job.state == "same-object":
        kept = strings(passes[0])
        work.fresh = lambda _: kept
    elif job.state == "warm-between":

        def after_other_text(texts: list[bytes]) -> Inputs:
            work.run(strings(other))
            return strings(texts)

        work.fresh = after_other_text
    return work


def bind(job: Job, tokenizer: Tokenizer) -> Pass:
    """Return one pass of a job as a function of its inputs; not for `load` and `train`."""
    if job.task in DECODING:
        decode = tokenizer.decode if job.task == "decode" else streaming(tokenizer)
        return lambda inputs: [decode(ids) for ids in inputs]
    if job.task == "truncate":
        truncate = truncating(tokenizer, job.limit_tokens)
        return lambda inputs: [truncate(text) for text in inputs]
    if job.task == "count":
        count = tokenizer.count
        return lambda inputs: [count(text) for text in inputs]
    if job.task in BATCHES:
        batch: Callable[..., Any] = tokenizer.encode_batch if job.task == "encode-batch" else tokenizer.encode_ragged
        threads = job.threads
        return lambda inputs: batch(inputs, threads, disallowed_special=())
    encode: Callable[..., Any] = tokenizer.encode_array if job.task in ARRAYS else tokenizer.encode
    return lambda inputs: [encode(text, disallowed_special=()) for text in inputs]
