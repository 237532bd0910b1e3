"""Table of the resources of an implementation besides encoding time: memory, and the time to its first id."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of


def memory_rows(speed_rows: Sequence[Row]) -> list[Row]:
    """Return peak memory and load time for each model and implementation, the least memory first."""
    found: dict[tuple[str, str], Row] = {}
    for row in speed_rows:
        if row["status"] != "ok":
            continue
        identity = {key: row[key] for key in ("model", "implementation", "kind")}
        at = found.setdefault((row["model"], row["implementation"]), identity)
        peak = row["peak_memory_bytes"]
        if row["task"] == "load":
            at |= {"load_ms": row["median"], "load_low_ms": row["low"], "load_high_ms": row["high"]}
            at["load_memory_bytes"] = peak
        elif peak is not None and peak >= at.get("peak_memory_bytes", 0):
            at |= {"peak_memory_bytes": peak, "workload": row["workload"]}
    rows = [at for at in found.values() if "load_ms" in at or "peak_memory_bytes" in at]
    return sorted(rows, key=lambda at: (at["model"], at.get("peak_memory_bytes") or at.get("load_memory_bytes") or 0))


def memory_table(speed_rows: Sequence[Row]) -> Table:
    """Return the peak memory of each implementation on each model, and the time to load the model."""
    columns = (
        Column("implementation", "implementation"), Column("kind", "kind"),
        Column("load_ms", "load, ms", wording.figure, right=True),
        Column("load_memory_bytes", "memory to load", wording.size, right=True),
        Column("peak_memory_bytes", "highest memory", wording.size, right=True),
        Column("workload", "reached on", elastic=True),
    )  # fmt: skip
    keys = [
        "model", "implementation", "kind", "load_ms", "load_low_ms", "load_high_ms", "load_memory_bytes",
        "peak_memory_bytes", "workload",
    ]  # fmt: skip
    return Table(
        name="memory",
        title="Memory and load time",
        frame=frame_of(memory_rows(speed_rows), keys),
        note="Memory is the highest resident memory beyond what the process held once the implementation was "
        "imported and the model read; less is better. Load is the time from the model's file to the first id.",
        columns=columns,
        group_by="model",
    )
