"""A run's folder as every command leaves it: records, and beside them where and with what they were made.

Knows no task: what is written, and which facts are a command's own, its caller says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from harness.measure import cautions, provenance
from harness.measure.workloads import short_corpus, short_name
from harness.records import RecordWriter


class Recording(msgspec.Struct, frozen=True):
    """Where records go, and the facts that will stand beside them."""

    write: Callable[..., None]
    """Takes records, and keeps them."""
    facts: dict[str, Any]
    """May be added to until the end."""


@contextmanager
def described(folder: Path, implementations: Sequence[str], command: str, **own: Any) -> Iterator[dict[str, Any]]:
    """Write `machine.json` of a folder of records: at once, and anew when the body has ended well.

    Gives the facts, to which the body may add; `own` are those of the command. `command` loses the folders in it. Of a
    run taken up again the date and the load before its first start are kept.
    """
    before = provenance.read_machine(folder)
    facts = {
        "command": re.sub(r"(?<=[\s='\"])/\S*/", "", command),
        **own,
        "date": before.get("date") or datetime.now(UTC).date().isoformat(),
        "resumed": before.get("resumed", -1) + 1,
        "load_before": before.get("load_before", provenance.load()),
    } | provenance.machine(implementations)
    provenance.write_machine(folder, facts)
    yield facts
    facts["load_after"] = provenance.load()
    facts["warnings"] = [*cautions.machine_warnings(facts, facts["load_before"]), *facts.get("warnings", ())]
    provenance.write_machine(folder, facts)


@contextmanager
def recording(
    folder: Path | None, implementations: Sequence[str], command: str, *, resume: bool = False
) -> Iterator[Recording]:
    """Records written into `folder` with what describes them; for None they are kept nowhere.

    Raises `RecordError` where the folder holds records and `resume` is False.
    """
    if folder is None:
        yield Recording(lambda *records: None, {})
        return
    with RecordWriter(folder, resume=resume) as writer, described(folder, implementations, command) as facts:
        yield Recording(writer.write, facts)


def digests(models: Iterable[str], corpora: Iterable[str], split: str | None = None) -> dict[str, dict[str, str]]:
    """What was used, by name: the digest of each model, and of each corpus or of the part of it that was read."""
    from harness.data import load_corpus, load_model

    return {
        "models": {short_name(name): load_model(name).digest for name in models},
        "corpora": {
            f"{short_corpus(name)} {split or ''}".strip(): load_corpus(name, split=split).digest for name in corpora
        },
    }
