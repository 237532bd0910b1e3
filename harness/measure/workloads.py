"""Workloads: what is timed, read from `datasets/workloads/*.toml`. Knows no clock, no process and no algorithm.

A file holds `[[workload]]` tables; each names one task and is spread over its models and corpora, so that the table
`encode` over two models and two corpora is the four workloads `encode/cl100k_base/turkish` and so on.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from impls import BPEError, TrainingSpec

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
    "load",
    "train",
]
State = Literal[
    "warm-same", "warm-between", "warm-other", "same-object", "cold", "sustained", "second-call", "after-pause"
]
ONCE_ONLY: tuple[State, ...] = ("warm-other", "cold", "sustained")
"""States whose every pass needs text the process has not seen."""
ENCODING: tuple[Task, ...] = (
    "encode",
    "encode-array",
    "encode-batch",
    "encode-ragged",
    "encode-documents",
    "encode-documents-array",
    "encode-short",
)
"""Tasks that read texts and answer ids."""
BATCHES: tuple[Task, ...] = ("encode-batch", "encode-ragged")
"""Tasks that give all texts to one call, and may use several threads."""
DOCUMENTS: tuple[Task, ...] = (*BATCHES, "encode-documents", "encode-documents-array")
"""Tasks on texts of `document_bytes`."""
STRETCHES: Mapping[State, int] = {"warm-between": 2, "warm-other": 6, "second-call": 2, "after-pause": 2}
"""Into how many stretches of one size a text is cut: the first is read before what is timed, each of the others is a
pass of its own; other states read one."""

ALONE: tuple[State, ...] = ("cold", "sustained", "second-call", "after-pause")
"""States that need a process of their own."""
N_PARTS = 100
"""Into how many parts the text of a `sustained` workload is cut; each is a sample."""


class WorkloadError(BPEError):
    """A workload file that is wrong, or a choice of workloads that leaves none; the message names the place."""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """One task on one model and one piece of text."""

    name: str
    task: Task
    state: State
    model: str
    """A model's name or path; for `train` a label of the training specification; for no task empty."""
    corpus: str
    """A corpus or generator name; empty for `load`."""
    split: Literal["train", "held-out"] | None = None
    skip_bytes: int = 0
    """Bytes of the corpus passed over before the text starts."""
    max_bytes: int = 0
    """Bytes of one pass, where the implementation is fast enough for them."""
    whole: bool = False
    """Whether the text is never sliced, however slow the implementation: some texts break only at their full length."""
    process: str = ""
    """Runs in a process with those of the same label alone, so that no other has read its texts before; empty: with all
    that have none."""
    document_bytes: int = 4096
    text_characters: int = 50
    threads: int = 1
    """0: all cores."""
    training: Mapping[str, Any] = {}
    """Fields of the `TrainingSpec`, for `train`."""
    implementations: tuple[str, ...] = ()
    """Regular expressions an implementation must match one of; empty: all."""
    rounds: int = 0
    """Runs in so many rounds of a run, from the first; 0: in all."""
    profiles: tuple[str, ...] = ()
    digest: str = ""
    """Expected SHA-256 of the ids of the whole text, or empty."""
    analysis: str = ""

    @property
    def has_own_process(self) -> bool:
        """Whether it is timed in a process that does nothing else."""
        return self.task in ("load", "train") or self.state in ALONE

    @property
    def is_whole(self) -> bool:
        """Whether its text is never sliced."""
        return self.whole or self.task == "train" or self.state in ("sustained", "second-call", "after-pause")

    @property
    def n_passes(self) -> int:
        """Of how many passes its text is."""
        return N_PARTS if self.state == "sustained" else STRETCHES.get(self.state, 1)

    @property
    def text_bytes(self) -> int:
        """About how long each of its texts is; 0 where it is one text."""
        if self.task == "encode-short":
            return self.text_characters
        return self.document_bytes if self.task in DOCUMENTS else 0

    @property
    def group(self) -> str:
        """Workloads of one group share a process."""
        if self.has_own_process:
            return self.name
        label = f" {self.process}" if self.process else ""
        return f"{self.model}{label} with {self.threads} thread(s)"

    @property
    def text_key(self) -> tuple[Any, ...]:
        """Equal for workloads that run on the same texts."""
        if self.task in DOCUMENTS:
            cut: tuple[Any, ...] = ("documents", self.document_bytes)
        elif self.task == "encode-short":
            cut = ("short", self.text_characters)
        elif self.task == "train":
            cut = ("whole documents",)
        else:
            cut = ("one text",)
        return (
            *cut,
            self.state if self.state == "sustained" else STRETCHES.get(self.state),
            self.corpus,
            self.split,
            self.skip_bytes,
            self.max_bytes,
        )

    def applies_to(self, implementation: str) -> bool:
        """Whether the workload is meant for `implementation`."""
        return not self.implementations or any(
            re.fullmatch(expression, implementation) for expression in self.implementations
        )

    def training_spec(self) -> TrainingSpec:
        """The specification to train by; raises `InvalidSpec`."""
        return TrainingSpec(**self.training)


