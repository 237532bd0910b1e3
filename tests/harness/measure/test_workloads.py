"""Workload files: what they expand to, and what is wrong with wrong ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from harness.data import load_corpus
from harness.measure.schedule import PROFILES
from harness.measure.templates import expand, load_templates, load_workloads
from harness.measure.texts import stretches, workload_texts
from harness.measure.workloads import GROWING, State, Task, WorkloadError, select, short_name

BY_NAME = ("lead-", "family-", "train-large")
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
    load_templates(folder)


def test_a_table_is_spread_over_its_models_and_corpora(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(GOOD)
    assert [workload.name for workload in expand(load_templates(tmp_path))] == [
        "encode/m1/turkish",
        "encode/m1/gen/spaces:1000",
        "encode/m2/turkish",
        "encode/m2/gen/spaces:1000",
    ]


def test_chosen_models_and_corpora_stand_in_for_those_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(GOOD)
    (workload,) = expand(load_templates(tmp_path), models=["folder/mine.json"], corpora=["english"])
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
        (('name = "encode"', 'name = "encode"\nmax_bytes = 0'), "max_bytes"),
        (('name = "encode"', 'name = "encode"\nthreads = 2'), "threads"),
        (('name = "encode"', 'name = "encode"\nskip_bytes = -1'), "skip_bytes"),
        (('task = "encode"', 'task = "count"\nstate = "cold"'), "state"),
        (('task = "encode"', 'task = "decode"\nstate = "same-object"'), "state"),
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
        load_templates(tmp_path)
    with pytest.raises(WorkloadError, match="no workload is left"):
        select(load_workloads(), include=["no such name"])
    with pytest.raises(WorkloadError, match="not a regular expression"):
        select(load_workloads(), include=["("])


def test_include_and_exclude_are_searched_for_in_names() -> None:
    chosen = select(load_workloads(), include=["^encode/", "^decode/"], exclude=["o200k"])
    assert chosen
    assert all(w.task in ("encode", "decode") and w.model != "o200k_base" for w in chosen)


def test_the_shipped_workloads_have_unique_names_known_profiles_and_an_analysis() -> None:
    workloads = load_workloads()
    assert max(Counter(workload.name for workload in workloads).values()) == 1
    for workload in workloads:
        assert workload.profiles or workload.name.startswith(BY_NAME), workload.name
        assert set(workload.profiles) <= set(PROFILES), workload.name
        assert len(workload.analysis.split()) > 10, workload.name


def test_the_rigorous_profile_covers_every_task_and_every_state_the_default_one_all_but_the_rarer_forms() -> None:
    rigorous, default = (select(load_workloads(), profile=profile) for profile in ("rigorous", "default"))
    assert {workload.task for workload in rigorous} == set(get_args(Task))
    over_a_while = {"sustained", "second-call", "after-pause"}
    assert {workload.state for workload in rigorous} == set(get_args(State)) - over_a_while
    lead = {workload.state for workload in select(load_workloads(), include=["^lead-"])}
    assert over_a_while <= lead
    left_out = {"encode-documents-array", "encode-ragged", "decode-stream", "truncate", *GROWING}
    assert {workload.task for workload in default} == set(get_args(Task)) - left_out
    assert {workload.state for workload in default} == set(get_args(State)) - over_a_while - {"warm-between"}


def test_mixed_text_is_read_apart_from_what_it_is_mixed_of() -> None:
    unseen = [workload for workload in load_workloads() if workload.state == "warm-other" and workload.process]
    assert unseen
    for workload in unseen:
        together = {other.corpus for other in load_workloads() if other.group == workload.group}
        assert together == {"mixed"} or "mixed" not in together, workload.name


def test_the_workloads_that_tell_who_leads_are_run_on_both_models_and_on_all_five_texts_or_three() -> None:
    names = {workload.name for workload in select(load_workloads(), include=["^lead-"])}
    calls = {"cold", "cold-array", "documents", "documents-array", "warm-array"}
    calls |= {f"{form}-{threads}" for form in ("batch", "ragged") for threads in (1, 2)}
    texts = ("mixed", "turkish", "english", "code", "cjk")
    few = ("mixed", "turkish", "cjk")
    expected = {f"lead-{call}/{model}/{text}" for call in calls for model in MODELS for text in texts}
    expected |= {f"lead-{call}/{model}/{text}" for call in ("short", "decode") for model in MODELS for text in few}
    known = [f"{form}-known-{threads}" for form in ("batch", "ragged") for threads in (1, 2)]
    expected |= {f"lead-{call}/{model}/{text}" for call in known for model in MODELS for text in ("turkish", "english")}
    alone = ("sustained", "sustained-array", "second-call", "second-call-array", "after-pause", "after-pause-array")
    expected |= {f"lead-{call}/o200k_base/mixed" for call in alone}
    assert names == expected | {f"lead-load/{model}" for model in MODELS}


@pytest.mark.corpus
def test_batches_on_one_and_two_threads_and_of_lists_and_arrays_are_the_same_texts() -> None:
    batches = select(load_workloads(), include=["^lead-(batch|ragged)-.*/cjk$"])
    assert len({workload.text_key for workload in batches}) == 1
    texts = workload_texts(load_corpus("cjk").documents(), batches[0])
    parts = stretches(texts, "warm-other")
    assert len(parts) == 6
    assert {len(part) for part in parts} == {len(texts) // 6}
    assert all(sum(map(len, part)) > 100_000 and len(part) > 100 for part in parts)
    assert len({text for part in parts for text in part}) == len(texts)


def test_cold_load_and_training_have_processes_of_their_own_and_threads_are_never_mixed() -> None:
    groups: dict[str, list[str]] = {}
    for workload in load_workloads():
        groups.setdefault(workload.group, []).append(workload.name)
    for workload in load_workloads():
        together = [w for w in load_workloads() if w.group == workload.group]
        if workload.task in ("load", "train") or workload.state == "cold":
            assert len(together) == 1
        assert {w.process for w in together} == {workload.process}
        assert len({w.threads for w in together}) == 1
        assert len({w.model for w in together if w.task != "train"}) <= 1


def test_text_that_is_read_once_is_read_by_no_other_workload_of_its_process() -> None:
    for workload in load_workloads():
        if workload.state != "warm-other":
            continue
        for other in load_workloads():
            if other.group == workload.group and other.corpus == workload.corpus and other != workload:
                assert other.skip_bytes + other.max_bytes <= workload.skip_bytes, other.name


def test_a_user_s_file_gives_a_name_without_its_folder_and_no_expected_digest(tmp_path: Path) -> None:
    file = tmp_path / "turkish"
    file.write_text("text")
    (workload,) = select(
        expand(load_templates(), models=[f"{tmp_path}/cl100k_base.json"], corpora=[str(file)]),
        include=["^encode/cl100k_base/turkish$"],
    )
    assert workload.digest == ""
    assert workload.corpus == str(file)


def test_names_of_models_keep_what_is_not_a_folder() -> None:
    assert [short_name(name) for name in ("cl100k_base", "hf:some/name-3.1", "a/b/my.v2.json")] == [
        "cl100k_base",
        "hf:some/name-3.1",
        "my.v2",
    ]


@pytest.mark.corpus
def test_the_expected_digests_are_those_of_two_implementations() -> None:
    import impls
    from harness.data import load_model
    from harness.measure.jobs.answers import digest_of_ids
    from harness.measure.texts import shuffled, take

    checked = 0
    for workload in load_workloads():
        if not workload.digest:
            continue
        model = load_model(workload.model)
        texts = workload_texts(shuffled(load_corpus(workload.corpus, workload.split).documents()), workload)
        tiktoken = impls.load("tiktoken", model)
        ids = [tiktoken.encode(text.decode(), disallowed_special=()) for text in texts]
        assert digest_of_ids(ids)[0] == workload.digest, workload.name
        (beginning,) = take(texts, 20_000)
        own = impls.load("priority", model).encode(beginning.decode(), disallowed_special=())
        assert own[:-20] == ids[0][: len(own) - 20], workload.name
        checked += 1
    assert checked >= 5
