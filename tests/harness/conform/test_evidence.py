"""What a verdict rests on, and which failures are one fault."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

import pytest
from conform_stub import InProcess
from planted_bugs import Full, Right

import impls
from harness.conform.case import Case
from harness.conform.checks.over_texts import over_texts
from harness.conform.client import TargetClient
from harness.conform.pytest_class import ConformanceTests
from harness.conform.reference import Reference
from harness.conform.report import junit, render
from harness.conform.run import choose, run_checks
from harness.conform.verdicts import (
    CheckVerdict,
    ConformanceReport,
    FailingInput,
    NotAsked,
    Stage,
    mark_repeated,
)
from harness.outcome import Outcome
from harness.process.session import Failed, FailedError

Conform = Callable[..., ConformanceReport]


def test_what_ends_every_check_is_one_fault(conform: Conform) -> None:
    class Floats(Right):
        def encode(self, text: str) -> list[int]:
            return [float(i) for i in super().encode(text)]

    report = conform(Floats, "ids", "round-trip", "tokens")
    assert len(report.failed) > 1
    assert [verdict.check for verdict in report.faults] == ["ids"], [
        (v.check, v.stage, v.reason) for v in report.failed
    ]


def test_calls_without_an_answer_and_growth_are_one_fault() -> None:
    late = CheckVerdict(check="lengths", status="failed", stage="resources", reason="timeout: took longer than 10 s")
    grows = CheckVerdict(
        check="cost", status="failed", stage="resources", reason="on words time grows as length to the 2"
    )
    large = CheckVerdict(check="memory", status="failed", stage="resources", reason="9000 bytes a byte of text")
    mark_repeated([late, grows, large])
    assert [verdict.same_as for verdict in (late, grows, large)] == ["", "lengths", ""]


def test_nothing_passes_without_a_case(conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.conform.checks.offsets._texts", lambda case: [])

    class Offsets(Right):
        def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
            return "", []

    (verdict,) = conform(Offsets, "offsets").verdicts
    assert (verdict.status, verdict.reason) == ("not asked", "no case was judged")


class Grown:
    text, n_stable = "", 3

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        self.encode = encode

    @property
    def ids(self) -> list[int]:
        return self.encode(self.text)

    def append(self, text: str) -> None:
        self.text += text


@pytest.mark.parametrize("check", ["python-values", "batch", "threads"])
def test_nothing_passes_where_every_text_is_refused(conform: Conform, check: str) -> None:
    class Refuses(Full):
        def encode(self, text: str, **options: Any) -> list[int]:
            raise ValueError("no")

    (verdict,) = conform(Refuses, check).verdicts
    assert verdict.status == "not asked", verdict.reason


def test_texts_that_the_reference_refuses_are_not_judged(conform: Conform) -> None:
    model = impls.Model(tokens=(b"a", b"b", b"ab"), merges=((0, 1),), alphabet="chars")
    priority = impls.load("priority", model)

    class Answers:
        def encode(self, text: str) -> list[int]:
            return [1, 2, 0] if set(text) - {"a", "b"} else priority.encode(text)

        def decode(self, ids: list[int]) -> str:
            return priority.decode(ids)

    ids, round_trip = conform(Answers, "ids", "round-trip", reference="priority", model=model).verdicts
    assert (ids.status, 0 < ids.n_inputs < 2_000) == ("passed", True), ids.n_inputs
    assert re.fullmatch(r"\d,\d+ texts that the reference refuses are not judged", ids.reason)
    assert round_trip.status == "failed"


def test_a_refused_text_is_no_reason_to_die(conform: Conform) -> None:
    model = impls.Model(tokens=(b"a", b"b", b"ab"), merges=((0, 1),), alphabet="chars")
    priority = impls.load("priority", model)

    class Dies:
        def encode(self, text: str) -> list[int]:
            if "\ud83d" in text:
                raise FailedError(Failed(Outcome.CRASH, "killed by SIGSEGV"))
            return priority.encode(text)

        def decode(self, ids: list[int]) -> str:
            return priority.decode(ids)

    (verdict,) = conform(Dies, "bad-input", reference="priority", model=model).verdicts
    assert (verdict.status, "ends the process: crash" in verdict.reason) == ("failed", True), verdict.reason


def test_a_piece_refused_alone_is_not_concatenated(conform: Conform) -> None:
    class RefusesSpace(Right):
        def encode(self, text: str) -> list[int]:
            if text == " the":
                raise ValueError("not alone")
            ids: list[int] = super().encode(text)
            return ids

    (verdict,) = conform(RefusesSpace, "tokens").verdicts
    assert verdict.status == "failed", verdict.reason


@pytest.mark.parametrize(("check", "status"), [("incremental", "passed"), ("memory", "not asked")])
def test_a_target_that_refuses_what_the_reference_refuses_is_not_wrong(
    planted_model: impls.Model, monkeypatch: pytest.MonkeyPatch, check: str, status: str
) -> None:
    monkeypatch.setattr(InProcess, "peak_memory_bytes", 1 << 20)
    spec = impls.TrainingSpec(vocab_size=120, pattern="none", alphabet="chars")
    model = impls.train("priority", ["hello world, the cat sat on the mat " * 3], spec).model

    def open_target(environment: Mapping[str, str]) -> Any:
        return InProcess(lambda: impls.load("naive", model), environment)

    (verdict,) = run_checks(open_target, Reference("priority", "chars", model), choose([check])).verdicts
    assert verdict.status == status, verdict.reason


@pytest.mark.parametrize("check", ["offsets", "incremental"])
def test_nothing_passes_where_all_ids_are_wrong(conform: Conform, check: str) -> None:
    class Wrong(Right):
        def encode(self, text: str) -> list[int]:
            return [1, 2, 3]

        def encode_with_offsets(self, text: str) -> tuple[list[int], list[list[int]]]:
            return self.encode(text), [[7, 9]] * 3

        def incremental(self) -> Grown:
            return Grown(self.encode)

    (verdict,) = conform(Wrong, check).verdicts
    assert (verdict.status, verdict.n_inputs) == ("not asked", 0), verdict.reason
    assert "could not be compared" in verdict.reason


def test_a_verdict_says_what_it_rests_on(conform: Conform) -> None:
    (verdict,) = conform(Right, "ids").verdicts
    assert verdict.asked.calls > 0
    assert verdict.asked.texts >= verdict.n_inputs > 1_000
    assert verdict.asked.bytes > 10_000


def report_of(*verdicts: CheckVerdict) -> ConformanceReport:
    return ConformanceReport(target="t", reference="tiktoken", model="m", verdicts=list(verdicts), seconds=1.0)


def test_a_run_in_which_nothing_passed_does_not_conform() -> None:
    nothing = report_of(
        CheckVerdict(check="save-load", status="not offered"), CheckVerdict(check="ids", status="not asked")
    )
    assert not nothing.conforms
    assert "not judged" in render(nothing)
    assert not report_of(CheckVerdict(check="spellings", status="not offered")).conforms
    assert not report_of(
        CheckVerdict(check="bytes", status="passed"), CheckVerdict(check="ids", status="not asked")
    ).conforms
    ids = CheckVerdict(check="ids", status="same as reference")
    assert (
        report_of(ids, CheckVerdict(check="round-trip", status="not asked")).unjudged == "the round trip was not judged"
    )
    growth = CheckVerdict(check="cost", status="not asked")
    assert report_of(ids, growth, CheckVerdict(check="round-trip", status="passed")).conforms


def test_a_part_of_the_checks_passes_but_does_not_say_that_a_target_conforms(
    bpebench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = report_of(CheckVerdict(check="memory", status="passed"))
    assert (part.conforms, part.unjudged) == (False, "")
    monkeypatch.setattr("harness.conform.run.run", lambda *_, **__: part)
    ended = bpebench("conform", "naive", "--check", "memory")
    assert (ended.status, "the checks asked for passed: 1 passed" in ended.out) == (0, True), ended
    ended = bpebench("conform", "naive", "--check", "memory", "--json")
    document = json.loads(ended.out)
    assert (ended.status, document["conforms"]) == (0, False)
    assert document["verdict"] == "the checks asked for passed"


def test_ids_and_round_trip_are_judged_however_little_time_a_check_has(planted_model: impls.Model) -> None:
    reference = Reference("tiktoken", "planted", planted_model)

    def open_target(environment: Mapping[str, str]) -> Any:
        return InProcess(Right, environment)

    assert run_checks(open_target, reference, choose(["ids", "round-trip", "tokens"]), check_seconds=0.0).incomplete


def test_a_document_for_continuous_integration_is_not_green_where_nothing_was_judged() -> None:
    nothing = ElementTree.fromstring(junit(report_of(CheckVerdict(check="ids", status="not asked", reason="too slow"))))
    assert (nothing.get("errors"), nothing.get("skipped")) == ("1", "0")
    assert nothing.find(".//error") is not None
    good = report_of(CheckVerdict(check="ids", status="passed"), CheckVerdict(check="spellings", status="not offered"))
    fine = ElementTree.fromstring(junit(good))
    assert (fine.get("errors"), fine.get("skipped")) == ("0", "1")


def test_the_test_class_fails_where_nothing_was_judged() -> None:
    nothing = report_of(CheckVerdict(check="ids", status="not asked", reason="too slow"))
    with pytest.raises(pytest.fail.Exception, match="the ids were not judged"):
        ConformanceTests().test_conforms(nothing, "ids")


def test_the_verb_ends_with_1_where_nothing_could_be_judged(bpebench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = report_of(CheckVerdict(check="ids", status="not asked", reason="stopped by the clock"))
    monkeypatch.setattr("harness.conform.run.run", lambda *_, **__: nothing)
    ended = bpebench("conform", "naive", "--check", "ids")
    assert (ended.status, "not judged (the ids were not judged): 1 not asked" in ended.out) == (1, True), ended
    document = json.loads(bpebench("conform", "naive", "--check", "ids", "--json").out)
    assert document["conforms"] is False


def test_no_text_passes_no_check(planted_model: impls.Model) -> None:
    with TargetClient(lambda environment: InProcess(Right, environment)) as client:
        case = Case(client, Reference("tiktoken", "planted", planted_model))
        with pytest.raises(NotAsked, match="no text"):
            over_texts(case, [], case.agrees)


def test_what_is_wrong_of_single_calls_is_looked_at_before_threads_and_batches() -> None:
    long = FailingInput.of("abcdefgh", expected=[1], got=[2])
    short = FailingInput.of("a", expected=[1], got=[3])
    single = CheckVerdict(check="lengths", status="failed", stage="cache", counterexample=long)
    beside = [CheckVerdict(check=at, status="failed", stage=at, counterexample=short) for at in ("threads", "batch")]  # type: ignore[arg-type]
    once = CheckVerdict(check="ids", status="failed", stage="determinism", counterexample=short)
    assert report_of(once, *beside, single).first is single
    assert report_of(once, *beside).first is beside[0]


def test_what_hangs_on_earlier_texts_is_one_fault_whatever_the_texts() -> None:
    def of(stage: Stage, text: str | None, ids: list[int] | None = None) -> CheckVerdict:
        example = FailingInput.of(text, ids=ids, expected=[1], got=[2])
        return CheckVerdict(check=f"{stage} {text}", status="failed", stage=stage, counterexample=example)

    found = [of("cache", "a"), of("cache", "b"), of("determinism", "c"), of("cache", None, [1]), of("merges", "d")]
    mark_repeated(found)
    assert [bool(verdict.same_as) for verdict in found] == [False, True, True, False, False]


def test_a_fault_that_comes_and_goes_on_the_first_text_of_a_process_is_intermittent(planted_model: impls.Model) -> None:
    right = Reference("tiktoken", "planted", planted_model).ids("x")
    wrong = [0]
    answers = iter([right, right, right, wrong, right, wrong])

    class Sometimes(Right):
        def encode(self, text: str) -> list[int]:
            found = next(answers, right) if text == "x" else super().encode(text)
            assert isinstance(found, list)
            return found

    with TargetClient(lambda environment: InProcess(Sometimes, environment)) as client:
        case = Case(client, Reference("tiktoken", "planted", planted_model))
        client.history.append("x")
        assert case.explain("x", wrong, case.agrees).stage == "determinism"
