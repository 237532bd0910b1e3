"""What a verdict rests on: targets that are slow, die or refuse, too little time, and which failures are one fault."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from conform_stub import InProcess, the_failure
from planted_state import WrongOnceInAThousand
from planted_wrapper import Full, Right

import impls
from harness.conform import case, run
from harness.conform.case import Case
from harness.conform.checks import asking
from harness.conform.checks import encoding as encoding_checks
from harness.conform.checks.catalogue import CHECKS
from harness.conform.client import TargetClient
from harness.conform.reference import Reference
from harness.conform.verdicts import (
    CheckVerdict,
    ConformanceReport,
    FailingInput,
    Incomplete,
    Stage,
    mark_repeated,
    overall,
)
from harness.outcome import Outcome
from harness.process.limits import Limits
from harness.process.protocol import ErrorResult
from harness.process.session import Answer, Failed, FailedError
from harness.targets import NotLoadable

Conform = Callable[..., ConformanceReport]
CHARS = impls.Model(tokens=(b"a", b"b", b"ab"), merges=((0, 1),), alphabet="chars")


def answering(answer: Callable[[str, dict[str, Any]], Any]) -> type[InProcess]:
    """Return a target of which some requests are answered by a function; where it gives None, by the object."""

    class Target(InProcess):
        peak_memory_bytes = 1 << 20

        def ask(self, operation: str, **arguments: Any) -> Any:
            self.peak_memory_bytes += len(arguments.get("text", "")) * 2_000
            found = answer(operation, arguments)
            return super().ask(operation, **arguments) if found is None else found

    return Target


def verdict_of(conform: Conform, check: str, answer: Callable[[str, dict[str, Any]], Any]) -> CheckVerdict:
    (verdict,) = conform(Right, check, target=answering(answer)).verdicts
    return verdict


def encoding(encode: Callable[[Any, str], Any], base: type[Right] = Right) -> type[Right]:
    return type("Encoding", (base,), {"encode": lambda self, text, **options: encode(self, text)})


def refuse(*given: Any) -> Any:
    raise ValueError("no")


# --- targets that are slow, die or refuse ----------------------------------------------------------------------


def test_time_and_memory_out_of_proportion_are_found_and_families_not_timed_are_named(conform: Conform) -> None:
    def quadratic(operation: str, arguments: dict[str, Any]) -> Any:
        return Answer(len(arguments["text"]) ** 2 * 1e-8) if operation == "timed_encode" else None

    cost = verdict_of(conform, "cost", quadratic)
    assert (cost.status, cost.stage, "2.0" in cost.reason) == ("failed", "resources", True), cost.reason
    assert verdict_of(conform, "memory", lambda operation, arguments: None).stage == "resources"

    def refuses(operation: str, arguments: dict[str, Any]) -> Any:
        if operation == "timed_encode" and "  " in arguments["text"]:
            return Failed.by(ErrorResult("ValueError", "no"))
        timed = operation in ("timed_encode", "timed_decode")
        return Answer(1e-6 * len(arguments.get("text", arguments.get("ids")))) if timed else None

    verdict = verdict_of(conform, "cost", refuses)
    assert verdict.status == "passed"
    assert re.search("not timed, since it refuses them or is too slow: .*runs of ' '", verdict.reason), verdict.reason


def test_growth_that_a_target_declares_of_pieces_is_noted_and_no_other(
    conform: Conform, planted_model: impls.Model
) -> None:
    split = planted_model.splitter.split

    def of_pieces(operation: str, arguments: dict[str, Any]) -> Any:
        squares = (len(piece) ** 2 for piece in split(arguments.get("text", "")))
        return Answer(1e-8 * sum(squares)) if operation == "timed_encode" else None

    def of_texts(operation: str, arguments: dict[str, Any]) -> Any:
        return Answer(1e-8 * len(arguments["text"]) ** 2) if operation == "timed_encode" else None

    declaring = type("Declaring", (Right,), {"time_exponent": 2.0})
    for wrong, answer, status, reason in (
        (declaring, of_pieces, "passed", "as it declares of long pieces: 0.01 s for 1,000, "),
        (declaring, of_texts, "failed", "on words time grows"),
        (Right, of_pieces, "failed", "on random small letters time grows"),
    ):
        (verdict,) = conform(wrong, "cost", target=answering(answer)).verdicts
        assert (verdict.status, verdict.reason.startswith(reason)) == (status, True), verdict.reason


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


def test_what_was_stopped_by_the_clock_is_incomplete(conform: Conform) -> None:
    for verdict in conform(Full, *(check.name for check in CHECKS), seconds=0.0).verdicts:
        assert verdict.status == "incomplete", verdict.check
        assert verdict.reason == "not asked: no time was left"


def test_what_would_take_a_slow_target_long_is_not_asked_and_said(
    planted_model: impls.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asking._longest_quick([(1_000, 2.0)], 1.5) == inf
    assert asking._longest_quick([(500, 0.1), (1_000, 0.2)], 1.5) == pytest.approx(7_500)
    assert asking._longest_quick([(500, 0.1), (1_000, 0.375), (1_000, 0.375)], 1.5) == pytest.approx(2_000, rel=0.1)
    monkeypatch.setattr(asking, "_longest_quick", lambda times, seconds: 4_999 if seconds == 1.5 else 600)
    monkeypatch.setattr(asking, "_FAST", 1e12)
    with TargetClient(lambda environment: InProcess(Full, environment)) as client:
        case = Case(client, Reference("tiktoken", "planted", planted_model))
        assert case.affordable(1)
        texts = ["a", "a" * 300, *(letter * 2_000 for letter in "abcde"), "a" * 5_000, "a" * 100_000]
        asking.ask_all(case, texts, ("encode", "count"))
    assert (case.n_inputs, case.longest_piece) == (4, 5_000)
    assert case.remarks == [
        "not asked: texts of 5,000 characters or more, of a slow target or reference",
        "not asked: 3 of the long texts that take a slow target long together",
        "2 texts were asked by encode and decode alone, of a slow target",
    ]


@pytest.mark.parametrize(("wrong", "verdict"), [(False, "incomplete"), (True, "does not conform")])
def test_a_slow_target_ends_in_time_failed_only_where_it_is_wrong(
    conform: Conform, monkeypatch: pytest.MonkeyPatch, wrong: bool, verdict: str
) -> None:
    monkeypatch.setattr(case, "OVERTIME_SECONDS", 2.0)

    def encode(self: Any, text: str, *options: Any, **named: Any) -> list[int]:
        time.sleep(len(text) / 1_000)  # all checks together ask a thousand times more than it has time for
        return Full.encode(self, text.lower() if wrong else text, *options, **named)

    impatient = type("Impatient", (InProcess,), {"limits": Limits(call_seconds=2.0)})  # it cuts no request
    slow, checks = type("Slow", (Full,), {"encode": encode}), (check.name for check in CHECKS)
    began = time.monotonic()
    report = conform(slow, *checks, target=impatient, seconds=3.0)
    assert report.verdict.startswith(verdict), report
    assert time.monotonic() - began < 60
    assert any(verdict.reason.startswith("stopped by the clock after") for verdict in report.verdicts)


def test_memory_is_not_judged_by_a_text_too_short_to_show_it(conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    hungry = answering(lambda operation, arguments: None)
    monkeypatch.setattr(hungry, "limits", Limits(call_seconds=1e-4))
    (verdict,) = conform(Right, "memory", target=hungry).verdicts
    assert (verdict.status, "62,500 characters" in verdict.reason) == ("incomplete", True), verdict.reason


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
                *(failed("cache", ids=[1]), failed("merges", "d")),
            ],
            [False, True, True, False, False],
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


def test_all_checks_together_keep_within_the_time(conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    now, given = [0.0], list[float]()

    def slow(check: object, case: object, seconds: float, verdict: object) -> None:
        given.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(run.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(run, "_run", slow)
    conform(Full, *(check.name for check in CHECKS), seconds=1800.0)
    assert len(given) == len(CHECKS) == 20
    assert given[0] == 4 * 1800 / 20
    assert sum(given) <= 1800
    assert min(given) >= 5


def test_a_check_is_charged_neither_for_what_precedes_its_first_request_nor_for_a_start(
    planted_model: impls.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("harness.conform.client.time.monotonic", lambda: now[0])

    class StartsSlowly(InProcess):
        def _start(self) -> Any:
            now[0] += 7
            return super()._start()

    with TargetClient(lambda environment: StartsSlowly(Right, environment)) as client:
        client.begin_check(5.0)
        now[0] += 100
        client.ids("x")
        client.fresh()
        assert isinstance(client.ids("x"), list)
        now[0] += 5
        with pytest.raises(Incomplete):
            client.ids("x")
