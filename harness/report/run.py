"""A run: its records, and everything derived from them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.measure.summary import summaries
from harness.records import Measurement, of_kind, read_machine, read_records
from harness.report import wording
from harness.report.chart import Chart, throughput
from harness.report.headlines import Headline, headlines
from harness.report.table import Row, Table
from harness.report.tables import speed, tables
from impls.core.errors import plural


@dataclass(frozen=True)
class Run:
    """A run's records, read once, and everything derived from them, made on demand."""

    label: str
    folder: Path

    @cached_property
    def records(self) -> list[Any]:
        """Return every record of the run."""
        return read_records(self.folder)

    @cached_property
    def chart(self) -> Chart | None:
        """Return the chart of its encoding speed, or None if there is nothing to draw."""
        return throughput(self.speed_rows)

    @cached_property
    def headlines(self) -> list[Headline]:
        """Return its headlines."""
        return headlines(self.records)

    @cached_property
    def machine(self) -> dict[str, Any]:
        """Return the facts of its machine; empty if there are none. Raise `RecordError` if the file is damaged."""
        return read_machine(self.folder)

    @property
    def date(self) -> str:
        """Return its date, or an empty string if it is not recorded."""
        return str(self.machine.get("date") or "")

    @property
    def name(self) -> str:
        """Return the run in words: date and name without the date."""
        return f"{self.date} {self.folder.name.removeprefix(self.date).strip('-')}".strip()

    @property
    def machine_name(self) -> str:
        """Return its machine in words: processor and its generation, cores, memory."""
        facts = self.machine
        cores, memory = facts.get("usable_cores"), facts.get("memory_bytes")
        parts = [str(facts.get("cpu") or facts.get("architecture") or "machine not recorded")]
        parts += [generation] if isinstance(generation := facts.get("cpu_generation"), str) else []
        parts += [plural(cores, "core")] if isinstance(cores, int) else []
        return ", ".join(parts + ([wording.size(memory)] if isinstance(memory, int) else []))

    @property
    def where(self) -> str:
        """Return date and machine, on one line."""
        return " · ".join(filter(None, (self.date, self.machine_name)))

    @property
    def facts(self) -> list[str]:
        """Return all that is recorded of its machine, as lines of JSON; command and warnings are shown elsewhere."""
        facts = {key: value for key, value in self.machine.items() if key not in ("command", "warnings")}
        return json.dumps(facts, ensure_ascii=False, indent=1).splitlines() if facts else ["Not recorded."]

    @property
    def warnings(self) -> list[str]:
        """Return its warnings, one line each."""
        warnings = self.machine.get("warnings")
        return list(map(str, warnings)) if isinstance(warnings, list) else []

    @cached_property
    def analyses(self) -> dict[str, str]:
        """Return the purpose of its workloads in prose, by name; empty if it has no plan."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            workloads = json.loads((self.folder / "plan.json").read_bytes())["workloads"]
            return {str(w["name"]): " ".join(str(w.get("analysis", "")).split()) for w in workloads}
        return {}

    @cached_property
    def speed_rows(self) -> list[Row]:
        """Return a row for each workload and implementation, as `speed.speed_rows`."""
        return speed.speed_rows(self.records)

    @cached_property
    def uncitable(self) -> dict[str, float]:
        """Return the noise floor of each workload that may not be cited."""
        return {w.name: w.floor for w in summaries(of_kind(self.records, Measurement)) if w.floor and w.is_noisy}

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Return its tables by name."""
        return tables(self.records, self.speed_rows)
