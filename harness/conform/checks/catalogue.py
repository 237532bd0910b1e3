"""The catalogue of checks, in the order they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.conform.case import Case
from harness.conform.checks import (
    bad_input,
    batches,
    decoding,
    determinism,
    encoding,
    incremental,
    offsets,
    order,
    resources,
    specials,
    truncation,
    volume,
)


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its question, and the function that answers it."""

    name: str
    question: str
    run: Callable[[Case], str | None]
    """Count the judged inputs in `Case.n_inputs` and return a remark or nothing; raise `Fault`, `NotAsked` or `GaveUp`
    unless all are right."""
    needs: tuple[str, ...] = ()
    """Operations beyond encode and decode that the check requires; of those joined by | one is enough."""
    not_offered: str = ""
    """The reason given if they are missing, when their names do not say enough."""


CHECKS = (
    Check("python-values", "plain ints, in lists of the caller's own?", encoding.python_values,
          ("python_values",), "types are only tested on a Python object"),
    Check("ids", "the ids of the reference?", encoding.ids),
    Check("round-trip", "does every text come back from its ids?", encoding.round_trip),
    Check("bytes", "do decoded bytes equal the text's UTF-8?", encoding.bytes_come_back, ("decode_bytes",)),
    Check("concatenation", "is a text its pieces, one after the other?", encoding.concatenation),
    Check("coverage", "does every character of Unicode survive?", encoding.coverage),
    Check("long-texts", "and past 100 bytes, 64 K and 1 MB?", encoding.long_texts),
    Check("sizes", "and at every size, powers of two and one more or less?", volume.sizes),
    Check("decode-every-id", "does every id decode to its token?", decoding.every_id),
    Check("decode-any-order", "and in any order, cut anywhere?", order.any_order),
    Check("re-encode", "does every token encode to itself?", decoding.re_encode),
    Check("offsets", "is every token where offsets say?", offsets.offsets,
          ("decode_with_offsets|encode_with_offsets",), "it has no decode_with_offsets and no encode_with_offsets"),
    Check("streaming-decode", "is each character of a stream there in time?", decoding.streaming,
          ("decode_stream",), "it has no decoder"),
    Check("incremental", "are ids right as a text grows and is edited?", incremental.incremental,
          ("incremental",), "it has no incremental"),
    Check("special-tokens", "is special text special only when allowed?", specials.special_tokens),
    Check("batch", "is a batch its texts one by one?", batches.batch, ("encode_batch",)),
    Check("array", "is the array the list?", batches.array, ("encode_array",)),
    Check("count", "does count say how many ids?", batches.count, ("count",)),
    Check("truncate", "is a text cut to the longest part that fits?", truncation.truncation,
          ("truncate|fits|at_most",), "it has no truncate, no fits and no count up to a limit"),
    Check("threads", "are the ids the same on many threads?", batches.threads,
          ("encode_threads",), "threads are only tested on a Python object"),
    Check("repeated", "the same ids again, in another order?", determinism.repeated),
    Check("many-pieces", "and after 70,000 other pieces?", determinism.many_pieces),
    Check("many-texts", "and on a million short texts, each once?", volume.many_texts),
    Check("processes", "and in another process, under another hash seed?", determinism.processes),
    Check("save-load", "the same ids after saving and loading?", determinism.save_load, ("save", "load")),
    Check("bad-input", "is bad input refused, and harmless?", bad_input.bad_input),
    Check("growth", "does time grow in line with the text?", resources.growth),
    Check("memory", "does memory stay in proportion?", resources.memory),
)  # fmt: skip
