"""The workload files, `datasets/workloads/*.toml`: read, validated, and expanded over models and corpora.

A file holds `[[workload]]` tables; each names one task, so that the table `encode` over two models and two corpora is
the four workloads `encode/cl100k_base/turkish` and so on.
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
from harness.measure.workloads import (
    ALONE,
    BATCHES,
    DECODING,
    ENCODING,
    GROWING,
    LONG_TEXT,
    STRETCHES,
    State,
    Task,
    Workload,
    WorkloadError,
    short_corpus,
    short_name,
)
from impls import BPEError, TrainingSpec

_Positive = Annotated[int, msgspec.Meta(ge=1)]
_NotNegative = Annotated[int, msgspec.Meta(ge=0)]


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
    skip_bytes: _NotNegative = 0
    max_bytes: _Positive = 1_000_000
    whole: bool = False
    process: str = ""
    document_bytes: _Positive = 4096
    text_characters: _Positive = 50
    limit_tokens: _Positive = 1000
    threads: _Positive | Literal["all"] = 1
    training: Mapping[str, Any] = {}
    implementations: tuple[str, ...] = ()
    rounds: _NotNegative = 0
    digests: Mapping[str, str] = {}
    """Workload name -> expected digest."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    workload: tuple[Template, ...]


def load_templates(folder: Path | None = None) -> list[Template]:
    """Return every table of every TOML file in `folder`, by file name; raise `WorkloadError` naming file and key.

    The default is the folder of the shipped workloads.
    """
    folder = folder or datasets_folder() / "workloads"
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
    if state in (*STRETCHES, *ALONE) and task not in ENCODING and (task, state) != ("train", "cold"):
        return f"state: {state!r} is for the tasks {', '.join(ENCODING)}, not {task!r}"
    if state == "sustained" and task not in ("encode-documents", "encode-documents-array"):
        return "state: 'sustained' is for the tasks encode-documents and encode-documents-array"
    if state in LONG_TEXT and task not in ("encode", "encode-array"):
        return f"state: {state!r} is for the tasks encode and encode-array"
    if state == "same-object" and task in ("load", "train", *DECODING, *GROWING):
        return f"state: 'same-object' is for tasks that read texts again, not {task!r}"
    if template.threads != 1 and task not in (*BATCHES, "train"):
        return f"threads: is for the tasks {', '.join(BATCHES)} and train, not {task!r}"
    for expression in template.implementations:
        try:
            re.compile(expression)
        except re.error as error:
            return f"implementations: {expression!r} is not a regular expression: {error}"
    return None


def expand(templates: Iterable[Template], models: Sequence[str] = (), corpora: Sequence[str] = ()) -> list[Workload]:
    """Return the workloads of `templates`; `models` and `corpora`, if given, replace those the templates name."""
    found: dict[str, Workload] = {}
    for template in templates:
        is_training, is_loading = template.task == "train", template.task == "load"
        chosen_models = (training_label(template.training),) if is_training else models or template.models
        for model, corpus in product(chosen_models, ("",) if is_loading else corpora or template.corpora):
            workload = _workload(template, model, corpus)
            found.setdefault(workload.name, workload)
    return list(found.values())


def load_workloads() -> list[Workload]:
    """Return every shipped workload, over the models and corpora that its table names."""
    return expand(load_templates())


def training_label(training: Mapping[str, Any]) -> str:
    """Return the label of a training specification in workload names: `gpt2-4000`."""
    spec = TrainingSpec(**training)
    pattern = spec.pattern if re.fullmatch(r"[\w.-]+", spec.pattern) else "custom"
    return f"{pattern}-{spec.vocab_size}"


def _workload(template: Template, model: str, corpus: str) -> Workload:
    threads = 0 if template.threads == "all" else template.threads
    name = "/".join(part for part in (template.name, short_name(model), corpus and short_corpus(corpus)) if part)
    shared = {key: getattr(template, key) for key in Template.__struct_fields__ if key in Workload.__struct_fields__}
    own = (template.task == "train" or model in template.models) and corpus in ("", *template.corpora)
    return Workload(
        **shared | {"name": name, "model": model, "corpus": corpus, "threads": threads},
        digest=template.digests.get(name, "") if own else "",
    )
