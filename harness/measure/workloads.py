"""Workloads: what to time. Knows no clock, process or algorithm; `templates` reads workloads from files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from impls import BPEError
from impls.core.errors import plural

Task = Literal[
    "encode",
    "encode-array",
    "encode-batch",
    "encode-ragged",
    "encode-documents",
    "encode-documents-array",
    "encode-short",
    "count",
    "decode",
    "decode-stream",
    "truncate",
    "append",
    "chat",
    "keystrokes",
    "load",
    "train",
]
State = Literal[
    "warm-same", "warm-between", "warm-other", "same-object", "cold", "sustained", "second-call", "after-pause"
]
ONCE_ONLY: tuple[State, ...] = ("warm-other", "cold", "sustained")
"""States whose every pass needs text new to the process."""
ENCODING: tuple[Task, ...] = tuple(task for task in get_args(Task) if task.startswith("encode"))
"""Tasks that encode texts and return ids."""
BATCHES: tuple[Task, ...] = ("encode-batch", "encode-ragged")
"""Tasks that pass all texts to one call, which may use several threads."""
ARRAYS: tuple[Task, ...] = ("encode-array", "encode-ragged", "encode-documents-array")
"""Tasks that return arrays."""
DOCUMENTS: tuple[Task, ...] = (*BATCHES, "encode-documents", "encode-documents-array")
"""Tasks on texts of `document_bytes`."""
GROWING: tuple[Task, ...] = ("append", "chat", "keystrokes")
"""Tasks whose text grows or is edited, step by step."""
DECODING: tuple[Task, ...] = ("decode", "decode-stream")
"""Tasks that are given the reference's ids."""
TEXTS: tuple[Task, ...] = (*DECODING, "truncate")
"""Tasks that return texts."""
LONG_TEXT: tuple[State, ...] = ("second-call", "after-pause")
"""States of one long text, read after documents of other text."""
STRETCHES: Mapping[State, int] = {"warm-between": 2, "warm-other": 6, "second-call": 2, "after-pause": 2}
"""Number of equal stretches that a text is cut into: the first is read before timing, each of the others is one pass.
States not listed read one."""
ALONE: tuple[State, ...] = ("cold", "sustained", *LONG_TEXT)
"""States that need a process of their own."""
N_PARTS = 100
"""Number of parts the text of a `sustained` workload is cut into; each is a sample."""


def reads_file(task: Task, state: State) -> bool:
    """Return whether the workload reads a file itself: training in a fresh process."""
    return task == "train" and state == "cold"


class WorkloadError(BPEError):
    """An invalid workload file, or a selection that leaves no workload; the message names the place."""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """One task on one model and one text."""

    name: str
    task: Task
    state: State
    model: str
    """A model's name or path; for `train` a label of the training specification."""
    corpus: str
    """A corpus or generator name; empty for `load`."""
    split: Literal["train", "held-out"] | None = None
    skip_bytes: int = 0
    """Bytes of the corpus skipped before the text starts."""
    max_bytes: int = 0
    """Upper limit on the bytes of one pass."""
    whole: bool = False
    """Whether the text is never sliced, however slow the implementation: some texts fail only at full length."""
    process: str = ""
    """Label of a process shared only by workloads with the same label, so that no others have read their texts before.
    Empty: shared by all workloads without a label."""
    document_bytes: int = 4096
    text_characters: int = 50
    limit_tokens: int = 1000
    """Limit of the task `truncate`."""
    threads: int = 1
    """Number of threads; 0 for all cores."""
    training: Mapping[str, Any] = {}
    """Fields of the `TrainingSpec`, for `train`."""
    implementations: tuple[str, ...] = ()
    """Regular expressions, one of which an implementation must match; empty for all implementations."""
    rounds: int = 0
    """Number of rounds it runs in, counted from the first; 0 for all."""
    profiles: tuple[str, ...] = ()
    digest: str = ""
    """Expected SHA-256 of the ids of the whole text, or empty."""
    analysis: str = ""

    @property
    def reads_file(self) -> bool:
        """Return whether it gets a file of documents, one per line, instead of texts: reading it is then timed too."""
        return reads_file(self.task, self.state)

    @property
    def has_own_process(self) -> bool:
        """Return whether it is timed in a process that does nothing else."""
        return self.task in ("load", "train") or self.state in ALONE

    @property
    def is_whole(self) -> bool:
        """Return whether its text is never sliced."""
        return self.whole or self.task in ("train", *GROWING) or self.state in ("sustained", *LONG_TEXT)

    @property
    def n_passes(self) -> int:
        """Return how many passes its text holds."""
        return N_PARTS if self.state == "sustained" else STRETCHES.get(self.state, 1)

    @property
    def text_bytes(self) -> int:
        """Return the approximate length in bytes of each of its texts; 0 if there is only one."""
        if self.task == "encode-short":
            return self.text_characters
        return self.document_bytes if self.task in DOCUMENTS else 0

    @property
    def group(self) -> str:
        """Return the label of its process: workloads of one group share a process."""
        if self.has_own_process:
            return self.name
        label = f" {self.process}" if self.process else ""
        return f"{self.model}{label} with {plural(self.threads, 'thread')}"

    @property
    def text_key(self) -> tuple[Any, ...]:
        """Return a key that is equal for workloads on the same texts."""
        cut: tuple[Any, ...] = ("one text",)
        if self.task in DOCUMENTS:
            cut = ("documents", self.document_bytes)
        elif self.task == "encode-short":
            cut = ("short", self.text_characters)
        elif self.task == "train":
            cut = ("a file",) if self.reads_file else ("whole documents",)
        state = self.state if self.state == "sustained" else STRETCHES.get(self.state)
        return (*cut, state, self.corpus, self.split, self.skip_bytes, self.max_bytes)

    def applies_to(self, implementation: str) -> bool:
        """Return whether the workload is meant for `implementation`."""
        return not self.implementations or any(re.fullmatch(one, implementation) for one in self.implementations)


def short_name(model: str) -> str:
    """Return a model's name, of a path without folder and suffix: records hold no paths."""
    if model.startswith("hf:") or ("/" not in model and "\\" not in model):
        return model
    return Path(model).stem


def short_corpus(corpus: str) -> str:
    """Return a corpus's name, of a path without the folder."""
    path = Path(corpus)
    return path.name if path.is_absolute() or corpus.startswith((".", "~")) or path.exists() else corpus


def select(
    workloads: Iterable[Workload],
    *,
    profile: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> list[Workload]:
    """Return the workloads of a profile whose names match an `include` (any, without one) and no `exclude`.

    The patterns are regular expressions, searched for in the name. Raise `WorkloadError` for an invalid pattern, or if
    no workload is left.
    """
    workloads = list(workloads)
    try:
        wanted, unwanted = ([re.compile(pattern) for pattern in patterns] for patterns in (include, exclude))
    except re.error as error:
        raise WorkloadError(f"{error.pattern!r} is not a regular expression: {error}") from None
    chosen = [
        workload
        for workload in workloads
        if (profile is None or profile in workload.profiles)
        and (not wanted or any(pattern.search(workload.name) for pattern in wanted))
        and not any(pattern.search(workload.name) for pattern in unwanted)
    ]
    if not chosen:
        known = ", ".join(workload.name for workload in workloads)
        raise WorkloadError(f"no workload is left to run; there are: {known}")
    return chosen
