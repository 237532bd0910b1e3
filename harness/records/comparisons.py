"""The records of what two implementations, trainers or releases answer: where they agree, and where not."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.records.schema import Counterexample, Record, Text

AgreementClass = Literal["provably equal", "equal under conditions", "expected to differ"]
Difference = Literal["fault", "unicode version", "expected to differ", "failure", "not repeatable"]
"""What a difference in ids is: the sides owe agreement; they know other characters; they need not agree; one of them
does not encode the text; it was seen once and not again."""


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
    differing_piece_share: float | None = None
    """Share of pieces, weighted by occurrence, whose ids differ; for pairs expected to differ."""
    counterexample: Counterexample | None = None

    def __post_init__(self) -> None:
        if self.n_texts < 1:
            raise ValueError(f"{self.a} and {self.b} have no text in common: they are not compared")


class NotCompared(Record, tag="not-compared"):
    """Two implementations, or two trainers, that were to be compared and could not be."""

    a: str
    b: str
    model: str
    """Of trainers the rule."""
    corpus: str
    reason: str
    agreement_class: AgreementClass | None = None
    """The agreement they owe each other, where both have run."""
    conditions: str = ""


class MergeChoice(msgspec.Struct, frozen=True):
    """A pair a trainer merged, and how often it occurred in the corpus as that trainer saw it."""

    left: Text
    right: Text
    count: int | None = None


class FirstDifference(msgspec.Struct, frozen=True):
    """Where two lists of merges first differ: one merge of each, or None for a list that ended before."""

    step: int
    """Counted from 1."""
    a: MergeChoice | None
    b: MergeChoice | None
    is_tie: bool = False
    """Whether both pairs were equally frequent, so that the tie rule decided."""


class TrainerAgreement(Record, tag="trainer-agreement"):
    """Whether two trainers learn the same merges from one corpus, each by a declared rule, and the effect if not."""

    a: str
    b: str
    rule_a: str
    rule_b: str
    corpus: str
    max_merges: int
    agreement_class: AgreementClass
    conditions: str = ""
    """How the rules differ."""
    fault: str = ""
    """Why this is a fault; empty where it is none."""
    n_bytes: int = 0
    """Bytes of the text both learned from."""
    n_merges_a: int = 0
    n_merges_b: int = 0
    first_difference: FirstDifference | None = None
    n_only_a: int = 0
    """Number of tokens learned by only one of the two."""
    n_only_b: int = 0
    only_a: list[Text] = msgspec.field(default_factory=list)
    """The first few of them, in the order they were learned."""
    only_b: list[Text] = msgspec.field(default_factory=list)
    n_tokens_a: int = 0
    """Tokens of the counted text under each one's vocabulary."""
    n_tokens_b: int = 0
    n_counted_bytes: int = 0
    counted_on: Literal["held-out", "training"] = "held-out"
    """The text that was counted: held out from training or, where the corpus is too small for that, the same."""

    def __post_init__(self) -> None:
        if not (self.n_merges_a or self.n_merges_b):
            raise ValueError(f"{self.a} and {self.b} have learned nothing: they are not compared")


class Disagreement(Record, tag="disagreement", kw_only=True):
    """A text that two sides encode differently, minimised, with everything needed to ask them again."""

    a: str
    b: str
    model: str
    """Name of a published vocabulary, or empty where `own_model` holds the model."""
    own_model: dict[str, Any] | None = None
    """The model in the suite's own JSON form, minimised."""
    counterexample: Counterexample
    """`expected` are the ids of `a`, `got` those of `b`; None where that side fails. Of `decode`: the ids given."""
    failures: dict[str, str] = msgspec.field(default_factory=dict)
    """Side -> what it raised, or how it ended."""
    call: Literal["encode", "encode_batch", "encode_array", "encode_threads", "decode"] = "encode"
    allow_special: bool = False
    """Whether special tokens were recognised, or read as text."""
    difference: Difference
    stage: str = ""
    """The first stage in which the sides differ, by `explain`; empty where that cannot be determined."""
    agreement_class: AgreementClass
    conditions: str = ""
    shape: str = ""
    """The text as classes of characters; with the fields above it identifies a difference."""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    """Package -> version it was found with."""
    found: str = ""
    """Seed and number of the text in which it was found."""
    holds: Literal["differs", "agrees"] = "differs"
    """What a replay must find; `agrees` for a fault that has been fixed."""
