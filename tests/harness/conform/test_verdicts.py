"""What a verdict rests on: targets that die or refuse, which failures are one fault, and what a report says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from conform_stub import InProcess, answering, the_failure
from planted_state import WrongOnceInAThousand
from planted_wrapper import Full, Right

import impls
from harness.conform.case import Case
from harness.conform.checks import encoding as encoding_checks
from harness.conform.client import TargetClient
from harness.conform.reference import Reference
from harness.conform.report import ConformanceReport, mark_repeated, overall
from harness.conform.verdicts import CheckVerdict, FailingInput, Stage
from harness.outcome import Outcome
from harness.process.session import Failed, FailedError
from harness.targets import NotLoadable

Conform = Callable[..., ConformanceReport]
CHARS = impls.Model(tokens=(b"a", b"b", b"ab"), merges=((0, 1),), alphabet="chars")


def encoding(encode: Callable[[Any, str], Any], base: type[Right] = Right) -> type[Right]:
    return type("Encoding", (base,), {"encode": lambda self, text, **options: encode(self, text)})


def refuse(*given: Any) -> Any:
    raise ValueError("no")


# --- targets that die or refuse ----------------------------------------------------------------------------------


def test_a_target_that_always_dies_is_given_up_and_every_check_has_its_verdict(conform: Conform) -> None:
    dying = answering(lambda operation, _: None if operation == "describe" else Failed(Outcome.CRASH, "died of it"))
    verdicts = conform(Right, "ids", "round-trip", "threads", "bad-input", target=dying).verdicts
    assert {verdict.status for verdict in verdicts} == {"failed", "not asked"}
    assert verdicts[0].stage == "process"
    assert "died of it" in verdicts[-1].reason


def test_a_wrong_answer_is_reported_though_the_target_does_not_start_again(conform: Conform) -> None:
    class Once(InProcess):
        starts = 0

        def _start(self) -> Any:
            self.starts += 1
            if self.starts > 1:
                raise NotLoadable("out of licences")
            return super()._start()

    failure = the_failure(conform(WrongOnceInAThousand, "ids", target=Once))
    assert (failure.counterexample is not None, "out of licences" in failure.reason) == (True, True)


@pytest.mark.parametrize("check", ["python-values", "batch", "threads"])
def test_nothing_passes_where_every_text_is_refused(conform: Conform, check: str) -> None:
    (verdict,) = conform(encoding(refuse, Full), check).verdicts
    assert verdict.status == "not asked", verdict.reason


@pytest.mark.parametrize("check", ["offsets", "incremental"])
def test_nothing_passes_where_all_ids_are_wrong(conform: Conform, check: str) -> None:
    class Wrong(Right):
        def encode(self, text: str) -> list[int]:
            return [1, 2, 3]

        def encode_with_offsets(self, text: str) -> tuple[list[int], list[list[int]]]:
            return [1, 2, 3], [[7, 9]] * 3

        def incremental(self) -> Any:
            return type("Same", (), {"ids": [1, 2, 3], "append": lambda self, text: None})()

    (verdict,) = conform(Wrong, check).verdicts
    assert (verdict.status, verdict.n_inputs) == ("not asked", 0), verdict.reason
    assert "could not be compared" in verdict.reason


def test_texts_that_the_reference_refuses_are_not_judged_but_no_reason_to_die(conform: Conform) -> None:
    priority = impls.load("priority", CHARS)

    class Answers:
        decode = staticmethod(priority.decode)

        def encode(self, text: str) -> list[int]:
            if "\ud83d" in text:
                raise FailedError(Failed(Outcome.CRASH, "killed by SIGSEGV"))
            return [1, 2, 0] if set(text) - {"a", "b"} else priority.encode(text)

    checks = ("ids", "round-trip", "bad-input")
    ids, round_trip, bad_input = conform(Answers, *checks, reference="priority", model=CHARS).verdicts
    assert (ids.status, 0 < ids.n_inputs < 2_000) == ("passed", True), ids.n_inputs
    assert re.fullmatch(r"\d,\d+ texts that the reference refuses are not judged", ids.reason)
    assert round_trip.status == "failed"
    assert "ends the process: crash" in bad_input.reason
    (grown,) = conform(lambda: priority, "incremental", reference="priority", model=CHARS).verdicts
    assert grown.status == "passed", grown.reason


def test_no_text_passes_no_check(conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding_checks, "texts_for", lambda case: [])
    (verdict,) = conform(Right, "ids").verdicts
    assert (verdict.status, verdict.reason) == ("not asked", "no case was judged")


def test_a_fault_that_comes_and_goes_on_the_first_text_of_a_process_is_intermittent(planted_model: impls.Model) -> None:
    right = Reference("tiktoken", "planted", planted_model).ids("x")
    wrong = [0]
    answers = iter([right, right, right, wrong, right, wrong])
    sometimes = encoding(lambda self, text: next(answers, right) if text == "x" else Right.encode(self, text))
    with TargetClient(lambda environment: InProcess(sometimes, environment)) as client:
        case = Case(client, Reference("tiktoken", "planted", planted_model))
        client.history.append("x")
        assert case.explain("x", wrong, case.has_wrong_ids).stage == "determinism"


# --- which failures are one fault, and what a report says --------------------------------------------------------


def test_what_ends_every_check_is_one_fault_and_a_verdict_counts_what_was_asked(conform: Conform) -> None:
    floats = encoding(lambda self, text: [float(i) for i in Right.encode(self, text)])
    report = conform(floats, "ids", "round-trip", "tokens")
    assert len(report.failed) > 1
    assert [verdict.check for verdict in report.faults] == ["ids"], report.failed
    (verdict,) = conform(Right, "ids").verdicts
    assert verdict.n_inputs > 1_000


def failed(stage: Stage, text: str | None = None, reason: str = "", **example: Any) -> CheckVerdict:
    given = FailingInput.of(text, expected=[1], got=[2], **example) if text or example else None
    return CheckVerdict(
        check=f"{stage} {text}{reason}", status="failed", stage=stage, reason=reason, counterexample=given
    )


@pytest.mark.parametrize(
    ("verdicts", "repeated"),
    [
        (
            [
                failed("resources", reason="timeout: took longer than 10 s"),
                failed("resources", reason="on words time grows as length to the 2"),
                failed("resources", reason="9000 bytes a byte of text"),
            ],
            [False, True, False],
        ),
        (
            [
                *(failed("cache", "a"), failed("cache", "b"), failed("determinism", "c")),
                *(failed("cache", ids=[1]), failed("merges", "d"), failed("bad input", "e", "after None other ids")),
                *(failed("bad input", "f", "after a batch no ids"), failed("bad input", "g", "it decodes")),
            ],
            [False, True, True, False, False, False, True, False],
        ),
    ],
)
def test_what_has_one_cause_is_one_fault(verdicts: list[CheckVerdict], repeated: list[bool]) -> None:
    mark_repeated(verdicts)
    assert [bool(verdict.same_as) for verdict in verdicts] == repeated


def report_of(*verdicts: CheckVerdict) -> ConformanceReport:
    return ConformanceReport(target="t", reference="tiktoken", model="m", verdicts=list(verdicts), seconds=1.0)


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ("save=not offered ids=not asked", "not judged (the ids were not judged)"),
        ("spellings=not offered", "not judged (no check could judge anything)"),
        ("ids=same as reference round-trip=not asked", "not judged (the round trip was not judged)"),
        ("ids=same as reference cost=not asked round-trip=passed", "conforms"),
        ("ids=passed cost=incomplete round-trip=passed", "incomplete (cost)"),
        ("ids=incomplete round-trip=incomplete cost=not asked", "incomplete (ids, round-trip)"),
        ("memory=passed", "the checks asked for passed"),
        ("ids=passed memory=failed", "does not conform"),
    ],
)
def test_the_verdict_follows_from_the_statuses(statuses: str, verdict: str) -> None:
    pairs = re.findall(r"([\w-]+)=([a-z ]+?)(?= [\w-]+=|$)", statuses)
    assert overall(dict(pairs)) == verdict


@pytest.mark.parametrize(
    ("status", "ends", "says"),
    [("passed", 0, "the checks asked for passed: 1 passed"), ("not asked", 1, "not judged (no check")],
)
def test_the_verb_ends_with_0_only_where_something_was_judged(
    bpebench: Any, monkeypatch: pytest.MonkeyPatch, status: Any, ends: int, says: str
) -> None:
    report = report_of(CheckVerdict(check="memory", status=status, reason="too slow"))
    monkeypatch.setattr("harness.conform.run.run", lambda *_, **__: report)
    ended = bpebench("conform", "naive", "--check", "memory")
    assert (ended.status, says in ended.out) == (ends, True), ended
    assert json.loads(bpebench("conform", "naive", "--check", "memory", "--json").out)["conforms"] is False
