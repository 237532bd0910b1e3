"""The messages between parent and worker: one JSON object per line over the worker's pipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.measure.workloads import State, Task, reads_file
from harness.process.protocol import Protocol
from harness.records import Counterexample, Status

FIRST_TEXT = "hello world"
"""The text `load` encodes to get its first id."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A workload as a worker sees it: files written by the parent instead of names."""

    task: Task
    state: State
    texts: str = ""
    """File of texts (`texts.write_texts`), or the file to train from."""
    n_bytes: int = 0
    """How much of the texts to take; 0: all."""
    threads: int = 1
    training: Mapping[str, Any] = {}
    document_bytes: int = 4096
    """Size of the documents read before a long text."""
    limit_tokens: int = 1000
    """For `truncate`."""
    model_file: str = ""
    """Model in the suite's own format, for the task `load`."""

    @property
    def reads_file(self) -> bool:
        """As `Workload.reads_file`: TEXTS names a plain text file."""
        return reads_file(self.task, self.state)


class Expected(msgspec.Struct, frozen=True, kw_only=True, tag="expected"):
    """What the reference answered; `ids_file` holds the ids themselves (`answers.write_ids`)."""

    digest: str
    n_tokens: int
    reference: str
    ids_file: str = ""
    parts: list[str] = []
    """Digests of the parts of a `sustained` text."""


class Open(msgspec.Struct, frozen=True, kw_only=True, tag="open"):
    """Import an implementation and, where `model` names a file, build it on that model."""

    implementation: str
    model: str = ""
    """Pickled `Model`; empty: import only."""
    cores: tuple[int, ...] = ()
    """Pin the process to these cores; empty: leave it where its parent is."""


class Size(msgspec.Struct, frozen=True, kw_only=True, tag="size"):
    """Find how much of the texts fits one pass of `budget_seconds`."""

    job: Job
    budget_seconds: float
    expected: Expected | None = None
    """Its ids are decoded, for `DECODING`."""


class AskReference(msgspec.Struct, frozen=True, kw_only=True, tag="ask-reference"):
    """Answer the job as the reference, and write the ids to `ids_file`."""

    job: Job
    ids_file: str


class Measure(msgspec.Struct, frozen=True, kw_only=True, tag="measure"):
    """Verify the job, then time it."""

    job: Job
    expected: Expected | None
    n_samples: int
    sample_seconds: float
    most_seconds: float = 60.0
    """Limit on verification and all samples together, except that one sample is always taken."""


class MeasureMemory(msgspec.Struct, frozen=True, kw_only=True, tag="measure-memory"):
    """Measure the peak memory of one pass of the job."""

    job: Job
    expected: Expected | None = None
    """Its ids are decoded, for `DECODING`."""


class Recall(msgspec.Struct, frozen=True, kw_only=True, tag="recall"):
    """Time calls on texts given before, and on new texts of the same pieces."""

    job: Job
    """Its texts give the words."""
    most_bytes: int
    """Upper limit on the bytes of one pass."""
    text_bytes: int
    """Size of each text; 0: a pass is one text."""
    budget_seconds: float
    """Time to make a text and have it encoded."""
    seed: int
    earlier: bool = False
    """Whether the texts to ask for were given to an earlier process instead of this one."""


class Shrink(msgspec.Struct, frozen=True, kw_only=True, tag="shrink"):
    """Look for the smallest text on which the opened implementation differs from `reference`."""

    texts: tuple[bytes, ...]
    """Candidates, the smallest first; UTF-8 with surrogatepass."""
    reference: str
    seconds: float


class Probe(msgspec.Struct, frozen=True, kw_only=True, tag="probe"):
    """Find the Unicode version of each of these splitting engines."""

    implementations: tuple[str, ...]


Request = Open | Size | AskReference | Measure | MeasureMemory | Recall | Shrink | Probe


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag="opened"):
    """The implementation is imported and, where a model was given, built."""

    exact: bool
    pinned: bool


class Sized(msgspec.Struct, frozen=True, kw_only=True, tag="sized"):
    """A pass over `n_bytes` of the `full_bytes` fits the time."""

    n_bytes: int
    full_bytes: int


class Measured(msgspec.Struct, frozen=True, kw_only=True, tag="measured"):
    """The samples of a job whose answers were verified."""

    samples_seconds: list[float]
    loops: int
    n_texts: int
    n_bytes: int
    n_tokens: int
    n_calls: int
    digest: str
    peak_memory_bytes: int | None
    parts_seconds: dict[str, list[float]] = {}
    samples_wanted: int = 0
    page_faults: list[int] = []
    system_seconds: list[float] = []
    resident_bytes: list[int] = []
    call_times: list[tuple[int, int]] = []


class MemoryMeasured(msgspec.Struct, frozen=True, kw_only=True, tag="memory-measured"):
    """Peak resident memory of this process, beyond what it held before it built the tokenizer."""

    peak_memory_bytes: int | None


class Recalled(msgspec.Struct, frozen=True, kw_only=True, tag="recalled"):
    """Seconds of calls on texts given before, and on new ones, pair by pair."""

    n_bytes: int
    """Of one call."""
    met_seconds: list[float]
    new_seconds: list[float]


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """A verdict instead of an answer."""

    status: Status
    reason: str
    counterexample: Counterexample | None = None
    candidates: tuple[bytes, ...] = ()
    """Texts around the first difference, smallest first, for `Shrink`."""


class Shrunk(msgspec.Struct, frozen=True, kw_only=True, tag="shrunk"):
    """The smallest differing text found, or None where none of the candidates differs in this process."""

    counterexample: Counterexample | None


class Probed(msgspec.Struct, frozen=True, kw_only=True, tag="probed"):
    """Unicode version by engine; None where it cannot be determined."""

    versions: dict[str, str | None]


Reply = Opened | Sized | Expected | Measured | MemoryMeasured | Recalled | Failed | Shrunk | Probed

PROTOCOL = Protocol[Request, Reply](Request, Reply)
