"""What parent and worker say to each other: one JSON object a line over the worker's pipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.measure.workloads import State, Task
from harness.records import Counterexample, Status


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A workload as a worker sees it: files of the parent's instead of names."""

    task: Task
    state: State
    texts: str = ""
    """File of texts (`texts.write_texts`)."""
    n_bytes: int = 0
    """How much of them to take; 0: all."""
    threads: int = 1
    training: Mapping[str, Any] = {}
    document_bytes: int = 4096
    """Of the documents read before a long text."""
    model_file: str = ""
    """Model in the suite's own format, for the task `load`."""


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

    implementations: tuple[str, ...]
    """The first that can run the model is taken (several only for the reference)."""
    model: str = ""
    """Pickled `Model`; empty: import only."""
    cores: tuple[int, ...] = ()
    """Tie the process to these cores; empty: leave it where its parent is."""


class Size(msgspec.Struct, frozen=True, kw_only=True, tag="size"):
    """How much of the texts fits one pass of `budget_seconds`?"""

    job: Job
    budget_seconds: float
    ids_file: str = ""
    """Ids of the whole texts, for `decode`."""


class Refer(msgspec.Struct, frozen=True, kw_only=True, tag="refer"):
    """Answer the job as the reference does, and keep the ids in `ids_file`."""

    job: Job
    ids_file: str


class Measure(msgspec.Struct, frozen=True, kw_only=True, tag="measure"):
    """Verify the job, then time it."""

    job: Job
    expected: Expected | None
    n_samples: int
    sample_seconds: float
    most_seconds: float = 60.0
    """All samples together take no longer than this, where that is possible."""


class MeasureMemory(msgspec.Struct, frozen=True, kw_only=True, tag="measure-memory"):
    """How much memory does one pass of the job need?"""

    job: Job
    ids_file: str = ""
    """Ids of the texts, for `decode`."""


class Recall(msgspec.Struct, frozen=True, kw_only=True, tag="recall"):
    """How long do calls on texts take that were given before, and on new ones of the same pieces?"""

    job: Job
    """Its texts give the words."""
    most_bytes: int
    """Of one pass, where it is fast enough for them."""
    text_bytes: int
    """Size of each text; 0: a pass is one text."""
    budget_seconds: float
    """Of making a text and giving it."""
    seed: int
    earlier: bool = False
    """The texts to ask for were given to an earlier process, and are not given to this one."""


class Shrink(msgspec.Struct, frozen=True, kw_only=True, tag="shrink"):
    """Look for the smallest text on which the opened implementation differs from `reference`."""

    texts: tuple[bytes, ...]
    """Candidates, the smallest first; UTF-8 with surrogatepass."""
    reference: str
    seconds: float


class Probe(msgspec.Struct, frozen=True, kw_only=True, tag="probe"):
    """Which Unicode version does each of these splitting engines know?"""

    implementations: tuple[str, ...]


Request = Open | Size | Refer | Measure | MeasureMemory | Recall | Shrink | Probe


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag="opened"):
    """The implementation stands."""

    implementation: str
    exact: bool
    pinned: bool
    lossy: bool


class Sized(msgspec.Struct, frozen=True, kw_only=True, tag="sized"):
    """A pass over `n_bytes` took `seconds`."""

    n_bytes: int
    full_bytes: int
    seconds: float


class Measured(msgspec.Struct, frozen=True, kw_only=True, tag="measured"):
    """Verified and timed."""

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
    """The highest resident memory of this process, beyond what it held before it built the tokenizer."""

    peak_memory_bytes: int | None


class Recalled(msgspec.Struct, frozen=True, kw_only=True, tag="recalled"):
    """Seconds of calls on texts given before, and on new ones, pair by pair."""

    n_bytes: int
    """Of one call."""
    met_seconds: list[float]
    new_seconds: list[float]


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """A typed verdict instead of an answer."""

    status: Status
    reason: str
    counterexample: Counterexample | None = None
    candidates: tuple[bytes, ...] = ()
    """Texts around the first difference, smallest first, for `Shrink`."""


class Shrunk(msgspec.Struct, frozen=True, kw_only=True, tag="shrunk"):
    """The smallest differing text found, or None where none of the candidates differs in this process."""

    counterexample: Counterexample | None


class Probed(msgspec.Struct, frozen=True, kw_only=True, tag="probed"):
    """Unicode version by engine; None where the engine cannot be asked."""

    versions: dict[str, str | None]


Reply = Opened | Sized | Expected | Measured | MemoryMeasured | Recalled | Failed | Shrunk | Probed

_encoder = msgspec.json.Encoder()
request_decoder = msgspec.json.Decoder(Request)
reply_decoder: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def to_line(message: Request | Reply) -> bytes:
    """One line, with its newline."""
    return _encoder.encode(message) + b"\n"
