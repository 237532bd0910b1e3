"""The messages between the parent process and its workers: jobs, and answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.measure.workloads import State, Task, reads_file
from harness.records import Counterexample, Status

FIRST_TEXT = "hello world"
"""The text `load` encodes to get its first id."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A workload as a worker sees it, with files written by the parent instead of names."""

    task: Task
    state: State
    texts: str = ""
    """File of texts (`texts.write_texts`), or the file to train from."""
    n_bytes: int = 0
    """How much of the texts to use; 0 for all."""
    threads: int = 1
    training: Mapping[str, Any] = {}
    document_bytes: int = 4096
    """Size of the documents read before a long text."""
    limit_tokens: int = 1000
    """Limit of the task `truncate`."""
    model_file: str = ""
    """Model in the suite's own format, for the task `load`."""

    @property
    def reads_file(self) -> bool:
        """Return `Workload.reads_file`: `texts` then names a plain text file."""
        return reads_file(self.task, self.state)


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """The reference's answer; `ids_file` holds the ids themselves (`answers.write_ids`)."""

    digest: str
    n_tokens: int
    reference: str
    ids_file: str = ""
    parts: list[str] = []
    """Digests of the parts of a `sustained` text."""


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """Verify the job, then time it."""

    job: Job
    expected: Expected | None
    n_samples: int
    sample_seconds: float
    most_seconds: float = 60.0
    """Limit on verification and all samples together, except that one sample is always taken."""


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """Time calls on texts given before, and on new texts of the same pieces."""

    job: Job
    """The job whose texts provide the words."""
    most_bytes: int
    """Upper limit on the bytes of one pass."""
    text_bytes: int
    """Size of each text; 0 if a pass is one text."""
    budget_seconds: float
    """Time to make a text and have it encoded."""
    seed: int
    earlier: bool = False
    """Whether the timed texts were given to an earlier process instead of this one."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
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


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of calls on texts given before, and on new ones, pair by pair."""

    n_bytes: int
    """UTF-8 bytes of one call."""
    met_seconds: list[float]
    new_seconds: list[float]


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict instead of an answer."""

    status: Status
    reason: str
    counterexample: Counterexample | None = None
    candidates: tuple[bytes, ...] = ()
    """Texts around the first difference, smallest first, for `judge.shrink`."""
