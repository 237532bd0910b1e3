"""Trainers against trainers: the hand corpora on which rules part, planted faults, and what the tables say of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import impls
from harness.check.trainer_tasks import DEFAULT_TRAINERS, RULES, counts_after, rules_to_compare, spec_of
from harness.check.trainers import TrainerPlan, TrainerResult, check_trainers
from harness.cli import main
from harness.records import TrainerAgreement
from harness.report.table import plain_rows
from harness.report.tables import render_trainers, tables

_PLUGINS = Path(__file__).resolve().parent / "check_plugins"
HUGS = "hug hug pug pun pun bun hugs"

Compare = Callable[..., TrainerResult]


@pytest.fixture
def compare(compare_in_processes: Compare, here: None) -> Compare:
    return compare_in_processes


@pytest.fixture
def compare_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compare]:
    monkeypatch.syspath_prepend(str(_PLUGINS))
    monkeypatch.setenv("PYTHONPATH", str(_PLUGINS))
    impls.registry._plugins.cache_clear()

    def run(text: str, *trainers: str, max_merges: int = 50) -> TrainerResult:
        corpus = tmp_path / "corpus.txt"
        corpus.write_text(text, encoding="utf-8")
        return check_trainers(TrainerPlan(trainers, (str(corpus),), max_merges, max_bytes=10_000))

    yield run
    impls.registry._plugins.cache_clear()


def pair(result: TrainerResult, a: str, b: str) -> TrainerAgreement:
    (found,) = [found for found in result.agreements if (found.a, found.b) == (a, b)]
    return found


def test_every_default_trainer_agrees_where_it_must_and_differences_are_ties(compare: Compare) -> None:
    result = compare(HUGS, *DEFAULT_TRAINERS)
    assert result.faults == []
    assert {v.implementation for v in result.verdicts if v.status == "right"} == set(DEFAULT_TRAINERS)
    compared = {(found.a, found.b) for found in result.agreements}
    assert len(compared) == len(DEFAULT_TRAINERS) * (len(DEFAULT_TRAINERS) - 1) // 2
    assert all(
        found.first_difference is None for found in result.agreements if found.agreement_class == "provably equal"
    )
    own = [found for found in result.agreements if (found.a, found.b) == ("naive", "priority")]
    assert {found.rule_a for found in own} == set(RULES)
    parted = [found for found in result.agreements if found.conditions.startswith("ties: ") and found.first_difference]
    assert parted
    assert all(found.first_difference.is_tie for found in parted if ";" not in found.conditions)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "step", "first_met", "smallest"),
    [("dcba", 1, ("d", "c"), ("b", "a")), ("bc ab", 1, ("b", "c"), (" ", "a")), (HUGS, 2, ("h", "ug"), (" ", "p"))],
)
def test_corpora_that_part_first_met_from_smallest(
    compare: Compare, text: str, step: int, first_met: tuple[str, str], smallest: tuple[str, str]
) -> None:
    result = compare(text, "tiktoken", "rustbpe", max_merges=6)
    assert result.faults == []
    for name in ("tiktoken",):
        found = pair(result, name, "rustbpe")
        first = found.first_difference
        assert found.agreement_class == "expected to differ"
        assert first is not None
        assert first.a is not None
        assert first.b is not None
        assert (first.step, first.is_tie) == (step, True)
        assert (first.a.left.text, first.a.right.text) == first_met
        assert (first.b.left.text, first.b.right.text) == smallest
        assert first.a.count == first.b.count


def test_a_corpus_that_parts_the_merges_and_not_the_text(compare: Compare) -> None:
    found = pair(compare("aaabdaaabac", "tiktoken", "rustbpe", max_merges=3), "tiktoken", "rustbpe")
    assert found.first_difference is not None
    assert (found.first_difference.step, found.first_difference.is_tie) == (2, True)
    assert [text.text for text in (*found.only_a, *found.only_b)] == ["aaa", "ab"]
    assert found.n_tokens_a == found.n_tokens_b == 5


def test_tokens_and_the_text_that_rules_learn_apart_are_counted(compare: Compare) -> None:
    found = pair(compare("dcba", "tiktoken", "rustbpe", max_merges=2), "tiktoken", "rustbpe")
    assert [text.text for text in found.only_a] == ["dc", "dcb"]
    assert [text.text for text in found.only_b] == ["ba", "cba"]
    assert (found.n_only_a, found.n_only_b, found.n_tokens_a, found.n_tokens_b) == (2, 2, 2, 2)
    assert found.counted_on == "training"


def test_a_trainer_with_another_rule_than_it_says_is_a_fault(compare: Compare) -> None:
    result = compare(HUGS, "priority", "planted-wrong-ties")
    wrong = [found for found in result.agreements if found.fault]
    assert {found.rule_a for found in wrong} >= {"smallest, raw order", "first met"}
    assert "largest" not in {found.rule_a for found in wrong}
    assert "they differ under one rule, 'first met', first at merge 2: 'h'+'ug' (3 times) and " in result.faults[2]
    assert "fault" in render_trainers([*result.verdicts, *result.agreements])


def test_parting_where_no_tie_explains_it_is_a_fault(compare: Compare) -> None:
    texts = "zz " * 40 + "\n\n" + "one of the others\n\n" * 6
    result = compare(texts, "planted-forgetful", "tiktoken", "rustbpe")
    assert [fault.split(" on ")[0] for fault in result.faults] == [
        "planted-forgetful and tiktoken",
        "planted-forgetful and rustbpe",
    ]
    assert "they differ under one rule, 'first met', first at merge 1" in result.faults[0]
    assert "they differ where there is none, first at merge 1: " in result.faults[1]
    assert "(12 times) and 'z'+'z' (40 times)" in result.faults[1]


def test_a_trainer_that_dies_or_is_not_there_has_a_verdict_and_the_others_go_on(compare_in_processes: Compare) -> None:
    result = compare_in_processes(HUGS, "tiktoken", "naive", "backtracking", "planted-absent", "planted-dying-trainer")
    status = {v.implementation: v.status for v in result.verdicts if v.model == "first met"}
    assert status == {
        "tiktoken": "right", "naive": "right", "backtracking": "refused", "planted-absent": "missing",
        "planted-dying-trainer": "crash",
    }  # fmt: skip
    assert pair(result, "tiktoken", "naive").first_difference is None
    assert all("planted-dying-trainer" in fault for fault in result.faults)
    records = [*result.verdicts, *result.agreements]
    rows = {row["trainer"]: row for row in plain_rows(tables(records)["trainers"].frame)}
    assert rows["naive"]["vs tiktoken"] == "P ="
    assert rows["planted-absent"]["vs tiktoken"] == "n/a"
    assert rows["tiktoken"]["rules"] == "first met"
    assert "does not train" in rows["backtracking"]["rules"]
    assert rows["planted-absent"]["rules"].startswith("missing: ")
    failures = {row["implementation"] for row in plain_rows(tables(records)["failures"].frame)}
    assert failures == {"planted-dying-trainer", "planted-absent"}


def test_rules_are_shared_where_they_can_be_and_else_the_closest() -> None:
    assert rules_to_compare(["first met", "largest"], ["largest", "shortest"]) == [("largest", "largest")]
    assert rules_to_compare(["smallest, gpt2 order"], ["largest, words", "smallest, raw order"]) == [
        ("smallest, gpt2 order", "smallest, raw order")
    ]
    assert rules_to_compare([], ["largest"]) == []


def test_pairs_are_counted_overlapping_after_the_merges_before() -> None:
    spec = spec_of("first met", 1)
    assert counts_after(["aaaa"], spec, [], [(b"a", b"a")]) == [3]
    assert counts_after(["aaaa", "aaa"], spec, [(b"a", b"a")], [(b"aa", b"aa"), (b"aa", b"a"), (b"a", b"a")]) == [
        1,
        1,
        0,
    ]


def test_learning_from_one_part_and_counting_the_other(compare: Compare, tmp_path: Path) -> None:
    texts = "\n\n".join(f"document {number} of many, with a few words" for number in range(200))
    found = pair(compare(texts, "tiktoken", "rustbpe"), "tiktoken", "rustbpe")
    assert found.counted_on == "held-out"
    assert 0 < found.n_counted_bytes < found.n_bytes


def test_a_narrow_terminal_gets_narrow_tables(compare: Compare) -> None:
    result = compare(HUGS, *DEFAULT_TRAINERS)
    text = render_trainers([*result.verdicts, *result.agreements], width=100)
    assert max(map(len, text.splitlines())) <= 100


def test_the_command_ends_with_1_on_a_fault(
    compare: Compare, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hugs.txt").write_text(HUGS, encoding="utf-8")
    arguments = ["check", "--trainers", "-e", "planted-wrong-ties|tiktoken", "-c", str(tmp_path / "hugs.txt")]
    monkeypatch.setattr(sys, "argv", ["bpebench", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert "they differ under one rule, 'first met'" in capsys.readouterr().out
