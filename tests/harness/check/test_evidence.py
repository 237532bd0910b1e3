"""No claim of a check without its evidence: who has been compared on what, and what was not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.check.agreement import CheckPlan, CheckResult, check
from harness.check.tasks import encode_corpus
from harness.check.trainers import TrainerPlan, TrainerResult, check_trainers
from harness.outcome import Outcome
from harness.process.pool import Pool
from harness.records import Agreement, NotCompared, TrainerAgreement, Verdict
from harness.report.headlines import headlines
from harness.report.tables import render_check, tables

_PLUGINS = Path(__file__).resolve().parent / "check_plugins"
WORDS = "the cat sat on the mat, THE END "

Checked = Callable[..., CheckResult]


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(_PLUGINS))
    monkeypatch.setenv("PYTHONPATH", str(_PLUGINS))
    impls.registry._plugins.cache_clear()
    yield
    impls.registry._plugins.cache_clear()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    impls.train("priority", [WORDS], impls.TrainingSpec(vocab_size=280)).model.save(path)
    return path


@pytest.fixture
def checked(tmp_path: Path, model: Path, here: None) -> Checked:
    def run(text: str, *implementations: str, **more: Any) -> CheckResult:
        corpus = tmp_path / "text.txt"
        corpus.write_text(text, encoding="utf-8")
        return check(CheckPlan(implementations, (str(model),), (str(corpus),), **more))

    return run


ONE_LONG_DOCUMENT = WORDS * 100


def test_who_is_slow_is_compared_with_all_others_on_the_slice_it_is_given(checked: Checked) -> None:
    result = checked(ONE_LONG_DOCUMENT, "naive", "priority", "planted-all-wrong", max_bytes=2_000)
    found = {(pair.a, pair.b): pair for pair in result.agreements}
    assert len(found) == 3
    assert found["naive", "priority"].n_differing_texts == 0
    assert found["naive", "planted-all-wrong"].n_differing_texts == found["naive", "planted-all-wrong"].n_texts == 1
    assert (found["naive", "planted-all-wrong"].n_bytes, found["priority", "planted-all-wrong"].n_bytes) == (200, 2_000)
    assert any(fault.startswith("naive and planted-all-wrong differ") for fault in result.faults)


def test_the_slow_are_given_their_slice_also_where_a_short_document_comes_first(checked: Checked) -> None:
    result = checked(f"a\n\n{ONE_LONG_DOCUMENT}", "naive", "planted-all-wrong", max_bytes=2_000)
    (found,) = result.agreements
    assert found.n_texts == 2
    assert 190 <= found.n_bytes <= 200


def test_a_slice_holds_a_character_however_little_is_asked_for(checked: Checked) -> None:
    result = checked("\U0001f600" * 40, "naive", "priority", max_bytes=1)
    assert [(found.n_texts, found.n_bytes) for found in result.agreements] == [(1, 4)]
    assert result.faults == []


@pytest.mark.parametrize("name", ["last-text", "texts-by-ids", "own-ids", "all-wrong"])
def test_a_decoder_that_only_answers_what_was_encoded_is_found_alone_and_on_one_text(
    checked: Checked, name: str
) -> None:
    result = checked("the cat", f"planted-{name}")
    (verdict,) = result.verdicts
    assert verdict.status == "mismatch"
    assert verdict.counterexample is not None
    assert result.faults != []


def test_two_that_were_asked_for_and_have_no_text_in_common_are_a_fault(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.process.pool.Pool.run", _without_slices)
    result = checked(ONE_LONG_DOCUMENT, "naive", "priority", max_bytes=2_000)
    assert result.agreements == []
    (pair,) = result.not_compared
    assert (pair.a, pair.b, pair.agreement_class) == ("naive", "priority", "provably equal")
    assert "naive and priority were not compared" in result.faults[0]
    records = [*result.verdicts, *result.agreements, *result.not_compared]
    assert "Not compared: naive and priority" in render_check(records)
    assert "P =" not in render_check(records)
    assert [row["status"] for row in tables(records)["agreement-pairs"].rows] == ["not compared"]
    assert headlines(records)[0].figure == "0 of 1"


def _without_slices(_: Pool, function: Callable[..., Any], tasks: list[tuple[Any, ...]], *others: object) -> list[Any]:
    """What every cell comes to where each is given its own slice and no other's."""
    return [function(*(task[:5] if function is encode_corpus else task)) for task in tasks]