class Template(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[workload]]` table as written."""

    name: str
    task: Task
    analysis: str
    profiles: tuple[str, ...]
    state: State = "warm-same"
    models: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    split: Literal["train", "held-out"] | None = None
    skip_bytes: int = 0
    max_bytes: int = 1_000_000
    whole: bool = False
    process: str = ""
    document_bytes: int = 4096
    text_characters: int = 50
    threads: int | Literal["all"] = 1
    training: Mapping[str, Any] = {}
    implementations: tuple[str, ...] = ()
    rounds: int = 0
    digests: Mapping[str, str] = {}
    """Workload name -> expected digest."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    workload: tuple[Template, ...]


def workloads_folder() -> Path:
    """Where the shipped workloads are."""
    from harness.data import datasets_folder

    return datasets_folder() / "workloads"


def load_templates(folder: Path | None = None) -> list[Template]:
    """Every table of every TOML file in `folder`, by file name; raises `WorkloadError` naming file and key."""
    folder = workloads_folder() if folder is None else folder
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise WorkloadError(f"{folder}: holds no workload files (*.toml)")
    return [template for path in paths for template in _read(path)]


def _read(path: Path) -> Iterable[Template]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        templates = msgspec.convert(content, _File).workload
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WorkloadError(f"{path.name}: not TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise WorkloadError(f"{path.name}: {error}") from None
    for template in templates:
        if problem := _problem(template):
            raise WorkloadError(f"{path.name}: workload {template.name!r}: {problem}")
    return templates


def _problem(template: Template) -> str | None:
    task, state = template.task, template.state
    if task == "train":
        if template.models:
            return "models: a training workload makes its model; give [workload.training]"
        try:
            TrainingSpec(**template.training)
        except (BPEError, TypeError) as error:
            return f"training: {error}"
    elif template.training:
        return f"training: is for the task 'train', not {task!r}"
    elif not template.models:
        return "models: name at least one"
    if task != "load" and not template.corpora:
        return "corpora: name at least one"
    if task == "load" and template.corpora:
        return "corpora: the task 'load' reads no text"
    if state in (*STRETCHES, *ALONE) and task not in ENCODING:
        return f"state: {state!r} is for the tasks {', '.join(ENCODING)}, not {task!r}"
    if state == "sustained" and task not in ("encode-documents", "encode-documents-array"):
        return "state: 'sustained' is for the tasks encode-documents and encode-documents-array"
    if state in ("second-call", "after-pause") and task not in ("encode", "encode-array"):
        return f"state: {state!r} is for the tasks encode and encode-array"
    if state == "same-object" and task in ("load", "train", "decode"):
        return f"state: 'same-object' is for tasks that read texts again, not {task!r}"
    for key in ("max_bytes", "document_bytes", "text_characters"):
        if getattr(template, key) < 1:
            return f"{key}: must be at least 1, not {getattr(template, key)}"
    if template.rounds < 0:
        return f"rounds: must not be negative, not {template.rounds}"
    if template.skip_bytes < 0:
        return f"skip_bytes: must not be negative, not {template.skip_bytes}"
    if isinstance(template.threads, int) and template.threads < 1:
        return f'threads: must be at least 1, or "all", not {template.threads}'
    if template.threads != 1 and task not in BATCHES:
        return f"threads: is for the tasks {' and '.join(BATCHES)}, not {task!r}"
    for expression in template.implementations:
        try:
            re.compile(expression)
        except re.error as error:
            return f"implementations: {expression!r} is not a regular expression: {error}"
    return None


def expand(templates: Iterable[Template], models: Sequence[str] = (), corpora: Sequence[str] = ()) -> list[Workload]:
    """The workloads of `templates`; `models` and `corpora`, where given, stand in for those the templates name."""
    found: dict[str, Workload] = {}
    for template in templates:
        chosen_models = models or template.models
        if template.task == "train":
            chosen_models = (training_label(template.training),)
        for model in chosen_models:
            for corpus in () if template.task == "load" else corpora or template.corpora:
                workload = _workload(template, model, corpus)
                found.setdefault(workload.name, workload)
            if template.task == "load":
                workload = _workload(template, model, "")
                found.setdefault(workload.name, workload)
    return list(found.values())


def load_workloads(folder: Path | None = None) -> list[Workload]:
    """Every workload as shipped, over the models and corpora its table names."""
    return expand(load_templates(folder))


def training_label(training: Mapping[str, Any]) -> str:
    """What a training specification is called in names: `gpt2-4000`."""
    spec = TrainingSpec(**training)
    pattern = spec.pattern if re.fullmatch(r"[\w.-]+", spec.pattern) else "custom"
    return f"{pattern}-{spec.vocab_size}"


def short_name(model: str) -> str:
    """A model's name, without folder and ending where it is a path; records name no place of this machine."""
    if model.startswith("hf:") or ("/" not in model and "\\" not in model):
        return model
    return Path(model).stem


def short_corpus(corpus: str) -> str:
    """A corpus's name, without the folder where it is a path."""
    path = Path(corpus)
    return path.name if path.is_absolute() or corpus.startswith((".", "~")) or path.exists() else corpus


def _workload(template: Template, model: str, corpus: str) -> Workload:
    threads = 0 if template.threads == "all" else template.threads
    name = "/".join(part for part in (template.name, short_name(model), corpus and short_corpus(corpus)) if part)
    shared = {key: getattr(template, key) for key in Template.__struct_fields__ if key in Workload.__struct_fields__}
    own = (template.task == "train" or model in template.models) and corpus in ("", *template.corpora)
    return Workload(
        **shared | {"name": name, "model": model, "corpus": corpus, "threads": threads},
        digest=template.digests.get(name, "") if own else "",
    )


def select(
    workloads: Iterable[Workload],
    *,
    profile: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> list[Workload]:
    """Those of a profile whose names match an `include` (any, where there is none) and no `exclude`.

    The patterns are regular expressions searched for in the name. Raises `WorkloadError` for a bad pattern, and
    where nothing is left.
    """
    workloads = list(workloads)
    try:
        wanted = [re.compile(pattern) for pattern in include]
        unwanted = [re.compile(pattern) for pattern in exclude]
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


TASKS: tuple[Task, ...] = get_args(Task)
