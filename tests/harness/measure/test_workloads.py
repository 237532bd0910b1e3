"""Workload files: what they expand to, and what is wrong with wrong ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from harness.measure.run import contestants, estimate_seconds
from harness.measure.workloads import PROFILES, Plan, State, Task, WorkloadError, load_workloads, select, short_name

BY_NAME = ("family", "hostile")
"""Workloads that are in no profile."""
MODELS = ("cl100k_base", "o200k_base")
GOOD = """
[[workload]]
name = "encode"
task = "encode"
models = ["m1", "m2"]
corpora = ["turkish", "gen/spaces:1000"]
profiles = ["default"]
analysis = "why"
"""


def read(folder: Path, content: str) -> None:
    (folder / "some.toml").write_text(content)
    load_workloads(folder)


def test_a_table_is_spread_over_its_models_and_corpora(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(GOOD)
    assert [workload.name for workload in load_workloads(tmp_path)] == [
        "encode/m1/turkish",
        "encode/m1/gen/spaces:1000",
        "encode/m2/turkish",
        "encode/m2/gen/spaces:1000",
    ]


def test_chosen_models_and_corpora_stand_in_for_those_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(GOOD)
    (workload,) = load_workloads(tmp_path, models=["folder/mine.json"], corpora=["english"])
    assert workload.name == "encode/mine/english"
    assert workload.model == "folder/mine.json"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("[[workload]]", "[[workload]"), "not TOML"),
        (('task = "encode"', 'task = "encod"'), "task"),
        (('analysis = "why"', ""), "analysis"),
        (('name = "encode"', 'name = "encode"\nnmae = "x"'), "nmae"),
        (('models = ["m1", "m2"]', ""), "models"),
        (('corpora = ["turkish", "gen/spaces:1000"]', ""), "corpora"),
        (('name = "encode"', 'name = "encode"\ncall_bytes = 0'), "call_bytes"),
        (('name = "encode"', 'name = "encode"\nthreads = 2'), "threads"),
        (('name = "encode"', 'name = "encode"\nn_calls = 3'), "n_calls"),
        (('task = "encode"', 'task = "count"\nstate = "cold"'), "state"),
        (('task = "encode"', 'task = "decode"\nstate = "cold"'), "state"),
        (('task = "encode"', 'task = "load"'), "corpora"),
        (('task = "encode"', 'task = "train"'), "models"),
        (('name = "encode"', 'name = "encode"\nimplementations = ["("]'), "implementations"),
        (('analysis = "why"', 'analysis = "why"\n[workload.training]\nvocab_size = 300'), "training"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_key(
    tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    with pytest.raises(WorkloadError) as refusal:
        read(tmp_path, GOOD.replace(*change))
    assert "some.toml" in str(refusal.value)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize("training", ["", 'vocab_size = 300\nties = "any"', "vocab = 300", "vocab_size = 0"])
def test_a_wrong_training_specification_is_refused(tmp_path: Path, training: str) -> None:
    content = GOOD.replace('task = "encode"', 'task = "train"').replace('models = ["m1", "m2"]', "")
    with pytest.raises(WorkloadError, match=r"some\.toml.*training"):
        read(tmp_path, f"{content}[workload.training]\n{training}\n")


def test_an_empty_folder_and_a_choice_of_nothing_say_so(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="no workload files"):
        load_workloads(tmp_path)
    with pytest.raises(WorkloadError, match="no workload is left"):
        select(load_workloads(), include=["no such name"])
    with pytest.raises(WorkloadError, match="not a regular expression"):
        select(load_workloads(), include=["("])


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


def test_records_name_no_folder() -> None:
    assert short_name("folder/mine.json") == "mine"
    assert short_name("hf:OWNER/NAME") == "hf:OWNER/NAME"
