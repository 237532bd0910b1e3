"""Tokenizers from npm: archives pinned by digest, served over the line protocol, and a page made from the record."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shlex
import shutil
import subprocess
import sys
import tarfile
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.conform import run as conformance
from harness.conform.verdicts import CheckVerdict, ConformanceReport, FailingInput
from harness.data.errors import DataError
from harness.npm import __main__ as command_line
from harness.npm import packages, record
from harness.npm.packages import NpmPackage, module_folders, pinned, tokenizers
from harness.npm.timing import megabytes_per_second

RESULTS = Path(__file__).resolve().parents[2] / "results"


def archive_of(members: dict[str, str]) -> bytes:
    """An archive as npm makes them: everything below the folder `package`."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def package_of(content: bytes, **fields: object) -> NpmPackage:
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    given = {"name": "@some/package", "version": "1.0.0", "integrity": f"sha512-{digest}", "models": ("cl100k_base",)}
    return NpmPackage(**given | fields)  # type: ignore[arg-type]


@pytest.fixture
def npm_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bytes]:
    """What the stand-in for npm packs, the first for each call; the cache is a folder of the test's own."""
    answers: list[bytes] = []

    def run(arguments: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert arguments[1] == "pack"
        assert "--ignore-scripts" in arguments
        if not answers:
            return subprocess.CompletedProcess(arguments, 1, "", "npm error code ENOTFOUND\nnpm error network\n")
        Path(arguments[-1], "some-package-1.0.0.tgz").write_bytes(answers.pop(0))
        return subprocess.CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr(packages, "program", lambda name: name)
    monkeypatch.setattr(packages.subprocess, "run", run)
    monkeypatch.setattr(packages, "cache_folder", lambda: tmp_path)
    return answers


def test_every_pinned_package_has_a_sha512_and_what_it_requires() -> None:
    assert {package.name for package in tokenizers()} == {
        *("js-tiktoken", "gpt-tokenizer", "ai-tokenizer", "@lenml/tokenizers")
    }
    for package in pinned().values():
        kind, _, digest = package.integrity.partition("-")
        assert (kind, len(base64.b64decode(digest))) == ("sha512", 64)
        assert set(package.requires) <= set(pinned())


def test_an_archive_of_the_pinned_digest_is_kept_and_fetched_once(npm_answers: list[bytes], tmp_path: Path) -> None:
    content = archive_of({"package/index.js": "1", "package/dist/more.js": "2"})
    npm_answers.append(content)
    for _ in range(2):
        (folder,) = module_folders(package_of(content))
        assert (folder / "@some/package/index.js").read_text() == "1"
        assert (folder / "@some/package/dist/more.js").read_text() == "2"
    assert [path.name for path in (tmp_path / "npm").iterdir()] == [folder.name]


def test_an_archive_of_another_digest_is_refused_and_nothing_is_kept(npm_answers: list[bytes], tmp_path: Path) -> None:
    npm_answers.append(archive_of({"package/index.js": "other"}))
    with pytest.raises(DataError, match=r"@some/package@1\.0\.0: wrong digest: expected sha512-.*nothing was kept"):
        module_folders(package_of(b"what was pinned"))
    assert not any((tmp_path / "npm").iterdir())


def test_a_member_outside_its_folder_is_not_written(tmp_path: Path) -> None:
    archive = tmp_path / "bad.tgz"
    archive.write_bytes(archive_of({"package/../../outside.js": "1"}))
    with pytest.raises(tarfile.OutsideDestinationError):
        packages.unpack(archive, tmp_path / "a" / "b")
    assert not (tmp_path / "outside.js").exists()


def test_why_npm_failed_is_said_in_one_line(npm_answers: list[bytes]) -> None:
    with pytest.raises(DataError, match=r"@some/package@1\.0\.0: npm could not fetch it: npm error network$"):
        module_folders(package_of(b""))


def test_without_node_the_reason_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(DataError, match="node is not installed"):
        packages.program("node")


def test_an_unknown_package_or_vocabulary_is_named_with_those_there_are() -> None:
    with pytest.raises(DataError, match=r"base64-js: no such tokenizer .* js-tiktoken, gpt-tokenizer"):
        packages.package_of("base64-js")
    with pytest.raises(DataError, match="ai-tokenizer is judged on cl100k_base, o200k_base, not on r50k_base"):
        packages.command(pinned()["ai-tokenizer"], "r50k_base")


LIBRARY = """
exports.Tokenizer = class {
  encode (text, allowed, disallowed) {
    if (text === 'bad') throw new RangeError('too bad')
    return [...Buffer.from(text)].concat(allowed.length, disallowed.length)
  }
  decode (ids) { return Buffer.from(ids).toString() }
}
"""


@pytest.fixture
def served(tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    """The adapter over a library of the shape of ai-tokenizer's, of which a byte is a token."""
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    folder = tmp_path / "ai-tokenizer"
    (folder / "encoding").mkdir(parents=True)
    (folder / "index.js").write_text(LIBRARY)
    (folder / "encoding" / "cl100k_base.js").write_text("exports.name = 'cl100k_base'")
    adapter = str(files("harness.npm") / "adapter.cjs")
    return [node, adapter, "ai-tokenizer", "cl100k_base"], {"NODE_PATH": str(tmp_path)}


def test_the_adapter_speaks_the_line_protocol(served: tuple[list[str], dict[str, str]]) -> None:
    asked = [
        {"op": "encode", "text": "hé"},
        {"op": "encode", "text": "h", "allowed_special": ["<s>"], "disallowed_special": ["<e>", "<f>"]},
        {"op": "decode", "ids": [104, 195, 169]},
        {"op": "timed_encode", "text": "h", "loops": 2},
        {"op": "encode", "text": "bad"},
        {"op": "n_vocab"},
        {"op": "describe"},
    ]
    lines = "".join(json.dumps({"id": i, **one}) + "\n" for i, one in enumerate(asked))
    run = subprocess.run(served[0], env=served[1], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert [answer.pop("id") for answer in answers] == list(range(len(asked)))
    assert answers[0]["result"] == [104, 195, 169, 0, 0]
    assert answers[1]["result"] == [104, 1, 2]
    assert answers[2]["result"] == "hé"
    assert answers[3]["result"] >= 0
    assert answers[4] == {"error": "RangeError", "message": "too bad"}
    assert answers[5] == {"error": "unknown operation"}
    assert {"encode", "decode", "timed_encode", "allowed_special"} <= set(answers[6]["result"]["operations"])


@pytest.mark.corpus
def test_its_speed_is_measured_inside_its_process(served: tuple[list[str], dict[str, str]]) -> None:
    speeds = megabytes_per_second(*served)
    assert set(speeds) == {"english", "turkish", "code"}
    assert min(speeds.values()) > 0
    with pytest.raises(DataError, match="the timed process failed"):
        megabytes_per_second([sys.executable, "-c", "raise SystemExit('no')"], {})


def judged(**fields: object) -> record.Judged:
    given = {"package": "some-package", "version": "1.0.0", "integrity": "sha512-x", "model": "cl100k_base"}
    return record.Judged(**given | fields)  # type: ignore[arg-type]


def report_of(*verdicts: CheckVerdict) -> ConformanceReport:
    return ConformanceReport(
        target="some-package@1.0.0", reference="tiktoken", model="cl100k_base", verdicts=list(verdicts), seconds=1.0
    )


WRONG = CheckVerdict(
    check="pieces", status="failed", stage="pieces", reason="it cuts otherwise",
    counterexample=FailingInput.of("a|b", expected=[64, 91], got=[64]),
)  # fmt: skip


def test_of_a_report_each_fault_is_kept_once_with_its_smallest_input() -> None:
    again = CheckVerdict(check="sizes", status="failed", stage="pieces", reason="again", same_as="pieces")
    ids = FailingInput.of(ids=[7], expected="x" * 500, got="y")
    other = CheckVerdict(check="decode", status="failed", stage="decode", reason="other", counterexample=ids)
    one = judged()
    one.take(report_of(WRONG, CheckVerdict(check="memory", status="passed"), again, other))
    assert one.checks == {"failed": ["pieces", "sizes", "decode"], "passed": ["memory"]}
    cut, fault = one.faults
    assert (cut.check, cut.also_fails, cut.input, cut.expected, cut.got) == (
        "pieces",
        ["sizes"],
        "'a|b'",
        "64 91",
        "64",
    )
    assert (fault.check, fault.also_fails, fault.input) == ("decode", [], "decode([7])")
    assert len(fault.expected) < 150


def test_the_page_shows_verdict_counterexample_reason_and_speed(tmp_path: Path) -> None:
    right, wrong = judged(node="v20.0.0", processor="A processor"), judged(package="wrong", node="v20.0.0")
    right.take(report_of(*(CheckVerdict(check=check, status="passed") for check in ("ids", "round-trip"))))
    right.megabytes_per_second = {"english": 12.34}
    wrong.take(report_of(WRONG))
    run = [right, wrong, judged(package="absent", reason="node is not installed")]
    record.write(tmp_path, run)
    assert record.read(tmp_path) == run
    page = (tmp_path / record.PAGE).read_text()
    rows = [[cell.strip() for cell in line.split(" | ")] for line in page.splitlines() if line.startswith("| ")]
    assert any(row[:5] == ["| some-package 1.0.0", "cl100k_base", "conforms", "2", "0"] for row in rows)
    assert any(row[:5] == ["| wrong 1.0.0", "cl100k_base", "does not conform", "0", "1: pieces"] for row in rows)
    assert any(row[:6] == ["| wrong 1.0.0", *("cl100k_base", "pieces", "it cuts otherwise", "`'a\\|b'`", "`64 91`")]
               for row in rows)  # fmt: skip
    assert "not judged: node is not installed" in page
    assert "without special tokens" not in page
    assert "`@lenml/tokenizers` reads the vocabulary as tokenizer.json, without special tokens" in record.page(
        [judged(package="@lenml/tokenizers")]
    )
    assert "| 12 " in page
    assert "Measured on: A processor, node v20.0.0." in page


def test_the_page_says_of_a_package_what_conform_says() -> None:
    one = judged()
    report = report_of(CheckVerdict(check="ids", status="not asked"), CheckVerdict(check="memory", status="passed"))
    one.take(report)
    assert report.verdict == "not judged (the ids were not judged)"
    assert record._row(one)[2] == report.verdict


def test_a_package_that_can_no_longer_be_judged_has_no_verdict_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: NpmPackage, model: str) -> tuple[list[str], dict[str, str]]:
        raise DataError("node is not installed")

    monkeypatch.setattr(command_line, "command", absent)
    one = judged(checks={"failed": ["ids"]}, faults=[record.Fault(check="ids", reason="wrong")])
    one.megabytes_per_second = {"english": 12.0}
    package = pinned()["ai-tokenizer"]
    command_line._examine(one, package, None, time=False)
    assert (len(one.checks), len(one.faults), len(one.megabytes_per_second)) == (1, 1, 1)
    command_line._examine(one, package, (5.0, 1.0), time=True)
    assert (one.checks, one.faults, one.megabytes_per_second) == ({}, [], {})
    assert record._row(one)[2] == "not judged: node is not installed"


def test_a_record_keeps_what_was_not_asked_for_and_drops_what_is_no_longer_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str, object, bool]] = []

    def examine(one: record.Judged, package: NpmPackage, judging: object, *, time: bool) -> None:
        asked.append((package.name, one.model, judging, time))
        one.reason = "examined"

    monkeypatch.setattr(command_line, "_examine", examine)
    ai, js = pinned()["ai-tokenizer"], pinned()["js-tiktoken"]
    kept = record.empty(js, "o200k_base")
    old = judged(package="ai-tokenizer", model="o200k_base")
    record.write(tmp_path, [old, kept])
    run = CliRunner().invoke(command_line.main, ["record", str(tmp_path), "--only", "ai-tokenizer", "--no-time"])
    assert run.exit_code == 0, run.output
    assert asked == [("ai-tokenizer", model, (10.0, 10.0), False) for model in ai.models]
    found = {(one.package, one.model): one for one in record.read(tmp_path)}
    assert set(found) == {("js-tiktoken", "o200k_base"), *(("ai-tokenizer", model) for model in ai.models)}
    assert found["js-tiktoken", "o200k_base"] == kept
    assert found["ai-tokenizer", "o200k_base"].integrity == ai.integrity


