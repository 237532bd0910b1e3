"""Every check by name, in the order they run."""

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
    order,
    resources,
    saving,
    sizes,
    specials,
    values,
    volume,
)
from harness.conform.verdicts import CheckVerdict


@dataclass(frozen=True, slots=True)
class Check:
    """One question and the function that answers it."""

    name: str
    question: str
    run: Callable[[Case], CheckVerdict]


CHECKS = (
    Check("python-values", "plain ints, in lists of the caller's own?", values.python_values),
    Check("ids", "the ids of the reference?", encoding.ids),
    Check("round-trip", "does every text come back from its ids?", encoding.round_trip),
    Check("bytes", "do decoded bytes equal the text's UTF-8?", encoding.bytes_come_back),
    Check("concatenation", "is a text its pieces, one after the other?", encoding.concatenation),
    Check("coverage", "does every character of Unicode survive?", encoding.coverage),
    Check("long-texts", "and past 100 bytes, 64 K and 1 MB?", encoding.long_texts),
    Check("sizes", "and at every size, powers of two and one more or less?", sizes.sizes),
    Check("decode-every-id", "does every id decode to its token?", decoding.every_id),
    Check("decode-any-order", "and in any order, cut anywhere?", order.any_order),
    Check("re-encode", "does every token encode to itself?", decoding.re_encode),
    Check("offsets", "does every token start where its text does?", decoding.offsets),
    Check("special-tokens", "is special text special only when allowed?", specials.special_tokens),
    Check("batch", "is a batch its texts one by one?", batches.batch),
    Check("array", "is the array the list?", batches.array),
    Check("count", "does count say how many ids?", batches.count),
    Check("threads", "are the ids the same on many threads?", batches.threads),
    Check("repeated", "the same ids again, in another order?", determinism.repeated),
    Check("many-pieces", "and after 70,000 other pieces?", determinism.many_pieces),
    Check("many-texts", "and on a million short texts, each once?", volume.many_texts),
    Check("processes", "and in another process, under another hash seed?", determinism.processes),
    Check("save-load", "the same ids after saving and loading?", saving.save_load),
    Check("bad-input", "is bad input refused, and harmless?", bad_input.bad_input),
    Check("growth", "does time grow in line with the text?", resources.growth),
    Check("memory", "does memory stay in proportion?", resources.memory),
)