def test_empty_documents_are_no_evidence(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        def documents(self) -> list[str]:
            return ["", ""]

    monkeypatch.setattr("harness.check.tasks.load_corpus", lambda *_, **__: Empty())
    result = checked("", "priority", "wordcount")
    assert [(verdict.check, verdict.n_texts) for verdict in result.verdicts] == [("load", 0)] * 2
    assert any(fault.startswith("priority on") and "there is no text" in fault for fault in result.faults)
    assert any(fault.startswith("priority and wordcount were not compared") for fault in result.faults)
    assert "not checked" in render_check(result.verdicts)


def test_pairs_of_which_one_does_not_run_are_named_and_the_rest_is_not_everything(checked: Checked) -> None:
    result = checked(WORDS, "priority", "wordcount", "planted-absent")
    assert result.faults == []
    assert {(pair.a, pair.b) for pair in result.not_compared} == {
        ("priority", "planted-absent"),
        ("wordcount", "planted-absent"),
    }
    assert "missing" in result.not_compared[0].reason
    assert "everything" not in result.summary.split(";")[0]
    assert "priority and planted-absent" in result.summary


@pytest.mark.parametrize("names", [("priority",), ("priority", "planted-absent")])
def test_nothing_compared_is_a_fault(checked: Checked, names: tuple[str, ...]) -> None:
    (fault,) = checked(WORDS, *names).faults
    assert fault.startswith("nothing was compared")


def test_the_last_line_says_on_how_much_the_claim_rests(checked: Checked) -> None:
    result = checked(ONE_LONG_DOCUMENT, "naive", "priority", "wordcount", max_bytes=2_000)
    assert result.summary == "everything that must agree agrees (3 comparisons, the smallest on 200 bytes)"


def test_a_text_that_is_also_compared_as_a_shorter_slice_counts_once(checked: Checked) -> None:
    result = checked(ONE_LONG_DOCUMENT, "naive", "priority", "planted-all-wrong", max_bytes=2_000)
    sizes = {verdict.implementation: (verdict.n_texts, verdict.n_bytes) for verdict in result.verdicts}
    assert sizes == {"naive": (1, 200), "priority": (1, 2_000), "planted-all-wrong": (1, 2_000)}
    compared = {found.a: (found.n_texts, found.n_differing_texts, found.n_bytes) for found in result.agreements}
    assert compared == {"naive": (1, 1, 200), "priority": (1, 1, 2_000)}


def test_no_two_that_must_agree_is_not_everything_that_must_agree(checked: Checked) -> None:
    assert checked(WORDS, "priority", "greedy").summary == "no fault; no two were compared that must agree"


def test_the_command_ends_with_1_where_nothing_was_compared(bpebench: Any, model: Path) -> None:
    arguments = ["check", "-m", str(model), "-c", "samples/tr", "-e", "^(priority|planted-absent)$"]
    ended = bpebench(*arguments)
    assert ended.status == 1
    assert "nothing was compared" in ended.out
    document = json.loads(bpebench(*arguments, "--json").out)
    assert [pair["b"] for pair in document["not_compared"]] == ["planted-absent"]


@pytest.mark.parametrize(
    "claim",
    [
        lambda: Agreement(a="a", b="b", model="m", corpus="c", agreement_class="provably equal", n_texts=0),
        lambda: Verdict(implementation="a", model="m", corpus="c", check="round-trip", status=Outcome.RIGHT),
        lambda: Verdict(implementation="a", model="m", corpus="c", check="train", status=Outcome.RIGHT),
        lambda: TrainerAgreement(a="a", b="b", rule="r", corpus="c"),
    ],
)
def test_a_record_cannot_claim_what_rests_on_nothing(claim: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"rests on no text|not compared"):
        claim()


def test_a_pair_compared_later_is_no_longer_shown_as_not_compared() -> None:
    fields = {"a": "naive", "b": "priority", "model": "m", "corpus": "c", "agreement_class": "provably equal"}
    missing = NotCompared(reason="no text that both encoded", **fields)  # type: ignore[arg-type]
    found = Agreement(n_texts=3, **fields)  # type: ignore[arg-type]
    assert [row["status"] for row in tables([missing])["agreement-pairs"].rows] == ["not compared"]
    assert [row["status"] for row in tables([missing, found])["agreement-pairs"].rows] == ["equal"]


@pytest.fixture
def trained(tmp_path: Path, here: None) -> Callable[..., TrainerResult]:
    def run(text: str, *trainers: str) -> TrainerResult:
        corpus = tmp_path / "text.txt"
        corpus.write_text(text, encoding="utf-8")
        return check_trainers(TrainerPlan(trainers, (str(corpus),), max_bytes=1_000))

    return run


@pytest.mark.parametrize("text", ["a", "all of this </w> is left out"])
def test_trainers_that_learn_nothing_are_not_compared(trained: Callable[..., TrainerResult], text: str) -> None:
    result = trained(text, "priority", "tiktoken")
    assert result.agreements == []
    assert {(pair.a, pair.b) for pair in result.not_compared} == {("priority", "tiktoken")}
    assert result.faults == ["nothing was compared: no two trainers learned a merge from the same text"]
    assert "=" not in {row["vs priority"] for row in tables(result.verdicts)["trainers"].rows}


def test_a_trainer_that_follows_no_rule_is_not_among_those_that_agree(trained: Callable[..., TrainerResult]) -> None:
    result = trained(WORDS, "priority", "tiktoken", "backtracking")
    assert result.faults == []
    assert result.summary.startswith("what was compared agrees where it must (")
    assert "tiktoken and backtracking" in result.summary
