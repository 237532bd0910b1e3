"""What checks say of targets that are slow, large, die or refuse, and with too little time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conform_stub import InProcess
from planted_bugs import Full, Right
from planted_state import WrongOnceInAThousand

from harness.conform.verdicts import CheckVerdict, ConformanceReport
from harness.outcome import Outcome
from harness.process.protocol import ErrorResult
from harness.process.session import Answer, Failed
from harness.targets import NotLoadable

Conform = Callable[..., ConformanceReport]


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


def test_what_the_reference_does_as_well_is_no_failure(conform: Conform) -> None:
    (verdict,) = conform(Right, "round-trip").verdicts
    assert verdict.status == "same as reference"
    assert any("ud83d" in text for text in verdict.exceptions)


def test_time_and_memory_out_of_proportion_are_found(conform: Conform) -> None:
    def quadratic(operation: str, arguments: dict[str, Any]) -> Any:
        return Answer(len(arguments["text"]) ** 2 * 1e-8) if operation == "timed_encode" else None

    cost = verdict_of(conform, "cost", quadratic)
    assert (cost.status, cost.stage, "2.0" in cost.reason) == ("failed", "resources", True), cost.reason
    assert verdict_of(conform, "memory", lambda operation, arguments: None).stage == "resources"


def test_growth_names_the_families_it_did_not_measure(conform: Conform) -> None:
    def refuses(operation: str, arguments: dict[str, Any]) -> Any:
        if operation == "timed_encode" and "  " in arguments["text"]:
            return Failed.by(ErrorResult("ValueError", "no"))
        if operation not in ("timed_encode", "timed_decode"):
            return None
        return Answer(1e-6 * len(arguments.get("text", arguments.get("ids"))))

    verdict = verdict_of(conform, "cost", refuses)
    assert verdict.status == "passed"
    assert re.search("not timed, since it refuses them: .*runs of ' '", verdict.reason), verdict.reason


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

    (verdict,) = conform(WrongOnceInAThousand, "ids", target=Once).verdicts
    assert verdict.status == "failed"
    assert verdict.counterexample is not None
    assert "out of licences" in verdict.reason


def test_what_was_stopped_by_the_clock_is_incomplete(conform: Conform) -> None:
    class All(Full):
        def incremental(self) -> Any:
            return self.tokenizer.incremental()

    checks = (
        *("spellings", "code-points", "decode-any-order", "offsets", "streaming-decode", "incremental"),
        *("lengths", "truncate", "cost", "tokens"),
    )
    for verdict in conform(All, *checks, check_seconds=0.0).verdicts:
        assert verdict.status == "incomplete", verdict.check
        assert re.search(r"stopped by the clock after [\d,]+ ", verdict.reason), verdict.reason


def test_long_texts_left_out_of_bad_input_are_named(conform: Conform) -> None:
    (verdict,) = conform(Right, "bad-input", reference="priority").verdicts
    assert "too slow for ' ' * 1000000" in verdict.reason
