"""The checks the twelve bugs do not reach, each with a bug of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.conform.reference import Reference
from harness.conform.run import run_checks
from harness.conform.verdicts import CheckVerdict
from harness.outcome import Outcome
from harness.process.protocol import ErrorResult
from harness.process.session import Answer, Failed
from harness.targets import NotLoadable

_HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def model() -> impls.Model:
    spec = impls.TrainingSpec(vocab_size=400, pattern="gpt2", special_tokens=("<s>",))
    return impls.train("priority", ["hello world, the cat sat on the mat " * 3], spec).model


@pytest.fixture(scope="module")
def conform(model: impls.Model) -> Callable[..., CheckVerdict]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_HERE))
        from conform_stub import InProcess

    def run(bug: type[Right], *checks: str, target: type[Any] = InProcess, whole: bool = False, **options: Any) -> Any:
        reference = Reference("tiktoken", "small", model)
        report = run_checks(lambda environment: target(lambda: bug(model), environment), reference, checks, **options)
        return report if whole else report.verdicts[-1]

    run.target = InProcess  # type: ignore[attr-defined]

    return run


class Right:
    def __init__(self, model: impls.Model) -> None:
        self.tokenizer = impls.load("tiktoken", model)

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)


class BatchBackwards(Right):
    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts[::-1]]


class ArrayCut(Right):
    def encode_array(self, text: str) -> list[int]:
        return self.encode(text)[:5]


class BytesOfText(Right):
    def decode_bytes(self, ids: list[int]) -> bytes:
        return self.decode(ids).encode("utf-16")


class OffsetsInBytes(Right):
    def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
        starts, at = [], 0
        for i in ids:
            starts.append(at)
            at += len(self.tokenizer.decode_bytes([i]))
        return self.decode(ids), starts


class PiecesByBlank(Right):
    def pieces(self, text: str) -> list[str]:
        return text.split(" ")


class AllowsNone(Right):
    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return self.tokenizer.encode(text, disallowed_special=())


class SkipsUnknownIds(Right):
    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode([i for i in ids if 0 <= i < self.tokenizer.model.vocab_size])


class OneIdWrong(Right):
    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode([261 if i == 262 else i for i in ids])


class EverySeventhTime(Right):
    calls = 0

    def encode(self, text: str) -> list[int]:
        self.calls += 1
        return super().encode(text) + ([0] if self.calls % 7 == 0 else [])


class BySeed(Right):
    def __init__(self, model: impls.Model) -> None:
        super().__init__(model)
        self.other = os.environ.get("PYTHONHASHSEED") == "0"

    def encode(self, text: str) -> list[int]:
        return super().encode(text.replace("q", "k") if self.other else text)


class LoadsAnother(Right):
    def save(self, path: str) -> None:
        Path(path).write_text("", encoding="utf-8")

    def load(self, path: str) -> None:
        self.encode = lambda text: [0]  # type: ignore[method-assign]


class Panics(Right):
    def encode(self, text: str) -> list[int]:
        if "\x00" in text:
            raise KeyboardError("index out of bounds")
        return super().encode(text)


class KeyboardError(BaseException):
    pass


class Allows(Right):
    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return self.tokenizer.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)


@pytest.mark.parametrize(
    ("bug", "check", "stage"),
    [
        (BatchBackwards, "batch", "batch"),
        (ArrayCut, "spellings", "derived"),
        (BytesOfText, "spellings", "decode"),
        (OffsetsInBytes, "offsets", "offsets"),
        (PiecesByBlank, "transitions", "pieces"),
        (AllowsNone, "special-tokens", "special tokens"),
        (SkipsUnknownIds, "bad-input", "bad input"),
        (OneIdWrong, "tokens", "decode"),
        (EverySeventhTime, "ids", "determinism"),
        (EverySeventhTime, "state", "determinism"),
        (BySeed, "state", "determinism"),
        (LoadsAnother, "save-load", "saving"),
        (Panics, "ids", "process"),
    ],
)
def test_each_check_finds_what_it_asks_for(
    conform: Callable[..., CheckVerdict], bug: type[Right], check: str, stage: str
) -> None:
    verdict = conform(bug, check)
    assert (verdict.status, verdict.stage) == ("failed", stage), verdict.reason


def test_what_the_reference_does_as_well_is_no_failure(conform: Callable[..., CheckVerdict]) -> None:
    verdict = conform(Right, "round-trip")
    assert verdict.status == "same as reference"
    assert any("ud83d" in text for text in verdict.exceptions)


def test_what_is_not_there_is_not_offered(conform: Callable[..., CheckVerdict]) -> None:
    assert {conform(Right, check).status for check in ("batch", "offsets", "save-load")} == {"not offered"}


def test_time_that_grows_with_the_square_is_found(conform: Any) -> None:
    class Quadratic(conform.target):  # type: ignore[misc]
        def ask(self, operation: str, **arguments: Any) -> Any:
            if operation == "timed_encode":
                return Answer(len(arguments["text"]) ** 2 * 1e-8)
            return super().ask(operation, **arguments)

    verdict = conform(Right, "cost", target=Quadratic)
    assert (verdict.status, verdict.stage) == ("failed", "resources")
    assert "2.0" in verdict.reason


def test_memory_out_of_proportion_is_found(conform: Any) -> None:
    class Heavy(conform.target):  # type: ignore[misc]
        peak_memory_bytes = 1 << 20

        def ask(self, operation: str, **arguments: Any) -> Any:
            self.peak_memory_bytes += len(arguments.get("text", "")) * 2_000
            return super().ask(operation, **arguments)

    assert conform(Right, "memory", target=Heavy).stage == "resources"


def test_a_target_that_always_dies_is_given_up_and_every_check_has_its_verdict(conform: Any) -> None:
    class Dying(conform.target):  # type: ignore[misc]
        def ask(self, operation: str, **arguments: Any) -> Any:
            return (
                super().ask(operation, **arguments) if operation == "describe" else Failed(Outcome.CRASH, "died of it")
            )

    reports = conform(Right, "ids", "round-trip", "threads", "bad-input", target=Dying, whole=True)
    assert {verdict.status for verdict in reports.verdicts} == {"failed", "not asked"}
    assert reports.verdicts[0].stage == "process"
    assert "died of it" in reports.verdicts[-1].reason


def test_a_wrong_answer_is_reported_though_the_target_does_not_start_again(conform: Any) -> None:
    class Once(conform.target):  # type: ignore[misc]
        starts = 0

        def _start(self) -> Any:
            self.starts += 1
            if self.starts > 1:
                raise NotLoadable("out of licences")
            return super()._start()

    verdict = conform(EverySeventhTime, "ids", target=Once)
    assert verdict.status == "failed"
    assert verdict.counterexample is not None
    assert "out of licences" in verdict.reason


class Full(Allows):
    def __getattr__(self, name: str) -> Any:
        return getattr(self.tokenizer, name)


@pytest.mark.parametrize(
    "check",
    [
        *("spellings", "code-points", "decode-any-order", "offsets", "streaming-decode", "incremental"),
        *("lengths", "truncate", "cost", "tokens"),
    ],
)
def test_what_was_stopped_by_the_clock_is_incomplete(conform: Any, check: str) -> None:
    verdict = conform(Full, check, check_seconds=0.0)
    assert verdict.status == "incomplete"
    assert re.search(r"stopped by the clock after [\d,]+ ", verdict.reason), verdict.reason


def test_growth_names_the_families_it_did_not_measure(conform: Any) -> None:
    class Refuses(conform.target):  # type: ignore[misc]
        def ask(self, operation: str, **arguments: Any) -> Any:
            if operation in ("timed_encode", "timed_decode"):
                if operation == "timed_encode" and "  " in arguments["text"]:
                    return Failed.by(ErrorResult("ValueError", "no"))
                return Answer(1e-6 * len(arguments.get("text", arguments.get("ids"))))
            return super().ask(operation, **arguments)

    verdict = conform(Right, "cost", target=Refuses)
    assert verdict.status == "passed"
    assert re.search("not timed, since it refuses them: .*runs of ' '", verdict.reason), verdict.reason


def test_long_texts_left_out_of_bad_input_are_named(model: impls.Model, conform: Any) -> None:
    report = run_checks(
        lambda environment: conform.target(lambda: Right(model), environment),
        Reference("priority", "small", model),
        ["bad-input"],
    )
    assert "too slow for ' ' * 1000000" in report.verdicts[0].reason
