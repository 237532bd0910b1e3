"""What time a verdict rests on: targets that are slow or grow slow, shares of the clock, what it cuts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from math import inf
from typing import Any

import pytest
from conform_stub import InProcess, answering
from planted_history import when
from planted_wrapper import Full, Right
from refusals import refused

import impls
from harness.conform import case, run
from harness.conform.case import Case
from harness.conform.checks import asking
from harness.conform.checks.catalogue import CHECKS
from harness.conform.client import TargetClient
from harness.conform.reference import Reference
from harness.conform.report import ConformanceReport
from harness.conform.verdicts import CheckVerdict, Incomplete
from harness.generators.texts import prose
from harness.process.limits import Limits
from harness.process.protocol import ErrorResult
from harness.process.session import Answer, Failed

Conform = Callable[..., ConformanceReport]


def verdict_of(conform: Conform, check: str, answer: Callable[[str, dict[str, Any]], Any]) -> CheckVerdict:
    (verdict,) = conform(Right, check, target=answering(answer)).verdicts
    return verdict


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


def test_a_check_is_charged_from_its_first_request(planted_model: impls.Model, monkeypatch: pytest.MonkeyPatch) -> None:
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
        refused(Incomplete, None, client.ids, "x")


def test_what_was_stopped_by_the_clock_is_incomplete(conform: Conform) -> None:
    for verdict in conform(Full, *(check.name for check in CHECKS), seconds=0.0).verdicts:
        assert verdict.status == "incomplete", verdict.check
        assert verdict.reason == "not asked: no time left"


@pytest.mark.parametrize(("wrong", "verdict"), [(False, "incomplete"), (True, "does not conform")])
def test_slow_targets_end_in_time(conform: Conform, monkeypatch: pytest.MonkeyPatch, wrong: bool, verdict: str) -> None:
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
    assert any(verdict.reason.startswith("stopped at the time limit after") for verdict in report.verdicts)


def test_what_takes_a_slow_target_long_is_skipped(planted_model: impls.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asking._longest_quick([(1_000, 2.0)], 1.5) == inf
    assert asking._longest_quick([(500, 0.1), (1_000, 0.2)], 1.5) == pytest.approx(7_500)
    assert asking._longest_quick([(500, 0.1), (1_000, 0.375), (1_000, 0.375)], 1.5) == pytest.approx(2_000, rel=0.1)
    runs_last = [(400, 9.0), (2_000, 6.0), (65_536, 0.1)]  # of quadratic time if the text has many ranks
    assert [asking._longest_declared(runs_last, power) for power in (2.0, 1.0)] == [pytest.approx(1_000), inf]
    monkeypatch.setattr(asking, "_longest_quick", lambda times, seconds: 4_999 if seconds == 1.5 else 600)
    monkeypatch.setattr(asking, "_FAST", 1e12)
    with TargetClient(lambda environment: InProcess(Full, environment)) as client:
        case = Case(client, Reference("tiktoken", "planted", planted_model))
        assert case.affordable(1)
        texts = ["a", "a" * 300, *(letter * 2_000 for letter in "abcde"), "a" * 5_000, "a" * 100_000]
        asking.ask_all(case, texts, ("encode", "count"))
    assert (case.n_inputs, case.longest_piece) == (4, 5_000)
    assert case.remarks == [
        "not asked: texts of 5,000 characters or more: the target or reference is slow",
        "not asked: 3 long texts, together too slow for this target",
        "2 texts were asked with encode and decode only, since the target is slow",
    ]


def test_time_and_memory_out_of_proportion_are_found_and_families_not_timed_are_named(conform: Conform) -> None:
    def quadratic(operation: str, arguments: dict[str, Any]) -> Any:
        return Answer(len(arguments["text"]) ** 2 * 1e-8) if operation == "timed_encode" else None

    cost = verdict_of(conform, "cost", quadratic)
    assert (cost.status, cost.stage, "power of 2.0" in cost.reason) == ("failed", "resources", True), cost.reason
    assert verdict_of(conform, "memory", lambda operation, arguments: None).stage == "resources"

    def refuses(operation: str, arguments: dict[str, Any]) -> Any:
        if operation == "timed_encode" and "  " in arguments["text"]:
            return Failed.by(ErrorResult("ValueError", "no"))
        timed = operation in ("timed_encode", "timed_decode")
        return Answer(1e-6 * len(arguments.get("text", arguments.get("ids")))) if timed else None

    verdict = verdict_of(conform, "cost", refuses)
    assert verdict.status == "passed"
    assert re.search("not timed, since it refuses them or is too slow: .*runs of ' '", verdict.reason), verdict.reason


def test_declared_growth_of_pieces_is_noted_and_no_other(conform: Conform, planted_model: impls.Model) -> None:
    split = planted_model.splitter.split

    def of_pieces(operation: str, arguments: dict[str, Any]) -> Any:
        squares = (len(piece) ** 2 for piece in split(arguments.get("text", "")))
        return Answer(1e-8 * sum(squares)) if operation == "timed_encode" else None

    def of_texts(operation: str, arguments: dict[str, Any]) -> Any:
        return Answer(1e-8 * len(arguments["text"]) ** 2) if operation == "timed_encode" else None

    declaring = type("Declaring", (Right,), {"time_exponent": 2.0})
    for wrong, answer, status, reason in (
        (declaring, of_pieces, "passed", "as it declares for long pieces: 0.01 s for 1,000, "),
        (declaring, of_texts, "failed", "on words time grows"),
        (Right, of_pieces, "failed", "on random small letters time grows"),
    ):
        (verdict,) = conform(wrong, "cost", target=answering(answer)).verdicts
        assert (verdict.status, verdict.reason.startswith(reason)) == (status, True), verdict.reason


def test_memory_is_not_judged_by_a_text_too_short_to_show_it(conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    hungry = answering(lambda operation, arguments: None)
    monkeypatch.setattr(hungry, "limits", Limits(call_seconds=1e-4))
    (verdict,) = conform(Right, "memory", target=hungry).verdicts
    assert (verdict.status, "62,500 characters" in verdict.reason) == ("incomplete", True), verdict.reason


# --- a busy machine: clocks that tests plant ---------------------------------------------------------------------


def test_waiting_for_a_processor_makes_no_target_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = count(step=9.99)
    monkeypatch.setattr("harness.conform.client.time.monotonic", partial(next, count(step=10.0)))
    monkeypatch.setattr("harness.conform.client.waiting_seconds", lambda pid: next(waited))
    with TargetClient(lambda environment: InProcess(Right, environment)) as client:
        client.digests([prose(2_000, 0)])
        assert client.characters_per_second == pytest.approx(200_000)


def test_a_cut_search_of_earlier_texts_says_so(planted_model: impls.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.conform.client.time.monotonic", partial(next, count(step=1.0)))
    wrong = when(lambda self, text: next(self.numbers) > 5_000)
    with TargetClient(lambda environment: InProcess(wrong, environment)) as client:
        client.characters_per_second, client.deadline = 1e9, 0.0
        client.history = [f"w{k}" for k in range(8_000)]
        case = Case(client, Reference("tiktoken", "planted", planted_model))
        fault = case.explain("the end", [0], case.has_wrong_ids)
    assert re.fullmatch(r"right in a fresh process, wrong after [5-7],000 other texts; not shrunk .*", fault.reason)
