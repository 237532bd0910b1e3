"""`bpebench conform` and the class for tests of a project's own, over targets of a folder elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import impls
from harness.cli import main
from harness.conform.checks.catalogue import CHECKS
from harness.conform.verdicts import CheckVerdict, ConformanceReport

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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapter")
    spec = impls.TrainingSpec(vocab_size=400, pattern="gpt2")
    impls.train("priority", ["hello world, the cat sat on the mat " * 3], spec).model.save(folder / "small.json")
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
    checks = ("--check", "ids", "--check", "round-trip", "--check", "batch")
    status, out = bpebench(
        capsys, monkeypatch, "conform", "conform_adapter:Right", *checks, "-m", "small.json", "--json"
    )
    document = json.loads(out)
    assert (status, document["conforms"], document["verdict"]) == (0, True, "conforms")
    assert [verdict["status"] for verdict in document["verdicts"]] == ["passed", "same as reference", "not offered"]


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
    target, model, only = "conform_adapter:Lower", "small.json", ("ids", "round-trip", "decode-any-order")
    expected_failures = {"ids": "lower-cases", "decode-any-order": ""}
"""
    (folder / "test_adapter.py").write_text(source, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_adapter.py"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "2 failed, 1 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "decode-any-order passes now" in ended.stdout
    assert "1 xfailed" in ended.stdout
    assert "normalisation" in ended.stdout


def test_the_report_names_the_easiest_failure_to_look_at() -> None:
    verdicts = [CheckVerdict(check=name, status="passed") for name in ("ids", "round-trip")]
    report = ConformanceReport(target="t", reference="r", model="m", verdicts=verdicts, seconds=1.0)
    assert report.conforms
    assert report.first is None


@pytest.mark.parametrize("document", ["README.md", "harness/conform/CONFORMANCE.md", "harness/commands/conform.py"])
def test_what_says_the_number_of_checks_says_the_right_one(document: str) -> None:
    root = Path(__file__).resolve().parents[3]
    numbers = re.findall(r"(\d+) (?:checks|questions)(?! fail)", (root / document).read_text("utf-8"))
    assert numbers
    assert set(map(int, numbers)) == {len(CHECKS)}
