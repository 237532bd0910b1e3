"""The static site equals the records: figures, ratios and verified text, computed again straight from their lines."""

from __future__ import annotations

import json
import math
import os
import random
import statistics
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from built_site import ROOT, document, view_data

from harness.report.site.build import gather
from harness.report.site.evidence import evidence


@cache
def recorded(run: str) -> list[dict[str, Any]]:
    lines = (ROOT / "results" / run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == "measurement" and not record.get("copy")]


def seconds_per_byte(run: str, workload: str, implementation: str) -> float:
    """The geometric mean over rounds of the median sample, straight from the lines of the records."""
    rounds = [r for r in recorded(run) if (r["workload"], r["implementation"]) == (workload, implementation)]
    assert all(r["status"] == "ok" for r in rounds)
    logs = [
        math.log(statistics.median(s / r.get("loops", 1) / r["n_bytes"] for s in r["samples_seconds"])) for r in rounds
    ]
    return math.exp(statistics.mean(logs))


def three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def test_figures_picked_at_random_equal_those_of_the_records(site_folder: Path) -> None:
    rows = [
        (run["id"], workload, row)
        for run in view_data(site_folder)["runs"]
        for workload in run["workloads"]
        for row in workload["rows"]
        if workload["unit"] == "MB/s" and row[1] is not None
    ]
    assert len(rows) > 1000
    n_seeds = int(os.environ.get("BPEBENCH_FUZZ", "1"))
    for seed in range(n_seeds):
        for run, workload, row in random.Random(f"figures {seed}").sample(rows, 10):
            name, shown = row[0], float(row[1].replace(",", ""))
            expected = 1e-6 / seconds_per_byte(run, workload["name"], name)
            assert shown == pytest.approx(three_digits(expected), rel=1e-9), (run, workload["name"], name)
            on_page = [
                cells for cells in document(site_folder / "runs" / f"{run}.html").tables["table-speed"]
                if cells[0] == workload["name"] and cells[2] == name
            ] if workload["work"][:5] != "train" else []  # fmt: skip
            assert all(row[1] in cells for cells in on_page)
            assert on_page or workload["work"][:5] == "train"


def test_ratios_picked_at_random_equal_those_of_the_records(site_folder: Path) -> None:
    workloads = [(run["id"], w) for run in view_data(site_folder)["runs"] for w in run["workloads"] if w["model"]]
    workloads = [(run, w) for run, w in workloads if len(w["ranked"]) > 2 and w["unit"] == "MB/s"]
    for seed in range(int(os.environ.get("BPEBENCH_FUZZ", "1"))):
        for run, workload in random.Random(f"ratios {seed}").sample(workloads, 10):
            base, other = random.Random(seed).sample(range(len(workload["ranked"])), 2)
            times = [seconds_per_byte(run, workload["name"], workload["ranked"][i]) for i in (base, other)]
            value, low, high = (
                float(part) for part in workload["ratios"][base][other].lstrip("≈").replace(",", "").split()
            )
            assert value == pytest.approx(three_digits(times[0] / times[1]), rel=1e-9)
            assert low <= value <= high


def test_what_is_verified_equals_the_records_and_is_never_more(site_folder: Path) -> None:
    found = {(e.implementation, e.model): e for e in evidence(gather(ROOT).runs)}
    for implementation, model in (("tokenizers", "cl100k_base"), ("gigatoken", "llama3"), ("kitoken", "o200k_base")):
        longest: dict[str, int] = {}
        runs = [path.parent.name for path in (ROOT / "results").glob("*/records.jsonl")]
        for run in runs:
            for r in recorded(run):
                if (r["implementation"], r["model"]) == (implementation, model) and r["task"].startswith("encode"):
                    assert r["status"] != "mismatch"
                    if r["status"] == "ok" and r.get("reference") not in ("", None, implementation):
                        longest[r["corpus"]] = max(longest.get(r["corpus"], 0), r["n_bytes"])
        e = found[implementation, model]
        assert e.verdict == "exact"
        assert e.n_bytes > 0
        assert all(
            e.bytes_by_corpus[c.partition("/")[0] if not c.startswith("gen/") else c] >= n for c, n in longest.items()
        )
        largest = sum(n for c, n in longest.items() if c != "mixed")
        assert e.n_bytes <= max(largest, longest.get("mixed", 0)) + sum(
            n for c, n in e.bytes_by_corpus.items() if c not in longest
        )
        badge = (site_folder / "badges" / f"{implementation}-{model}.svg").read_text(encoding="utf-8")
        assert f"exact.html#{implementation}-{model}" in badge
        assert e.said in badge


def test_who_is_wrong_is_said_with_the_text_that_shows_it(site_folder: Path) -> None:
    rows = {cells[0]: cells for cells in document(site_folder / "index.html").tables["exact-table"]}
    assert rows["compiled"][2] == "exact"
    assert rows["iree-tokenizer"][2] == "wrong ids"
    assert rows["tokie"][2] == "wrong ids"
    assert rows["tokie"][6].startswith("'")
    assert rows["greedy"][2] == "other ids by design"


def test_runs_are_compared_with_runs_of_their_own_machine_only(site_folder: Path) -> None:
    rows = document(site_folder / "runs.html").tables["table-history"][1:]
    assert len(rows) > 10
    for cells in rows:
        machines = [
            json.loads((ROOT / "results" / cells[place] / "machine.json").read_text("utf-8")) for place in (5, 8)
        ]
        assert machines[0]["cpu"] == machines[1]["cpu"]
        assert machines[0]["date"] <= machines[1]["date"]
