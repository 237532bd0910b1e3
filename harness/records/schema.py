"""The record schema: raw samples and verdicts on one implementation, nothing derived (for pairs see `comparisons`).

Texts are stored as base64 of UTF-8 with surrogatepass, together with a readable escape.
"""

from __future__ import annotations

import base64
from typing import Literal

import msgspec

from harness.outcome import Outcome
from impls.interface import Ties


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
    check: Literal["round-trip", "load"]
    status: Outcome
    reason: str = ""
    n_texts: int = 0
    n_bytes: int = 0
    counterexample: Counterexample | None = None
    round_trip: str = ""
    """Expected round trip of the model: exact, normalising (a normal form is restored) or lossy; empty if unknown."""

    def __post_init__(self) -> None:
        if self.status == Outcome.RIGHT and self.check != "load" and not self.n_texts:
            raise ValueError(f"a verdict on {self.implementation} that rests on no text")


Clock = Literal["wall", "processor"]


class Pass(msgspec.Struct, frozen=True, array_like=True):
    """One timed pass: the documents of a round, or the first of them.

    Two implementations are compared at the largest number of calls that both have in `calls`.
    """

    round: int
    lost: bool
    """Whether it lost the processor; then another round was added."""
    n_bytes: int
    calls: list[int]
    """Numbers of calls at which the clocks were read, ascending; the last is the whole pass."""
    wall_seconds: list[float]
    """Seconds since the beginning of the pass, at each of these."""
    cpu_seconds: list[float]
    """Processor time of the process since then, all its threads together."""

    def seconds(self, clock: Clock = "wall", place: int = -1) -> float:
        """Return the seconds of the pass by one clock, or up to the number of calls at `place`."""
        return (self.wall_seconds if clock == "wall" else self.cpu_seconds)[place]


class Measurement(Record, tag="measurement"):
    """One implementation on one workload in one opening of its process: raw passes, every answer judged."""

    workload: str
    implementation: str
    task: str
    model: str
    """Name of the model; for `train`, of the specification, such as gpt2-4000."""
    corpus: str
    outcome: Outcome
    reason: str = ""
    exact: bool = True
    """False if the implementation declares that its ids differ; it is then shown but not ranked among exact ones."""
    round_trip: str = ""
    """The round trip expected of the model, as in `Verdict`."""
    copy: int = 0
    """1 for the second process of an implementation that runs along twice: their ratio is the noise floor."""
    state: str = "new text"
    """new text: the process had read other text of the corpus; cold: the first text of the process."""
    opening: int = 0
    passes: list[Pass] = msgspec.field(default_factory=list)
    n_calls: int = 0
    """Calls of a pass of this implementation."""
    n_tokens: int = 0
    """Ids of all passes together; merges for `train`."""
    warm_up_bytes: int = 0
    """Bytes of other text of the corpus read before the first pass."""
    reference: str = ""
    """The implementation whose ids these were compared with; empty if only the round trip could be verified."""
    call_times: list[tuple[int, int]] = msgspec.field(default_factory=list)
    """Calls by duration, for documents one by one: (b, n) says that n took 1.02^b to 1.02^(b+1) nanoseconds."""
    limit_seconds: float | None = None
    """Time limit of a pass of `run --scale`; a timeout took at least as long."""
    peak_memory_bytes: int | None = None
    """Highest resident memory beyond what the process held after importing the implementation and reading the neutral
    form of the model; for `load`, `train` and the state cold, where it has done nothing else."""
    threads: int = 1
    counterexample: Counterexample | None = None


class Compression(Record, tag="compression"):
    """The number of tokens of a text under a model."""

    model: str
    corpus: str
    implementation: str = ""
    n_texts: int = 0
    n_bytes: int = 0
    n_characters: int = 0
    n_words: int = 0
    """Runs of characters that are not white space."""
    n_tokens: int = 0
    vocab_size: int = 0
    status: Outcome = Outcome.RIGHT
    reason: str = ""
    round_trip: str = ""
    """The round trip expected of the model, as in `Verdict`."""


class Trained(Record, tag="trained"):
    """A vocabulary learned in this run."""

    model: str
    implementation: str
    corpus: str
    vocab_size: int
    n_merges: int
    n_bytes: int
    seconds: float
    ties: Ties = "smallest"
    """The tie rule of its training."""
