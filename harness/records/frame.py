"""Measurements of runs as a tidy frame, one row for each timed pass, for your own analysis.

Median speed on English by implementation, in MB/s:

>>> frame = bpebench.read_records("results/2026-11-28-epyc-tour")
>>> here = frame[frame.workload == "encode/o200k_base/english"]
>>> here.groupby("implementation").mb_per_second.median().sort_values()

Time relative to tiktoken's, as the geometric mean over all workloads:

>>> seconds = frame.groupby(["workload", "implementation"]).seconds_per_byte.median().unstack()
>>> np.exp(np.log(seconds.div(seconds.tiktoken, axis=0)).mean())

Change from one run to another on the same machine:

>>> both = bpebench.read_records("results/old", "results/new")
>>> per_run = both.groupby(["workload", "implementation", "run"]).seconds_per_byte.median().unstack()
>>> (per_run.new / per_run.old).sort_values()
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from harness.records.schema import Measurement
from harness.records.store import of_kind, read_machine, read_records

COLUMNS = (
    "run", "date", "cpu", "workload", "task", "state", "model", "corpus", "threads", "implementation", "exact",
    "outcome", "reason", "copy", "opening", "round", "lost", "n_bytes", "n_calls", "seconds", "cpu_seconds",
    "seconds_per_byte", "mb_per_second", "peak_memory_bytes",
)  # fmt: skip
"""`seconds` is the time of one pass over `n_bytes`; `copy` is 1 for the second process of an implementation that runs
along twice."""


def measurements_frame(*folders: Path) -> pd.DataFrame:
    """Return one row for each pass of the runs in `folders`, with the columns `COLUMNS`.

    A measurement that failed has one row without figures, with its outcome and reason. Raise `RecordError` for a folder
    without records.
    """
    return pd.DataFrame([row for folder in folders for row in _rows(folder)], columns=list(COLUMNS))


def _rows(folder: Path) -> list[dict[str, Any]]:
    machine = read_machine(folder)
    where = {"run": folder.name, "date": machine.get("date"), "cpu": machine.get("cpu")}
    return [where | row for record in of_kind(read_records(folder), Measurement) for row in _passes(record)]


def _passes(record: Measurement) -> list[dict[str, Any]]:
    same = {key: getattr(record, key) for key in COLUMNS if key in record.__struct_fields__}
    same["outcome"] = record.outcome.value
    rows = []
    for timed in record.passes:
        seconds, n_bytes = timed.wall_seconds[-1], timed.n_bytes
        figures = {
            "round": timed.round, "lost": timed.lost, "n_bytes": n_bytes, "seconds": seconds,
            "cpu_seconds": timed.cpu_seconds[-1], "seconds_per_byte": seconds / n_bytes if n_bytes else None,
            "mb_per_second": n_bytes / seconds / 1e6 if seconds else None,
        }  # fmt: skip
        rows.append(same | figures)
    return rows or [same]
