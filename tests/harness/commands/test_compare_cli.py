"""`compare` as a user meets it: what is claimed of two runs of one machine, and of two machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records_by_hand import steady, timed

from harness.measure.comparison import machine_difference
from harness.records import Measurement, RecordWriter, write_machine

XEON = {
    "cpu": "Xeon", "architecture": "x86_64", "cores": 2, "physical_cores": 2, "usable_cores": 2,
    "caches_bytes": {"L2": 2097152}, "memory_bytes": 25276502016,
}  # fmt: skip


def a_run(folder: Path, seconds: float, machine: dict[str, Any], *more: Measurement, copy: bool = True) -> str:
    with RecordWriter(folder) as writer:
        writer.write(*timed("naive", steady(seconds)), *more)
        writer.write(*timed("tiktoken", steady(0.2)), *(timed("tiktoken", steady(0.2), copy=1) if copy else ()))
    if machine:
        write_machine(folder, machine)
    return str(folder)


def test_a_change_on_one_machine_is_claimed_and_named_in_the_document(bpebench: Any, tmp_path: Path) -> None:
    old = a_run(tmp_path / "old", 0.1, XEON)
    new = a_run(tmp_path / "new", 0.2, XEON | {"memory_bytes": XEON["memory_bytes"] - 440_000, "os": "Linux 7"})
    ended = bpebench("compare", old, new, "--json", "--fail-if", "slower>50%")
    assert ended.status == 1
    document = json.loads(ended.out)
    first = document["differences"][0]
    assert (first["implementation"], first["claim"]) == ("naive", "slower")
    assert first["time_ratio"] == pytest.approx(2)
    assert first["time_ratio_low"] <= first["time_ratio"] <= first["time_ratio_high"]
    assert document["failing"] == [first]


def test_a_condition_is_not_judged_without_the_noise_of_both_runs(bpebench: Any, tmp_path: Path) -> None:
    old = a_run(tmp_path / "old", 0.1, XEON)
    new = a_run(tmp_path / "new", 0.2, XEON, copy=False)
    ended = bpebench("compare", old, new, "--fail-if", "slower>5%")
    assert ended.status == 2
    assert "--fail-if cannot be checked: a run did not measure its own noise" in ended.err
    assert bpebench("compare", old, new).status == 0
    much_slower = a_run(tmp_path / "slower", 20, XEON, copy=False)
    assert bpebench("compare", old, much_slower, "--fail-if", "slower>5%").status == 1


@pytest.mark.parametrize("status", ["crash", ""])
def test_what_the_new_run_did_not_time_fails_the_condition(bpebench: Any, tmp_path: Path, status: str) -> None:
    old = a_run(tmp_path / "old", 0.1, XEON, *timed("naive", steady(0.3), "decode/m/c", task="decode"))
    failed = timed("naive", [[]], "decode/m/c", status, task="decode") if status else ()
    new = a_run(tmp_path / "new", 0.1, XEON, *failed)
    ended = bpebench("compare", old, new, "--fail-if", "slower>5%")
    assert ended.status == 1
    assert f"timed in the old run only: naive on decode/m/c ({status or 'not run'})" in ended.out
    document = json.loads(bpebench("compare", old, new, "--json").out)
    assert document["untimed_in_new"] == [
        {"workload": "decode/m/c", "implementation": "naive", "reason": status or "not run"}
    ]
    assert bpebench("compare", new, new, "--fail-if", "slower>5%").status == 0


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        *((machine, "ran on different machines (") for machine in (XEON | {"cpu": "EPYC"}, XEON | {"cpu": None}, {})),
        (XEON | {"protocol": 3}, "different protocols, 2 and 3"),
    ],
)
def test_runs_not_alike_are_refused(bpebench: Any, tmp_path: Path, machine: dict[str, Any], reason: str) -> None:
    runs = [a_run(tmp_path / "old", 0.1, XEON | {"protocol": 2}), a_run(tmp_path / "new", 5.0, machine)]
    ended = bpebench("compare", *runs)
    assert (ended.status, ended.out, reason in ended.err) == (2, "", True)


def test_machines_differ_in_what_their_speed_depends_on() -> None:
    assert machine_difference(XEON, XEON | {"python": "CPython 3.13", "load_before": 3}) is None
    assert machine_difference(XEON, XEON | {"cpu": "EPYC", "caches_bytes": {}}) == "processor, caches"
    assert machine_difference(XEON, XEON | {"cores": 4, "physical_cores": 4}) == "cores"
    assert machine_difference(XEON, XEON | {"memory_bytes": 8_000_000_000}) == "memory"
    for unknown in ({}, {"date": "a", "os": "Darwin"}):
        assert machine_difference(unknown, XEON) == machine_difference(unknown, unknown) == "not recorded in both runs"
