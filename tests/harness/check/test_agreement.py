"""Check, end to end: plug-ins that are right, wrong, lossy, dying or absent, each with its verdict."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import impls
from harness import judge
from harness.check import tasks
from harness.check.agreement import CheckPlan, CheckResult, check, explaining_command
from harness.check.classes import relation
from harness.records import Agreement, Counterexample, Verdict
from harness.records.schema import Text
from harness.targets.spec import PUBLISHED
from impls import Model
from impls.core.text.sentencepiece_rules import SentencePieceRules

_PLUGINS = Path(__file__).resolve().parent / "check_plugins"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> CheckResult:
    folder = tmp_path_factory.mktemp("check")
    model = folder / "model.json"
    impls.train("priority", ["the cat sat on the mat, THE END"], impls.TrainingSpec(vocab_size=280)).model.save(model)
    text = folder / "text.txt"
    text.write_text("the cat\n\nsat on the mat\n\nand the quick one ran to THE END of it\n\nbye\n", encoding="utf-8")
    plan = CheckPlan(
        (
            "priority", "greedy", "planted-right", "planted-one-in-a-million", "planted-lossy", "planted-dying",
            "planted-panicking", "planted-unloadable", "planted-absent", "planted-misnamed", "planted-leaving",
        ),
        (str(model),),
        (str(text),),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_PLUGINS))
        patch.setenv("PYTHONPATH", str(_PLUGINS))
        impls.registry._plugins.cache_clear()
        try:
            return check(plan)
        finally:
            impls.registry._plugins.cache_clear()


def _verdict(result: CheckResult, name: str) -> Verdict:
    return next(v for v in result.verdicts if v.implementation == f"planted-{name}")


def test_a_right_plugin_is_ok_and_agrees_with_ours(result: CheckResult) -> None:
    assert _verdict(result, "right").status == "right"
    found = next(a for a in result.agreements if {a.a, a.b} == {"priority", "planted-right"})
    assert (found.n_differing_texts, found.n_texts) == (0, 4)
    assert found.agreement_class == "equal under conditions"
    assert not any(
        "planted-right and" in fault or "and planted-right differ" in fault
        for fault in result.faults
        if "one-in" not in fault and "lossy" not in fault
    )


def test_two_swapped_ids_are_found_and_shrunk(result: CheckResult) -> None:
    found = next(a for a in result.agreements if {a.a, a.b} == {"priority", "planted-one-in-a-million"})
    assert found.n_differing_texts == 1
    assert found.counterexample is not None
    assert "q" in found.counterexample.text.text
    assert len(found.counterexample.text.text) == 2
    assert any(fault.startswith("priority and planted-one-in-a-million differ") for fault in result.faults)


def test_a_text_that_does_not_come_back_is_a_mismatch(result: CheckResult) -> None:
    verdict = _verdict(result, "lossy")
    assert verdict.status == "mismatch"
    assert verdict.counterexample is not None
    assert len(verdict.counterexample.text.text) == 1
    assert any(fault.startswith("planted-lossy on") for fault in result.faults)


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("dying", "crash", "the process ended with exit status 3"),
        ("panicking", "panic", "_Panic: index out of bounds"),
        ("unloadable", "crash", "RuntimeError: no such device"),
        ("absent", "missing", "planted_absent_package"),
        ("misnamed", "crash", "no module 'planted_no_such_module'"),
        ("leaving", "panic", "SystemExit: 0"),
    ],
)
def test_what_cannot_answer_has_a_typed_verdict(result: CheckResult, name: str, status: str, reason: str) -> None:
    verdict = _verdict(result, name)
    assert verdict.status == status
    assert reason in verdict.reason


def test_a_pair_is_owed_a_comparison_unless_one_of_them_cannot_run(result: CheckResult) -> None:
    owed = {
        n.b if n.a == "priority" else n.a: n.agreement_class for n in result.not_compared if "priority" in (n.a, n.b)
    }
    assert owed["planted-dying"] is not None
    assert owed["planted-absent"] is None


def test_a_fault_gives_the_command_that_explains_it(result: CheckResult) -> None:
    commands = [shlex.split(fault.partition("; why: ")[2]) for fault in result.faults if "; why: " in fault]
    assert commands
    differing = {(a.a, a.b, a.model, a.counterexample.text.text) for a in result.agreements if a.counterexample}
    for bpebench, verb, a, b, m, model, escaped, text in commands:
        assert (bpebench, verb, m, escaped) == ("bpebench", "explain", "-m", "--escaped")
        assert (a, b, model, text.encode().decode("unicode_escape")) in differing


def test_that_command_names_the_file_of_a_published_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "model.tiktoken"
    path.write_text("YQ== 0\n")
    example = Counterexample(Text.of("é"), [0], [1])
    differing = Agreement(
        a="mine.py",
        b=PUBLISHED,
        model=str(path),
        corpus="",
        agreement_class="equal under conditions",
        n_texts=1,
        counterexample=example,
    )
    assert f"bpebench explain mine.py {path} -m {path}" in explaining_command(differing)


def test_greedy_is_expected_to_differ_and_its_share_is_measured(result: CheckResult) -> None:
    found = next(a for a in result.agreements if {a.a, a.b} == {"priority", "greedy"})
    assert found.agreement_class == "expected to differ"
    assert not any("greedy" in fault for fault in result.faults)
    if found.n_differing_texts:
        assert found.differing_piece_share is not None
        assert 0 < found.differing_piece_share <= 1


def test_two_ids_swapped_once_in_a_million_are_found(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    impls.train("priority", ["the cat sat on the mat"], impls.TrainingSpec(vocab_size=256)).model.save(model)
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(["the quick brown fox jumps over the lazy dog"] * 30_000), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_PLUGINS))
        patch.setenv("PYTHONPATH", str(_PLUGINS))
        impls.registry._plugins.cache_clear()
        try:
            plan = CheckPlan(("compiled", "planted-every-millionth"), (str(model),), (str(text),), fast_factor=20)
            found = check(plan)
        finally:
            impls.registry._plugins.cache_clear()
    assert [agreement.n_differing_texts for agreement in found.agreements] == [1]
    assert any("compiled and planted-every-millionth differ" in fault for fault in found.faults)


def test_the_class_of_a_pair_follows_from_the_model() -> None:
    for name in ("naive", "wordcount", "bytelevel", "backtracking", "compiled"):
        assert relation(name, "priority").agreement_class == "provably equal"
    assert relation("priority", "tiktoken").agreement_class == "equal under conditions"
    assert relation("greedy", "tiktoken").must_agree is False
    on_marks = relation("priority", "tokenizers", sentencepiece=True)
    assert on_marks.agreement_class == "equal under conditions"
    assert "Prepend and Replace" in on_marks.conditions
    assert on_marks.must_agree
    assert relation("priority", "sentencepiece", sentencepiece=True).agreement_class == "provably equal"


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
