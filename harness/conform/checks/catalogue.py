"""The catalogue of checks, in the order they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.conform.case import Case
from harness.conform.checks import bad_input, batches, cost, decoding, derived, encoding, incremental, specials, state


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its question, and the function that answers it."""

    name: str
    question: str
    run: Callable[[Case], None]
    """Count the judged inputs in `Case.n_inputs` and note in `Case.remarks` what is not judged; raise `Fault`,
    `NotAsked`, `Incomplete` or `GaveUp` unless all are right."""
    needs: str = ""
    """The operation beyond encode and decode that the check requires; of those joined by | one is enough."""
    not_offered: str = ""
    """The reason given if they are missing, when their names do not say enough."""


CHECKS = (
    Check("python-values", "plain ints, in lists that are not shared?", encoding.python_values,
          "python_values", "types are only tested on a Python object"),
    Check("ids", "are the ids those of the reference?", encoding.ids),
    Check("round-trip", "do the ids of every text decode to it?", encoding.round_trip),
    Check("code-points", "every code point, at every place in a text?", encoding.code_points),
    Check("transitions", "every transition of the pattern?", encoding.transitions),
    Check("tokens", "every token, encoded, decoded, between its neighbours?", decoding.tokens),
    Check("lengths", "pieces and texts of every length to a megabyte?", encoding.lengths),
    Check("spellings", "every spelling, in short and long texts?", encoding.spellings),
    Check("decode-any-order", "are ids decoded in any order, cut anywhere?", decoding.any_order),
    Check("offsets", "is every token where offsets say?", derived.offsets, "decode_with_offsets|encode_with_offsets"),
    Check("streaming-decode", "does a stream give each character as soon as it is certain?", derived.streaming,
          "decode_stream", "it has no decoder"),
    Check("incremental", "are ids right as a text grows and is edited?", incremental.incremental, "incremental"),
    Check("special-tokens", "is special text special only when allowed?", specials.special_tokens),
    Check("batch", "is a batch its texts one by one?", batches.batch, "encode_batch"),
    Check("truncate", "is a text cut to the longest part that fits?", derived.truncation, "truncate|fits|at_most"),
    Check("threads", "are the ids the same on many threads?", state.threads,
          "digests", "threads are only tested on a Python object"),
    Check("state", "the same after other texts, errors, a million pieces, in a child?", state.state),
    Check("bad-input", "is bad input refused, and harmless?", bad_input.bad_input),
    Check("cost", "does time grow no faster than n log n?", cost.cost),
    Check("memory", "does memory stay in proportion?", cost.memory),
)  # fmt: skip
