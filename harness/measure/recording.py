"""A run's folder, as every command writes it: the records, the plan, and `machine.json` with where and how it was made.

Knows no task: the caller decides what is written and which facts its command adds.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.measure import cautions, provenance
from harness.measure.workloads import Plan, short_corpus, short_name
from harness.records import RecordError, RecordWriter, read_machine, write_atomically, write_machine
from impls import Model

Named = TypeVar("Named", bound=msgspec.Struct)
PLAN_FILE = "plan.json"
PROTOCOL = 4
"""Number of the protocol in METHODOLOGY; raised when earlier and later figures are no longer comparable."""


class Recording(msgspec.Struct, frozen=True):
    """The records' destination, and the facts written beside them."""

    write: Callable[..., None]
    """Appends records."""
    facts: dict[str, Any]
    """May be extended until the recording ends."""


@contextmanager
def machine_facts(folder: Path, implementations: Sequence[str], command: str, **own: Any) -> Iterator[dict[str, Any]]:
    """Write `machine.json` of a folder of records: at once, and again when the body has succeeded.

    Yield the facts, to which the body may add; `own` are those of the command. Folders are removed from `command`. A
    resumed run keeps the date and the load of its first start.
    """
    before = read_machine(folder)
    facts = {
        "protocol": PROTOCOL,
        "command": shlex.join(map(_without_folders, shlex.split(command))),
        **own,
        "date": before.get("date") or datetime.now(UTC).date().isoformat(),
        "resumed": before.get("resumed", -1) + 1,
        "load_before": before.get("load_before", provenance.load()),
    } | provenance.machine(implementations)
    write_machine(folder, facts)
    yield facts
    facts["load_after"] = provenance.load()
    facts["warnings"] = [*cautions.machine_warnings(facts, facts["load_before"]), *facts.get("warnings", ())]
    write_machine(folder, facts)


def _without_folders(word: str) -> str:
    """Return a word of a command with the paths in it reduced to their names, unless they lie in the current folder."""
    name, equals, value = word.rpartition("=")
    if value.startswith(("~", "..")) or (value.startswith("/") and (Path(value).exists() or value.count("/") > 1)):
        return f"{name}{equals}{Path(value).name}"
    return re.sub(r"(?<=[\s:'\"])/\S*/", "", word)


@contextmanager
def recording(
    folder: Path | None, implementations: Sequence[str], command: str, *, resume: bool = False
) -> Iterator[Recording]:
    """Write records and their facts into `folder`; discard them if it is None.

    Raise `RecordError` if the folder holds records and `resume` is False.
    """
    if folder is None:
        yield Recording(lambda *records: None, {})
        return
    with RecordWriter(folder, resume=resume) as writer, machine_facts(folder, implementations, command) as facts:
        yield Recording(writer.write, facts)


def named_shortly(record: Named) -> Named:
    """Return a record or workload with the names of model and corpus in place of their paths."""
    short = {"model": short_name, "corpus": short_corpus}
    fields = {key: write(getattr(record, key)) for key, write in short.items() if hasattr(record, key)}
    return msgspec.structs.replace(record, **fields)


def digests(models: Mapping[str, Model], corpora: Mapping[tuple[str, str | None], str]) -> dict[str, dict[str, str]]:
    """Return the digest of each model, and of each corpus by name and split, under names without paths."""
    return {
        "models": {short_name(name): model.digest for name, model in models.items()},
        "corpora": {f"{short_corpus(name)} {split or ''}".strip(): digest for (name, split), digest in corpora.items()},
    }


def keep_plan(folder: Path, plan: Plan, *, has_records: bool) -> None:
    """Write the plan beside its records, without paths; raise `RecordError` rather than mix two plans in one folder."""
    publishable = msgspec.structs.replace(plan, workloads=tuple(map(named_shortly, plan.workloads)))
    content = msgspec.json.format(msgspec.json.encode(publishable), indent=2) + b"\n"
    path = folder / PLAN_FILE
    if has_records and path.exists() and path.read_bytes() != content:
        raise RecordError(
            f"{folder}: holds the records of another plan (profile, implementations, workloads or seed differ); "
            "resume with the options it was started with, or use another --out"
        )
    write_atomically(path, content)
