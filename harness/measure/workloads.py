"""Workloads: what to time, read from `datasets/workloads/*.toml` and expanded over models and corpora.

A file holds `[[workload]]` tables; each names one task, so that the table `encode` over two models and two corpora is
the four workloads `encode/cl100k_base/turkish` and so on. Knows no clock, process or algorithm.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from harness.data import datasets_folder
from harness.grouping import grouped
from impls import BPEError, TrainingSpec
from impls.core.errors import near_and_known

Task = Literal["encode", "encode-array", "encode-batch", "count", "decode", "append", "chat", "load", "train"]
State = Literal["new text", "cold", "again"]
"""`new text`: after other text of the same corpus; `cold`: the first text of a fresh process; `again`: the texts that
the process has just read, shown beside the others but never ranked. Else no text is read twice."""
ENCODING: tuple[Task, ...] = ("encode", "encode-array", "encode-batch")
GROWING: tuple[Task, ...] = ("append", "chat")
"""Tasks whose text grows at its end, step by step."""
ALONE: tuple[Task, ...] = ("load", "train")
"""Tasks that a process does once, and that do not show how fast a tokenizer encodes and decodes."""
_PERCENTILES_UP_TO = 8192
_Positive = Annotated[int, msgspec.Meta(ge=1)]


class WorkloadError(BPEError):
    """An invalid workload file, or a selection that leaves no workload; the message names the place."""


class Workload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task on one model and one corpus; in a file, on several of each."""

    name: str
    task: Task
    analysis: str
    """Which decision it informs."""
    profiles: tuple[str, ...]
    models: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    model: str = ""
    """A model's name or path; for `train` a label of the training specification."""
    corpus: str = ""
    """A corpus or generator name; empty for `load`."""
    state: State = "new text"
    split: Literal["train", "held-out"] | None = None
    call_bytes: _Positive = 32_000
    """Bytes of each text: of a call, of a document of a batch, of the file to train from."""
    n_calls: _Positive = 1
    """Calls of a pass, a power of two: a slow implementation gets half of them, a quarter and so on."""
    n_documents: _Positive = 1
    """Texts of a call, for `encode-batch`."""
    threads: _Positive | Literal["all"] = 1
    training: Mapping[str, Any] = {}
    """Fields of the `TrainingSpec`, for `train`."""
    implementations: tuple[str, ...] = ()
    """Regular expressions, one of which an implementation must match; empty for all implementations."""
    rounds: int = 0
    """Rounds of an opening; 0 for those of the profile."""
    openings: int = 0
    """Openings, at most; 0 for those of the profile."""
    openings_factor: _Positive = 1
    """How many times the openings of the profile it has: where one gives few passes, as of what a process does once."""
    alone: bool = False
    """Whether its process does nothing else, since its text holds that of other workloads."""

    @property
    def is_once(self) -> bool:
        """Return whether a process makes a single pass."""
        return self.task in ALONE or self.state == "cold"

    @property
    def lead_calls(self) -> int:
        """Return how many calls precede a pass, untimed; all contestants read the same.

        A process that has waited for its turn encodes new text slower at first: the tables of the vocabulary have left
        the processor's caches meanwhile. After half as many calls the same program was 4 % slower.
        """
        return 0 if self.n_calls == 1 or self.state != "new text" else (self.n_calls + 1) // 2

    @property
    def pass_bytes(self) -> int:
        """Return the bytes of text that a pass reads, its lead included."""
        return self.call_bytes * self.n_documents * (self.n_calls + self.lead_calls)

    @property
    def times_each_call(self) -> bool:
        """Return whether the time of every call is of interest: documents one by one."""
        return self.task == "encode" and self.n_calls > 1 and 1000 <= self.call_bytes <= _PERCENTILES_UP_TO

    @property
    def process(self) -> str:
        """Return the label of its process: workloads of one label share one."""
        if self.alone or (self.is_once and self.task != "load"):
            return self.name
        return f"{self.model}, threads: {self.threads}"

    def openings_in(self, profile: Profile) -> int:
        """Return how many openings it has in a run of `profile`."""
        most = profile.openings * self.openings_factor
        return min(self.openings or most, most)

    def applies_to(self, implementation: str) -> bool:
        """Return whether the workload is meant for `implementation`."""
        expressions = self.implementations
        return not expressions or any(re.fullmatch(expression, implementation) for expression in expressions)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    workload: tuple[Workload, ...]


