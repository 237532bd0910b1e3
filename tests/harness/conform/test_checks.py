"""The checks the twelve bugs do not reach, each with a bug of its own; and the verb, its files, the test class."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import impls
from harness.cli import main
from harness.conform.checks.catalogue import CHECKS
from harness.conform.reference import Reference
from harness.conform.run import run_checks
from harness.conform.target import TargetFailed
from harness.conform.verdicts import CheckVerdict, ConformanceReport
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


@pytest.mark.parametrize(
    ("bug", "check", "stage"),
    [
        (BatchBackwards, "batch", "batch"),
        (ArrayCut, "array", "batch"),
        (BytesOfText, "bytes", "decode"),
        (OffsetsInBytes, "offsets", "offsets"),
        (PiecesByBlank, "concatenation", "pieces"),
        (AllowsNone, "special-tokens", "special tokens"),
        (SkipsUnknownIds, "bad-input", "bad input"),
        (OneIdWrong, "decode-every-id", "decode"),
        (EverySeventhTime, "ids", "determinism"),
        (EverySeventhTime, "repeated", "determinism"),
        (BySeed, "processes", "determinism"),
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
    assert {conform(Right, check).status for check in ("batch", "bytes", "offsets", "save-load")} == {"not offered"}


def test_time_that_grows_with_the_square_is_found(conform: Any) -> None:
    class Quadratic(conform.target):  # type: ignore[misc]
        def call(self, operation: str, seconds: float | None = None, **arguments: Any) -> Any:
            if operation == "timed_encode":
                return len(arguments["text"]) ** 2 * 1e-8
            return super().call(operation, seconds, **arguments)

    verdict = conform(Right, "growth", target=Quadratic)
    assert (verdict.status, verdict.stage) == ("failed", "resources")
    assert "2.0" in verdict.reason


def test_memory_out_of_proportion_is_found(conform: Any) -> None:
    class Heavy(conform.target):  # type: ignore[misc]
        peak_memory_bytes = 1 << 20

        def call(self, operation: str, seconds: float | None = None, **arguments: Any) -> Any:
            self.peak_memory_bytes += len(arguments.get("text", "")) * 2_000
            return super().call(operation, seconds, **arguments)

    assert conform(Right, "memory", target=Heavy).stage == "resources"


def test_a_target_that_always_dies_is_given_up_and_every_check_has_its_verdict(conform: Any) -> None:
    class Dying(conform.target):  # type: ignore[misc]
        def call(self, operation: str, seconds: float | None = None, **arguments: Any) -> Any:
            raise TargetFailed("crash", "died of it")

        def encode_each(self, texts: list[str]) -> list[Any]:
            raise TargetFailed("crash", "died of it")

    reports = conform(Right, "ids", "round-trip", "threads", "bad-input", target=Dying, whole=True)
    assert {verdict.status for verdict in reports.verdicts} == {"failed", "not asked"}
    assert reports.verdicts[0].stage == "process"
    assert "died of it" in reports.verdicts[-1].reason


def test_a_wrong_answer_is_reported_though_the_target_does_not_start_again(conform: Any) -> None:
    class Once(conform.target):  # type: ignore[misc]
        starts = 0

        def restart(self) -> None:
            self.starts += 1
            if self.starts > 1:
                raise NotLoadable("out of licences")
            super().restart()

    verdict = conform(EverySeventhTime, "ids", target=Once)
    assert verdict.status == "failed"
    assert verdict.counterexample is not None
    assert "out of licences" in verdict.reason


def test_what_was_stopped_by_the_clock_half_way_has_not_passed(conform: Any) -> None:
    verdict = conform(Right, "ids", check_seconds=0.0)
    assert verdict.status == "not asked"
    assert "stopped by the clock" in verdict.reason


# --- from outside ------------------------------------------------------------------------------------------------

_ADAPTER = """
import impls
from harness.conform.run import load_model

