"""Workload files: what they expand to, and what is wrong with wrong ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from refusals import refused

from harness.measure.run import contestants, estimate_seconds
from harness.measure.workloads import PROFILES, Plan, State, Task, WorkloadError, load_workloads, select, short_name

BY_NAME = ("family", "hostile")
"""Workloads that are in no profile."""
GOOD = """
[[workload]]
name = "encode"
task = "encode"
models = ["m1", "m2"]
corpora = ["turkish", "gen/spaces:1000"]
profiles = ["default"]
analysis = "why"
"""


def test_a_table_is_spread_over_its_models_and_corpora_or_those_chosen(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(GOOD)
    assert [workload.name for workload in load_workloads(tmp_path)] == [
        f"encode/{model}/{corpus}" for model in ("m1", "m2") for corpus in ("turkish", "gen/spaces:1000")
    ]
    (workload,) = load_workloads(tmp_path, models=["folder/mine.json"], corpora=["english"])
    assert (workload.name, workload.model) == ("encode/mine/english", "folder/mine.json")
    assert short_name("hf:OWNER/NAME") == "hf:OWNER/NAME"


NAME, TASK, WHY = 'name = "encode"', 'task = "encode"', 'analysis = "why"'
WRONG = [
    ("[[workload]]", "[[workload]", "not TOML"), (TASK, 'task = "encod"', "task"), (WHY, "", "analysis"),
    (NAME, f'{NAME}\nnmae = "x"', "nmae"), (NAME, f"{NAME}\ncall_bytes = 0", "call_bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "complaint"), WRONG)
def test_a_wrong_file_is_refused_by_name_and_key(tmp_path: Path, before: str, after: str, complaint: str) -> None:
    (tmp_path / "some.toml").write_text(GOOD.replace(before, after))
    refused(WorkloadError, rf"some\.toml.*{complaint}", load_workloads, tmp_path)


def test_an_empty_folder_and_a_choice_of_nothing_say_so(tmp_path: Path) -> None:
    refused(WorkloadError, "no workload files", load_workloads, tmp_path)
    refused(WorkloadError, "no workload is left", select, load_workloads(), include=["no such name"])
    refused(WorkloadError, "not a regular expression", select, load_workloads(), include=["("])


def test_include_and_exclude_are_searched_for_in_names() -> None:
    chosen = select(load_workloads(), include=["^encode/", "^decode/"], exclude=["cl100k"])
    assert chosen
    assert all(w.task in ("encode", "decode") and w.model != "cl100k_base" for w in chosen)


def test_the_shipped_workloads_have_unique_names_known_profiles_and_an_analysis() -> None:
    workloads = load_workloads()
    assert max(Counter(workload.name for workload in workloads).values()) == 1
    for workload in workloads:
        assert workload.profiles or workload.name.startswith(BY_NAME), workload.name
        assert set(workload.profiles) <= set(PROFILES), workload.name
        assert len(workload.analysis.split()) > 10, workload.name
        assert workload.n_calls.bit_count() == 1, workload.name
        assert (bool(workload.training), bool(workload.corpus)) == (workload.task == "train", workload.task != "load")


def test_the_default_profile_covers_every_task_and_state_and_lasts_less_than_an_hour() -> None:
    default = select(load_workloads(), profile="default")
    assert {workload.task for workload in default} == set(get_args(Task))
    assert {workload.state for workload in default} == set(get_args(State))
    names = tuple(f"peer-{number}" for number in range(25))
    plan = Plan(profile=PROFILES["default"], implementations=names, workloads=tuple(default))
    assert estimate_seconds(plan) < 3600


def test_workloads_of_one_model_share_processes_but_for_what_needs_a_fresh_one() -> None:
    workloads = tuple(select(load_workloads(), profile="default"))
    plan = Plan(profile=PROFILES["default"], implementations=("tiktoken",), workloads=workloads)
    for group in plan.groups:
        assert len({(workload.model, workload.threads) for workload in group}) == 1
        assert len(group) == 1 or not any(w.state == "cold" or w.task == "train" for w in group)
    assert max(map(len, plan.groups)) > 5


def test_a_copy_of_a_fast_and_of_a_slow_one_runs_along() -> None:
    def copies(*names: str) -> list[str]:
        plan = Plan(profile=PROFILES["default"], implementations=names, workloads=())
        return [name for name, copy in contestants(plan) if copy]

    assert copies("naive", "tiktoken", "compiled") == ["compiled", "tiktoken"]
    assert copies("naive", "tiktoken", "mine") == ["tiktoken", "naive"]
    assert copies("mine") == ["mine"]