def test_what_a_package_answers_wrongly_is_in_its_record(
    served: tuple[list[str], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, environment = served
    monkeypatch.setattr(command_line, "command", lambda package, model: served)
    target = f"cmd:env NODE_PATH={environment['NODE_PATH']} {shlex.join(arguments)}"
    monkeypatch.setattr(command_line, "_target", lambda package, model: target)
    monkeypatch.setattr(
        conformance, "CHECKS", [check for check in conformance.CHECKS if check.name in ("ids", "memory")]
    )
    one = record.empty(pinned()["ai-tokenizer"], "cl100k_base")
    command_line._examine(one, pinned()["ai-tokenizer"], (5.0, 0.2), time=False)
    assert not one.reason
    assert one.checks == {"failed": ["ids"], "passed": ["memory"]}
    assert one.faults[0].input
    assert one.faults[0].expected != one.faults[0].got


@pytest.mark.parametrize(
    "folder", sorted(file.parent for file in RESULTS.glob(f"*/{record.FILE}")), ids=lambda f: f.name
)
def test_the_page_of_a_committed_run_is_that_of_its_record(folder: Path) -> None:
    run = record.read(folder)
    assert (folder / record.PAGE).read_text("utf-8") == record.page(run)
    assert {one.integrity for one in run} <= {package.integrity for package in tokenizers()}