_tokenizer = impls.load("priority", load_model({model!r}))

class Lower:
    def encode(self, text):
        return _tokenizer.encode(text.lower(), disallowed_special=())

    def decode(self, ids):
        return _tokenizer.decode(ids)

class Right(Lower):
    def encode(self, text):
        return _tokenizer.encode(text, disallowed_special=())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, model: impls.Model) -> Path:
    folder = tmp_path_factory.mktemp("adapter")
    model.save(folder / "small.json")
    source = _ADAPTER.format(model=str(folder / "small.json"))
    (folder / "conform_adapter.py").write_text(source, encoding="utf-8")
    return folder


def bpebench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["bpebench", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return int(stop.value.code or 0), out if stop.value.code != 2 else err


def test_the_verb_tells_what_is_wrong_in_a_table_and_in_files(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    checks = ("--check", "ids", "--check", "batch", "-m", "small.json")
    status, out = bpebench(capsys, monkeypatch, "conform", "conform_adapter:Lower", *checks, "--junit", "junit.xml")
    assert status == 1
    assert "does not conform: 1 failed, 1 not offered" in out
    assert re.search("look first at normalisation: ids on '[A-Z]'", out)
    suite = ElementTree.parse(folder / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    failure = suite.find(".//failure")
    assert failure is not None
    assert failure.get("type") == "normalisation"


def test_a_target_that_conforms_is_status_0_and_one_document(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    arguments = ("conform_adapter:Right", "--check", "ids", "--check", "processes", "-m", "small.json", "--json")
    status, out = bpebench(capsys, monkeypatch, "conform", *arguments)
    document = json.loads(out)
    assert (status, document["conforms"]) == (0, True)
    assert [verdict["status"] for verdict in document["verdicts"]] == ["passed", "passed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_module:Thing"], "no module no_such_module"),
        (["conform_adapter:Nothing"], "no Nothing"),
        (["json:loads"], "json"),
        (["conform_adapter:Right", "--check", "frobnicate"], "unknown check 'frobnicate'"),
        (["conform_adapter:Right", "--reference", "nobody"], "unknown implementation 'nobody'"),
    ],
)
def test_what_cannot_be_judged_is_status_2_and_one_line(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    status, err = bpebench(capsys, monkeypatch, "conform", *arguments, "-m", "small.json")
    assert status == 2
    assert message in err.splitlines()[-1]


def test_the_test_class_gives_a_test_a_check(folder: Path) -> None:
    source = """
from harness.conform.pytest_class import ConformanceTests

class TestRight(ConformanceTests):
    target, model, only = "conform_adapter:Right", "small.json", ("ids", "batch")

class TestLower(ConformanceTests):
    target, model, only = "conform_adapter:Lower", "small.json", ("ids", "round-trip", "decode-every-id")
    expected_failures = {"ids": "lower-cases", "decode-every-id": ""}
"""
    (folder / "test_adapter.py").write_text(source, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_adapter.py"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "2 failed, 1 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "decode-every-id passes now" in ended.stdout
    assert "1 xfailed" in ended.stdout
    assert "normalisation" in ended.stdout


def test_the_report_names_the_easiest_failure_to_look_at() -> None:
    report = ConformanceReport(
        target="t", reference="r", model="m", verdicts=[CheckVerdict(check="ids", status="passed")], seconds=1.0
    )
    assert report.conforms
    assert report.first is None


@pytest.mark.parametrize(
    "document", ["README.md", "harness/conform/CONFORMANCE.md", "harness/cli.py", "harness/commands/conform.py"]
)
def test_what_says_the_number_of_checks_says_the_right_one(document: str) -> None:
    root = Path(__file__).resolve().parents[3]
    numbers = re.findall(r"(\d+) (?:checks|questions)(?! fail)", (root / document).read_text("utf-8"))
    assert numbers
    assert set(map(int, numbers)) == {len(CHECKS)}
