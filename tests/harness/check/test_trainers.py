"""Trainers that follow one rule must learn the same merges: planted faults, verdicts, and the tables of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check.trainers import DEFAULT_TRAINERS, RULES, TrainerPlan, TrainerResult, check_trainers
from harness.report.tables import render_trainers, tables

HUGS = "hug hug pug pun pun bun hugs"

Compare = Callable[..., TrainerResult]


@pytest.fixture
def compare_in_processes(tmp_path: Path) -> Compare:
    def run(text: str, *trainers: str) -> TrainerResult:
        corpus = tmp_path / "corpus.txt"
        corpus.write_text(text, encoding="utf-8")
        return check_trainers(TrainerPlan(trainers, (str(corpus),), max_bytes=10_000))

    return run


@pytest.fixture
def compare(compare_in_processes: Compare, here: None) -> Compare:
    return compare_in_processes


def test_every_default_trainer_agrees_by_each_rule_it_shares(compare: Compare) -> None:
    result = compare(HUGS, *DEFAULT_TRAINERS)
    assert result.faults == []
    assert {v.implementation for v in result.verdicts if v.status == "right"} == set(DEFAULT_TRAINERS)
    n_pairs = len(DEFAULT_TRAINERS) * (len(DEFAULT_TRAINERS) - 1) // 2
    assert len({(found.a, found.b) for found in (*result.agreements, *result.not_compared)}) == n_pairs
    own = [found for found in result.agreements if (found.a, found.b) == ("naive", "priority")]
    assert {found.rule for found in own} == set(RULES)
    assert {found.reason for found in result.not_compared} == {"no rule that both follow"}
    text = render_trainers([*result.verdicts, *result.agreements], width=100)
    assert max(map(len, text.splitlines())) <= 100


def test_a_trainer_with_another_rule_than_it_says_is_a_fault(compare: Compare) -> None:
    result = compare(HUGS, "priority", "planted-wrong-ties")
    wrong = {found.rule for found in result.agreements if found.first_difference is not None}
    assert wrong >= {"smallest, raw order", "first met"}
    assert "largest" not in wrong
    assert "they differ under one rule, 'first met', first at merge 2: 'h'+'ug' and " in result.faults[2]
    assert "'h'+'ug'" in render_trainers([*result.verdicts, *result.agreements])


def test_a_trainer_that_dies_or_is_not_there_has_a_verdict_and_the_others_go_on(compare_in_processes: Compare) -> None:
    result = compare_in_processes(HUGS, "tiktoken", "naive", "backtracking", "planted-absent", "planted-dying-trainer")
    status = {v.implementation: v.status for v in result.verdicts if v.model == "first met"}
    assert status == {
        "tiktoken": "right", "naive": "right", "backtracking": "refused", "planted-absent": "missing",
        "planted-dying-trainer": "crash",
    }  # fmt: skip
    assert [found.first_difference for found in result.agreements] == [None]
    assert all("planted-dying-trainer" in fault for fault in result.faults)
    records = [*result.verdicts, *result.agreements]
    rows = {row["trainer"]: row for row in tables(records)["trainers"].rows}
    assert rows["naive"]["vs tiktoken"] == "="
    assert rows["planted-absent"]["vs tiktoken"] == "n/a"
    assert rows["tiktoken"]["rules"] == "first met"
    assert "does not train" in rows["backtracking"]["rules"]
    assert rows["planted-absent"]["rules"].startswith("missing: ")
    failures = {row["implementation"] for row in tables(records)["failures"].rows}
    assert failures == {"planted-dying-trainer", "planted-absent"}


@pytest.mark.parametrize("text", ["a", "all of this </w> is left out"])
def test_trainers_that_learn_nothing_are_not_compared(compare: Compare, text: str) -> None:
    result = compare(text, "priority", "tiktoken")
    assert result.agreements == []
    assert {(pair.a, pair.b) for pair in result.not_compared} == {("priority", "tiktoken")}
    assert result.faults == ["nothing was compared: no two trainers learned a merge from the same text"]
    assert "=" not in {row["vs priority"] for row in tables(result.verdicts)["trainers"].rows}


def test_the_command_ends_with_1_on_a_fault(compare: Compare, bpebench: Any, tmp_path: Path) -> None:
    (tmp_path / "hugs.txt").write_text(HUGS, encoding="utf-8")
    arguments = ["-e", "planted-wrong-ties|tiktoken|backtracking", "-c", str(tmp_path / "hugs.txt")]
    ended = bpebench("check", "--trainers", *arguments)
    assert (ended.status, "they differ under one rule, 'first met'" in ended.out) == (1, True)