def load_workloads(
    folder: Path | None = None, models: Sequence[str] = (), corpora: Sequence[str] = ()
) -> list[Workload]:
    """Return every workload of the files in `folder` (default: the shipped ones), over its models and corpora.

    `models` and `corpora`, if given, replace those that a table names. Raise `WorkloadError` naming file and key.
    """
    folder = folder or datasets_folder() / "workloads"
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise WorkloadError(f"{folder}: contains no workload files (*.toml)")
    expanded: dict[str, Workload] = {}
    for path in paths:
        for table in _read(path):
            for workload in _expanded(table, models, corpora):
                expanded.setdefault(workload.name, workload)
    return list(expanded.values())


def _read(path: Path) -> Iterable[Workload]:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).workload
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WorkloadError(f"{path.name}: not TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise WorkloadError(f"{path.name}: {error}") from None


def _expanded(table: Workload, models: Sequence[str], corpora: Sequence[str]) -> Iterable[Workload]:
    chosen = (training_label(table.training),) if table.task == "train" else models or table.models
    for model, corpus in product(chosen, ("",) if table.task == "load" else corpora or table.corpora):
        name = "/".join(part for part in (table.name, short_name(model), corpus and short_corpus(corpus)) if part)
        yield msgspec.structs.replace(table, name=name, model=model, corpus=corpus, models=(), corpora=())


def training_label(training: Mapping[str, Any]) -> str:
    """Return the label of a training specification in workload names: `gpt2-4000`."""
    spec = TrainingSpec(**training)
    pattern = spec.pattern if re.fullmatch(r"[\w.-]+", spec.pattern) else "custom"
    return f"{pattern}-{spec.vocab_size}"


def short_name(model: str) -> str:
    """Return a model's name, of a path without folder and suffix: records hold no paths."""
    is_path = not model.startswith("hf:") and ("/" in model or "\\" in model)
    return Path(model).stem if is_path else model


def short_corpus(corpus: str) -> str:
    """Return a corpus's name, of a path without the folder."""
    path = Path(corpus)
    return path.name if path.is_absolute() or corpus.startswith((".", "~")) or path.exists() else corpus


def select(
    workloads: Iterable[Workload], *, profile: str = "", include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> list[Workload]:
    """Return the workloads of a profile (if given) whose names match an `include` (any, without one) and no `exclude`.

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
        if (not profile or profile in workload.profiles)
        and (not wanted or any(pattern.search(workload.name) for pattern in wanted))
        and not any(pattern.search(workload.name) for pattern in unwanted)
    ]
    if not chosen:
        known = [workload.name for workload in workloads]
        named = near_and_known(include[0] if include else "", known, "`bpebench list workloads`")
        raise WorkloadError(f"no workload is left to run; {named}")
    return chosen


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """How thoroughly a run measures."""

    name: str
    openings: int
    """How many times every process is started."""
    rounds: int
    """Passes of each contestant in an opening."""
    slow_openings: int = 1
    """Openings in which contestants take part that need more than three times as long as the fastest."""
    slow_rounds: int = 1
    copies: bool = True
    """Whether copies of two implementations measure the noise floor."""
    pass_seconds: float = 0.03
    """Length of a pass: a slow implementation gets fewer calls to meet it."""
    time_limit_seconds: float = 30.0
    """A pass that takes longer is recorded as `timeout`."""

    def slow_rounds_of(self, n_rounds: int) -> int:
        """Return how many of a workload's `n_rounds` a slow contestant gets in an opening: the same share of all."""
        return max(1, n_rounds * self.slow_rounds // self.rounds)


_PROFILES = (
    Profile(name="smoke", openings=1, rounds=2, copies=False, time_limit_seconds=10),
    Profile(name="quick", openings=2, rounds=6, slow_rounds=2, copies=False, time_limit_seconds=15),
    Profile(name="default", openings=10, rounds=20, slow_openings=4, slow_rounds=6, pass_seconds=0.01),
    Profile(name="rigorous", openings=40, rounds=25, slow_openings=6, slow_rounds=10, time_limit_seconds=120),
)
PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in _PROFILES}


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that determines which records a run writes."""

    profile: Profile
    implementations: tuple[str, ...]
    workloads: tuple[Workload, ...]
    seed: int = 0

    @property
    def groups(self) -> list[tuple[Workload, ...]]:
        """Return the workloads by process, in order."""
        return list(map(tuple, grouped(self.workloads, lambda workload: workload.process).values()))
