"""The explorer's figures and ratios equal the records: computed again straight from their lines."""

from __future__ import annotations

import json
import math
import random
import statistics
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from html_document import Document, view_data


@cache
def recorded(run: Path) -> list[dict[str, Any]]:
    lines = (run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == "measurement" and not record.get("copy")]


def logarithm(run: Path, workload: str, implementation: str, base: str | None = None) -> float:
    """The mean over openings of the median over rounds of the logarithm of seconds per byte, or of the ratio to `base`,
    straight from the lines of the records."""
    openings = [r for r in recorded(run) if (r["workload"], r["implementation"]) == (workload, implementation)]
    assert all(r["outcome"] == "right" for r in openings)
    others = {r.get("opening", 0): r for r in recorded(run) if (r["workload"], r["implementation"]) == (workload, base)}
    medians = []
    for r in openings:
        below = (
            [p[2] for p in r["passes"]] if base is None else [p[4][-1] for p in others[r.get("opening", 0)]["passes"]]
        )
        medians.append(statistics.median(math.log(p[4][-1] / d) for p, d in zip(r["passes"], below, strict=True)))
    return statistics.mean(medians)


def three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def test_figures_equal_those_of_the_records(page_html: str, run_folder: Path) -> None:
    (run,) = view_data(page_html)["runs"]
    shown = [(w, row) for w in run["workloads"] for row in w["rows"] if w["unit"] == "MB/s" and row[1] is not None]
    assert len(shown) > 50
    tables = Document(page_html).tables
    cells = [*tables["table-speed"], *tables["table-training"]]
    for workload, row in random.Random(1).sample(shown, 20):
        expected = 1e-6 / math.exp(logarithm(run_folder, workload["name"], row[0]))
        assert float(row[1].replace(",", "")) == pytest.approx(three_digits(expected), rel=1e-9)
        assert any({workload["name"], row[0], row[1]} <= set(line) for line in cells), (workload["name"], row[0])


def test_ratios_equal_those_of_the_records(page_html: str, run_folder: Path) -> None:
    (run,) = view_data(page_html)["runs"]
    workloads = [w for w in run["workloads"] if len(w["ranked"]) > 2 and w["unit"] == "MB/s"]
    assert len(workloads) > 5
    for workload in workloads:
        base, other = random.Random(workload["name"]).sample(range(len(workload["ranked"])), 2)
        name, names = workload["name"], workload["ranked"]
        logs = [logarithm(run_folder, name, names[i], names[0]) for i in (base, other)]
        value, low, high = (
            float(part) for part in workload["ratios"][base][other].lstrip("≈").replace(",", "").split()
        )
        assert value == pytest.approx(three_digits(math.exp(logs[0] - logs[1])), rel=1e-9)
        assert low <= value <= high
