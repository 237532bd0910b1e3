"""The record schema: raw samples and verdicts, nothing derived.

Texts are stored as base64 of UTF-8 with surrogatepass, beside a readable escape.
"""

from __future__ import annotations

import base64
from typing import Any, Literal

import msgspec

from impls.interface import Ties

Status = Literal["ok", "mismatch", "unverified", "unsupported", "missing", "timeout", "out-of-memory", "crash", "panic"]
AgreementClass = Literal["provably equal", "equal under conditions", "expected to differ"]
Difference = Literal["fault", "unicode version", "expected to differ", "failure", "not repeatable"]
"""What a difference in ids is: the sides owe agreement; they know other characters; they need not agree; one of them
does not encode the text; it was seen once and not again."""


Remembered = Literal["", "process", "machine", "unknown"]
"""Whether texts met before are answered from memory: nothing found (or not looked for, in older records), within one
process, from one process to the next, or it could not be found out."""


class Text(msgspec.Struct, frozen=True):
    """An arbitrary text: base64 of its UTF-8 (surrogatepass), and a readable ASCII escape."""

    base64: str
    escaped: str

    @classmethod
    def of(cls, text: str) -> Text:
        """Wrap `text`."""
        return cls(base64.b64encode(text.encode("utf-8", "surrogatepass")).decode(), ascii(text)[1:-1])

    @property
    def text(self) -> str:
        """Return the text itself."""
        return base64.b64decode(self.base64).decode("utf-8", "surrogatepass")


class Counterexample(msgspec.Struct, frozen=True):
    """The smallest text found on which two answers differ."""

    text: Text
    expected: list[int] | None
    """Ids of the reference (`reference` names it), or None where the text itself did not come back."""
    got: list[int] | None
    reference: str = ""
    note: str = ""


class Record(msgspec.Struct, tag_field="kind", kw_only=True, omit_defaults=True):
    """Base of every line."""


class Verdict(Record, tag="verdict"):
    """The round trip of one implementation on one model and corpus."""

    implementation: str
    model: str
    corpus: str
    check: Literal["round-trip", "load", "train"]
    """`train`: whether it learned anything; `model` then names the rule."""
    status: Status
    reason: str = ""
    n_texts: int = 0
    n_bytes: int = 0
    counterexample: Counterexample | None = None
    round_trip: str = ""
    """What the model lets one expect: exact, normalising (a normal form comes back) or lossy; empty where it is not
    known."""

    def __post_init__(self) -> None:
        if self.status == "ok" and self.check != "load" and not self.n_texts:
            raise ValueError(f"a verdict on {self.implementation} that rests on no text")


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


class Measurement(Record, tag="measurement"):
    """One implementation on one workload in one round: raw samples."""

    workload: str
    implementation: str
    task: str
    model: str
    corpus: str
    status: Status
    reason: str = ""
    exact: bool = True
    """False where the implementation declares that its ids differ: shown, never ranked among the exact."""
    round_trip: str = ""
    """What the model lets one expect of its texts, as in `Verdict`."""
    copy: int = 0
    """1 for the second process of the implementation that is run twice to measure the noise floor (A/A)."""
    state: str = "warm-same"
    """What the process had read before: warm-same, warm-between, warm-other, same-object, cold, sustained,
    second-call or after-pause."""
    round: int = 0
    order: int = 0
    """Position at which this workload ran within its process."""
    n_texts: int = 0
    n_bytes: int = 0
    """Bytes of one pass: the whole workload, or the slice an implementation can process in reasonable time. For `load`
    the size of the model's file."""
    full_bytes: int = 0
    """Bytes of the whole workload; 0 where the implementation could not even be built for it."""
    n_tokens: int = 0
    digest: str = ""
    """SHA-256 of the ids (little-endian uint32, texts separated by their counts), or of the merges for `train`."""
    reference: str = ""
    """Whose answer the digest was compared with; empty where only the round trip could be verified."""
    loops: int = 1
    """Passes per sample."""
    samples_seconds: list[float] = msgspec.field(default_factory=list)
    """One figure per sample: seconds for `loops` passes over `n_bytes`."""
    parts_seconds: dict[str, list[float]] = msgspec.field(default_factory=dict)
    """Time of a sample by part, for tasks with parts (`load`)."""
    samples_wanted: int = 0
    """Number of samples planned, for `sustained`; there are fewer where the time ran out."""
    page_faults: list[int] = msgspec.field(default_factory=list)
    """Page faults served from memory during each sample, for `sustained`, `second-call` and `after-pause`."""
    system_seconds: list[float] = msgspec.field(default_factory=list)
    """Seconds in the system during each sample, for the same."""
    resident_bytes: list[int] = msgspec.field(default_factory=list)
    """Resident memory after each sample of `sustained`, beyond what `peak_memory_bytes` is counted from."""
    call_times: list[tuple[int, int]] = msgspec.field(default_factory=list)
    """Calls of `sustained` by how long they took: (b, n) says that n took 1.02^b to 1.02^(b+1) nanoseconds."""
    limit_seconds: float | None = None
    """Time limit of a pass of `scale`; a timeout took at least as long."""
    peak_memory_bytes: int | None = None
    """Highest resident memory of the worker beyond what it held once the implementation was imported and the
    neutral form of the model read."""
    threads: int = 1
    pinned: bool = False
    n_calls: int = 1
    """Calls of the implementation in one pass."""
    remembered: Remembered = ""
    """Whether these samples may be answers from memory: a `TextMemory` found that the implementation remembers whole
    texts, and this workload gives it a text more than once."""
    counterexample: Counterexample | None = None


class TextMemory(Record, tag="text-memory"):
    """A test for memory of whole texts: times of calls on texts given before, and on new ones of the same pieces."""

    implementation: str
    model: str
    task: str
    state: str = "warm-same"
    """same-object where known texts were passed as the very same objects."""
    earlier: bool = False
    """Whether the texts were given to an earlier process, which had ended."""
    status: Status = "ok"
    reason: str = ""
    seed: int = 0
    """Seed of the order of the words."""
    n_bytes: int = 0
    """Of one call."""
    met_seconds: list[float] = msgspec.field(default_factory=list)
    """One figure per pair: the call on a text given before."""
    new_seconds: list[float] = msgspec.field(default_factory=list)
    """One figure per pair: the call on a new text."""
    remembers: bool = False
    """The conclusion from both, by the rule of `measure.recall`."""


class Compression(Record, tag="compression"):
    """The number of tokens of a text under a model."""

    model: str
    corpus: str
    implementation: str
    n_texts: int
    n_bytes: int
    n_characters: int
    n_words: int
    """Runs of characters that are not white space."""
    n_tokens: int
    vocab_size: int
    status: Status = "ok"
    reason: str = ""
    round_trip: str = ""
    """What the model lets one expect of its texts, as in `Verdict`."""


class Trained(Record, tag="trained"):
    """A vocabulary learned in this run, and the first tokens it learned."""

    model: str
    implementation: str
    corpus: str
    vocab_size: int
    n_merges: int
    n_bytes: int
    seconds: float
    digest: str
    ties: Ties = "smallest"
    """The tie rule it was learned by."""
    merge_counts: list[int] = msgspec.field(default_factory=list)
    first_tokens: list[Text] = msgspec.field(default_factory=list)


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


AnyRecord = (
    Verdict
    | Agreement
    | NotCompared
    | Measurement
    | TextMemory
    | Compression
    | Trained
    | TrainerAgreement
    | Disagreement
)
