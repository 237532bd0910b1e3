"""The record schema: raw samples and verdicts on one implementation, nothing derived (for pairs see `comparisons`).

Texts are stored as base64 of UTF-8 with surrogatepass, together with a readable escape.
"""

from __future__ import annotations

import base64
from typing import Literal

import msgspec

from harness.outcome import Outcome
from impls.interface import Ties

Status = Outcome
Remembered = Literal["", "process", "machine", "unknown"]
"""Whether an implementation caches whole texts: not as far as found (or not tested, in older records), within one
process, from one process to the next, or unknown."""


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
    """Ids of the reference (`reference` names it), or None if the text did not round-trip."""
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
    """Expected round trip of the model: exact, normalising (a normal form is restored) or lossy; empty if unknown."""

    def __post_init__(self) -> None:
        if self.status == "ok" and self.check != "load" and not self.n_texts:
            raise ValueError(f"a verdict on {self.implementation} that rests on no text")


class Measurement(Record, tag="measurement"):
    """One implementation on one workload in one round: raw samples."""

    workload: str
    implementation: str
    task: str
    model: str
    """Name of the model; for `train`, of the specification, such as gpt2-4000."""
    corpus: str
    status: Status
    reason: str = ""
    exact: bool = True
    """False if the implementation declares that its ids differ; it is then shown but not ranked among exact ones."""
    round_trip: str = ""
    """The round trip expected of the model, as in `Verdict`."""
    copy: int = 0
    """1 for the second process of the implementation that is run twice to measure the noise floor (A/A)."""
    state: str = "warm-same"
    """What the process had read before: warm-same, warm-between, warm-other, same-object, cold, sustained,
    second-call or after-pause."""
    round: int = 0
    order: int = 0
    """Position at which this workload ran within its process."""
    n_texts: int = 0
    """Texts of one pass; 0 for `load`."""
    n_bytes: int = 0
    """Bytes of one pass: the whole workload, or the slice an implementation can process in reasonable time. For `load`,
    the size of the model's file."""
    full_bytes: int = 0
    """Bytes of the whole workload; 0 if the implementation could not even be built for it."""
    n_tokens: int = 0
    """Tokens of one pass; merges for `train`, 0 for `decode`, `decode-stream` and `truncate`."""
    digest: str = ""
    """SHA-256 of the ids (for each text their number, then the ids, as little-endian uint32); of the counts for
    `count`, the texts for `decode`, `decode-stream` and `truncate`, the merges and tokens for `train`."""
    reference: str = ""
    """The implementation whose answer the digest was compared with; empty if only the round trip could be verified."""
    loops: int = 1
    """Passes per sample."""
    samples_seconds: list[float] = msgspec.field(default_factory=list)
    """One figure per sample: seconds for `loops` passes over `n_bytes`."""
    parts_seconds: dict[str, list[float]] = msgspec.field(default_factory=dict)
    """Seconds by part: for `load` import (not in the sample), model, build and first id; for `train` from a file
    import; for `after-pause` the calls after each kind of pause."""
    samples_wanted: int = 0
    """Number of samples planned, for `sustained`; there are fewer samples if the time ran out."""
    page_faults: list[int] = msgspec.field(default_factory=list)
    """Page faults served from memory during each sample, for `sustained`, `second-call` and `after-pause`."""
    system_seconds: list[float] = msgspec.field(default_factory=list)
    """System time in seconds during each sample, for the same states."""
    resident_bytes: list[int] = msgspec.field(default_factory=list)
    """Resident memory after each sample of `sustained`, relative to the same baseline as `peak_memory_bytes`."""
    call_times: list[tuple[int, int]] = msgspec.field(default_factory=list)
    """Number of calls of `sustained` by duration: (b, n) says that n calls took 1.02^b to 1.02^(b+1) nanoseconds."""
    limit_seconds: float | None = None
    """Time limit of a pass of `scale`; a timeout took at least as long."""
    peak_memory_bytes: int | None = None
    """Highest resident memory of the worker, minus its memory after importing the implementation and reading the
    neutral form of the model."""
    threads: int = 1
    pinned: bool = False
    """Whether the process was bound to a single core."""
    n_calls: int = 1
    """Calls of the implementation in one pass."""
    remembered: Remembered = ""
    """Whether these samples may come from a cache of whole texts: a `TextMemory` found one in the implementation, and
    this workload gives it a text more than once."""
    counterexample: Counterexample | None = None


class TextMemory(Record, tag="text-memory"):
    """A test for caches of whole texts: times of calls on texts given before, and on new texts of the same pieces."""

    implementation: str
    model: str
    task: str
    state: str = "warm-same"
    """same-object if known texts were passed as the very same objects."""
    earlier: bool = False
    """Whether the texts were given to an earlier process, which had ended."""
    status: Status = Outcome.RIGHT
    reason: str = ""
    seed: int = 0
    """Seed of the order of the words."""
    n_bytes: int = 0
    """Bytes of one call."""
    met_seconds: list[float] = msgspec.field(default_factory=list)
    """One figure per pair: the call on a text given before."""
    new_seconds: list[float] = msgspec.field(default_factory=list)
    """One figure per pair: the call on a new text."""
    remembers: bool = False
    """The conclusion from both, by the rule of `measure.jobs.recall`."""


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
    status: Status = Outcome.RIGHT
    reason: str = ""
    round_trip: str = ""
    """The round trip expected of the model, as in `Verdict`."""


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
    """The tie rule of its training."""
    merge_counts: list[int] = msgspec.field(default_factory=list)
    first_tokens: list[Text] = msgspec.field(default_factory=list)
