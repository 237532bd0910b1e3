"""Records of comparisons between two implementations: where they agree, and where not."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.records.schema import Counterexample, Record

AgreementClass = Literal["provably equal", "equal under conditions", "expected to differ"]
Call = Literal["encode", "encode_batch", "encode_array", "encode_threads", "decode"]
Difference = Literal["fault", "unicode version", "expected to differ", "failure", "not repeatable"]
"""Why ids differ: although the sides must agree; because they know different characters; as expected; because one of
them does not encode the text; or once only, not when repeated."""


class Agreement(Record, tag="agreement"):
    """Whether the ids of two implementations agree on one model and corpus.

    Raise `ValueError` without a text that both encoded: such a pair is `NotCompared`.
    """

    a: str
    b: str
    model: str
    corpus: str
    agreement_class: AgreementClass
    n_texts: int
    """Number of texts both encoded."""
    conditions: str = ""
    n_bytes: int = 0
    n_differing_texts: int = 0
    counterexample: Counterexample | None = None

    def __post_init__(self) -> None:
        if self.n_texts < 1:
            raise ValueError(f"{self.a} and {self.b} have no text in common: they are not compared")


class NotCompared(Record, tag="not-compared"):
    """Two implementations that could not be compared."""

    a: str
    b: str
    model: str
    corpus: str
    reason: str
    agreement_class: AgreementClass | None = None
    """The agreement class of the pair; None if one cannot run the model or is missing."""
    conditions: str = ""


class Disagreement(Record, tag="disagreement", kw_only=True):
    """A text that two sides encode differently, minimised, with everything needed to reproduce it."""

    a: str
    b: str
    model: str
    """Name of a published vocabulary, or empty if `own_model` holds the model."""
    own_model: dict[str, Any] | None = None
    """The model in the suite's own JSON form, minimised."""
    counterexample: Counterexample
    """`expected` are the ids of `a`, `got` those of `b`, None for a side that fails. For `decode`: the given ids."""
    failures: dict[str, str] = msgspec.field(default_factory=dict)
    """Side -> the exception it raised, or how its process ended; what `decode` gave."""
    call: Call = "encode"
    allow_special: bool = False
    """Whether special tokens were recognised rather than read as text."""
    difference: Difference
    stage: str = ""
    """The first stage in which the sides differ, found by `explain`; empty if unknown."""
    agreement_class: AgreementClass
    conditions: str = ""
    shape: str = ""
    """The text as classes of characters; together with the fields above it identifies a kind of difference."""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    """Package -> version it was found with."""
    found: str = ""
    """Seed and number of the text that showed it."""
    holds: Literal["differs", "agrees"] = "differs"
    """The expected result of a replay; `agrees` for a fault that has been fixed."""
