"""Check, end to end: who is right, wrong, lossy, dying or absent has its verdict, and no claim is without evidence."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from harness import judge
from harness.check import tasks
from harness.check.agreement import CheckPlan, CheckResult, check, explaining_command
from harness.check.classes import relation
from harness.outcome import Outcome
from harness.records import Agreement, Counterexample, NotCompared, Text, Verdict
from harness.report.headlines import headlines
from harness.report.tables import render_terminal
from harness.report.tables.correctness import pair_rows
from harness.targets import PUBLISHED
from impls import Model
from impls.core.text.patterns import NAMED
from impls.core.text.sentencepiece_rules import SentencePieceRules

Checked = Callable[..., CheckResult]


@pytest.fixture(scope="module")
def model(saved: Any) -> str:
    return str(saved("the cat sat on the mat, THE END", vocab_size=280))


@pytest.fixture
def checked(tmp_path: Path, model: str, here: None) -> Checked:
    """A check in this process."""

    def run(text: str, *implementations: str, **more: Any) -> CheckResult:
        corpus = tmp_path / "text.txt"
        corpus.write_text(text, encoding="utf-8")
        return check(CheckPlan(implementations, (model,), (str(corpus),), **more))

    return run


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result(model: str, tmp_path_factory: pytest.TempPathFactory) -> CheckResult:
    """A check in processes, as it is, which some of the planted ones end."""
    text = tmp_path_factory.mktemp("texts") / "text.txt"
    text.write_text("the cat\n\nsat on the mat\n\nand the quick one ran to THE END of it\n\nbye\n", encoding="utf-8")
    planted = ("right", "one-in-a-million", "dying", "panicking", "unloadable", "absent", "misnamed", "leaving")
    names = ("priority", *(f"planted-{name}" for name in planted))
    return check(CheckPlan(names, (model,), (str(text),)))


def test_who_answers_is_right_and_who_cannot_has_a_typed_verdict(result: CheckResult) -> None:
    verdicts = {v.implementation.removeprefix("planted-"): v for v in result.verdicts}
    right = verdicts["right"]
    assert (right.status, right.check, verdicts["unloadable"].check) == ("right", "round-trip", "load")
    for name, status, reason in (
        ("dying", "crash", "the process ended with exit status 3"),
        ("panicking", "panic", "_Panic: index out of bounds"),
        ("unloadable", "crash", "RuntimeError: no such device"),
        ("absent", "missing", "planted_absent_package"),
        ("misnamed", "crash", "no module 'planted_no_such_module'"),
        ("leaving", "panic", "SystemExit: 0"),
    ):
        assert verdicts[name].status == status
        assert reason in verdicts[name].reason
    owed = {n.b: n.agreement_class for n in result.not_compared if n.a == "priority"}
    assert owed["planted-dying"] is not None
    assert owed["planted-absent"] is None


def test_two_swapped_ids_are_found_shrunk_and_explained_by_the_command_given(result: CheckResult) -> None:
    pairs = {(a.a, a.b): a for a in result.agreements}
    right, wrong = pairs["priority", "planted-right"], pairs["priority", "planted-one-in-a-million"]
    assert (right.n_texts, right.n_differing_texts, right.agreement_class) == (4, 0, "equal under conditions")
    assert wrong.n_differing_texts == 1
    text = wrong.counterexample.text.text
    assert ("q" in text, len(text)) == (True, 2)
    (fault,) = (fault for fault in result.faults if fault.startswith("priority and planted-one-in-a-million differ"))
    assert shlex.split(fault.partition("; why: ")[2]) == [
        "bpebench", "explain", "priority", "planted-one-in-a-million", "-m", wrong.model, "--escaped", text,
    ]  # fmt: skip
    assert not any("planted-right differ" in fault and "one-in" not in fault for fault in result.faults)


def test_that_command_names_the_file_of_a_published_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "model.tiktoken"
    path.write_text("YQ== 0\n")
    names = {"a": "mine.py", "b": PUBLISHED, "model": str(path), "corpus": ""}
    example = Counterexample(Text.of("é"), [0], [1])
    differing = Agreement(agreement_class="equal under conditions", n_texts=1, counterexample=example, **names)  # type: ignore[arg-type]
    assert f"bpebench explain mine.py {path} -m {path}" in explaining_command(differing)


def test_greedy_is_expected_to_differ(tmp_path: Path, hand_made: Any, here: None) -> None:
    hand_made("b+c a+b", alphabet="bytes", pattern=NAMED["gpt2"]).save(tmp_path / "model.json")
    (tmp_path / "text.txt").write_text("abc ab ab ab", encoding="utf-8")
    result = check(CheckPlan(("priority", "greedy"), (str(tmp_path / "model.json"),), (str(tmp_path / "text.txt"),)))
    (found,) = result.agreements
    assert (found.agreement_class, found.n_differing_texts, result.faults) == ("expected to differ", 1, [])


@pytest.mark.parametrize("name", ["lossy", "last-text", "texts-by-ids", "own-ids", "all-wrong"])
def test_a_decoder_that_only_knows_encoded_texts_is_found(checked: Checked, name: str) -> None:
    result = checked("The cat", f"planted-{name}")
    (verdict,) = result.verdicts
    assert verdict.status == "mismatch"
    assert name != "lossy" or verdict.counterexample.text.text == "A"
    assert result.faults[0].startswith(f"planted-{name} on")


@pytest.mark.parametrize("wrongly", [False, True])
def test_of_a_normalising_model_the_normal_form_must_come_back(tmp_path: Path, wrongly: bool) -> None:
    rules = SentencePieceRules(remove_extra_spaces=True)
    tokens = (b"a", b"b", "\u2581".encode(), "\u2581a".encode())
    model = Model(tokens=tokens, alphabet="chars", merge_rule="concatenation", sentencepiece=rules)
    model.save(tmp_path / "model.json")
    (tmp_path / "text.txt").write_text("  a   b  ", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        if wrongly:
            patch.setattr(judge, "round_trip_text", lambda model, text: text)
        found = tasks.encode_corpus("priority", str(tmp_path / "model.json"), str(tmp_path / "text.txt"), None, 1000)
    assert found.verdict.round_trip == "normalising"
    assert found.verdict.status == ("mismatch" if wrongly else "right")


def test_the_class_of_a_pair_follows_from_the_model() -> None:
    for name in ("naive", "wordcount", "bytelevel", "backtracking", "compiled"):
        assert relation(name, "priority").agreement_class == "provably equal"
    assert relation("priority", "tiktoken").agreement_class == "equal under conditions"
    assert relation("greedy", "tiktoken").must_agree is False
    on_marks = relation("priority", "tokenizers", sentencepiece=True)
    assert (on_marks.agreement_class, on_marks.must_agree) == ("equal under conditions", True)
    assert "Prepend and Replace" in on_marks.conditions
    assert relation("priority", "sentencepiece", sentencepiece=True).agreement_class == "provably equal"


# --- evidence --------------------------------------------------------------------------------------------------------


def test_what_is_claimed_says_on_how_much_it_rests(checked: Checked) -> None:
    result = checked("the cat sat on the mat, THE END " * 99, "naive", "priority", "planted-all-wrong", max_bytes=2_000)
    sizes = {(pair.a, pair.b): (pair.n_texts, pair.n_bytes, pair.n_differing_texts) for pair in result.agreements}
    assert sizes == {
        ("naive", "priority"): (1, 2_000, 0),
        ("naive", "planted-all-wrong"): (1, 2_000, 1),
        ("priority", "planted-all-wrong"): (1, 2_000, 1),
    }
    assert any(fault.startswith("naive and planted-all-wrong differ") for fault in result.faults)
    agreed = checked("the cat", "naive", "priority", "wordcount").summary
    assert agreed == "all pairs that must agree do (3 comparisons, the smallest on 7 bytes)"
    assert checked("the cat", "priority", "greedy").summary == "no fault; no pair that must agree was compared"


def test_pairs_of_which_one_does_not_run_are_named_and_the_rest_is_not_everything(checked: Checked) -> None:
    result = checked("the cat", "priority", "wordcount", "planted-absent")
    assert result.faults == []
    assert [(pair.a, pair.b) for pair in result.not_compared] == [
        ("priority", "planted-absent"), ("wordcount", "planted-absent"),
    ]  # fmt: skip
    assert "missing" in result.not_compared[0].reason
    assert result.summary.startswith("all compared pairs that must agree do (")
    assert "priority and planted-absent" in result.summary


def test_empty_documents_are_no_evidence(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        def documents(self) -> list[str]:
            return ["", ""]

    monkeypatch.setattr("harness.check.tasks.load_corpus", lambda *_, **__: Empty())
    result = checked("", "priority", "wordcount")
    assert [(verdict.check, verdict.n_texts) for verdict in result.verdicts] == [("load", 0)] * 2
    assert any(fault.startswith("priority on") and "there is no text" in fault for fault in result.faults)
    assert any(fault.startswith("priority and wordcount were not compared") for fault in result.faults)
    assert "not checked" in render_terminal(result.verdicts)
    records = [*result.verdicts, *result.agreements, *result.not_compared]
    assert "Not compared: priority and wordcount" in render_terminal(records)
    assert "P =" not in render_terminal(records)
    assert headlines(records)[0].figure == "0 of 1"


def test_nothing_compared_is_a_fault(checked: Checked, bpebench: Any, model: str) -> None:
    (fault,) = checked("the cat", "priority").faults
    assert fault.startswith("nothing was compared")
    ended = bpebench("check", "-m", model, "-c", "samples/tr", "-e", "^(priority|planted-absent)$", "--json")
    document = json.loads(ended.out)
    assert (ended.status, [pair["b"] for pair in document["not_compared"]]) == (1, ["planted-absent"])
    assert document["faults"] == [fault]


@pytest.mark.parametrize(
    "claim",
    [
        lambda: Agreement(a="a", b="b", model="m", corpus="c", agreement_class="provably equal", n_texts=0),
        lambda: Verdict(implementation="a", model="m", corpus="c", check="round-trip", status=Outcome.RIGHT),
    ],
)
def test_a_record_cannot_claim_what_rests_on_nothing(claim: Callable[[], object]) -> None:
    refused(ValueError, r"rests on no text|not compared", claim)


def test_a_pair_compared_later_is_no_longer_shown_as_not_compared() -> None:
    fields = {"a": "naive", "b": "priority", "model": "m", "corpus": "c", "agreement_class": "provably equal"}
    missing = NotCompared(reason="both encoded no common text", **fields)  # type: ignore[arg-type]
    found = Agreement(n_texts=3, **fields)  # type: ignore[arg-type]
    assert [row["status"] for row in pair_rows([missing])] == ["not compared"]
    assert [row["status"] for row in pair_rows([missing, found])] == ["equal"]
