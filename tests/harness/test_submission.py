"""Runs sent by others: a sound one is packed and holds, and each planted lie is found by name."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness.privacy
from harness.measure.analysis.samples import measured_floor
from harness.records import Measurement, RecordError, of_kind, read_records
from harness.submission import FILES, MANIFEST_FILE, content_faults, faults_of, pack

RESULTS = Path(__file__).resolve().parents[2] / "results"
RUN = RESULTS / "2026-11-24-epyc-training"
COMMITTED = [RESULTS / "2026-11-23-epyc-tour", RESULTS / "2026-11-23-epyc-default"]
"""Runs with workloads of the same texts."""

Lines = list[dict[str, Any]]


def change(folder: Path, records: Callable[[Lines], object] = lambda lines: None, **facts: Any) -> None:
    """Change a run's records and facts in place; a fact of None is removed."""
    path = folder / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    records(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    path = folder / "machine.json"
    found = json.loads(path.read_text(encoding="utf-8")) | facts
    path.write_text(json.dumps({key: value for key, value in found.items() if value is not None}), encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sound run of this protocol."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name in FILES:
        shutil.copy(RUN / name, folder / name)
    change(folder, protocol=1)
    change(folder, os="Linux 5.15.167.4", python_compiler="GCC 12.2.0.1")  # versions of four numbers are no addresses
    return folder


@pytest.fixture
def sent(run: Path, tmp_path: Path) -> Path:
    assert pack(run, tmp_path / "sent", COMMITTED) == []
    return tmp_path / "sent"


def sealed(folder: Path) -> None:
    """Write the digests anew, as somebody would who changes more than one file."""
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}
    (folder / MANIFEST_FILE).write_text(json.dumps({"format": 1, "files": files}), encoding="utf-8")


def test_a_sound_run_is_packed_whole_and_holds(run: Path, sent: Path) -> None:
    assert sorted(path.name for path in sent.iterdir()) == sorted([*FILES, MANIFEST_FILE])
    assert all((sent / name).read_bytes() == (run / name).read_bytes() for name in FILES)
    assert faults_of(sent, COMMITTED) == []


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in RESULTS.glob("*/records.jsonl")), ids=lambda p: p.name
)
def test_committed_runs_lack_nothing_but_the_number_of_the_protocol(folder: Path) -> None:
    if json.loads((folder / "plan.json").read_text("utf-8"))["profile"]["rounds"] < 3:
        pytest.skip("a tour does not measure its noise")
    others = [path.parent for path in RESULTS.glob("*/records.jsonl") if path.parent != folder]
    assert set(content_faults(folder, others)) <= {"machine.json: protocol is not recorded"}


def ok(lines: Lines) -> Lines:
    return [line for line in lines if line["status"] == "ok" and not line.get("copy")]


def faster(lines: Lines) -> None:
    for line in ok(lines):
        line["samples_seconds"] = [second / 1e7 for second in line.get("samples_seconds", [])]


def impossible(lines: Lines) -> None:
    line = ok(lines)[0]
    line["loops"] = 10**9


def without_evidence(lines: Lines) -> None:
    ok(lines)[3]["digest"] = ""


def without_reference(lines: Lines) -> None:
    ok(lines)[3]["reference"] = ""


def other_ids(lines: Lines) -> None:
    for line in ok(lines):
        line["digest"] = "0" * 64


def two_answers(lines: Lines) -> None:
    ok(lines)[0]["digest"] = "0" * 64


def equal_samples(lines: Lines) -> None:
    line = max(ok(lines), key=lambda line: len(line["samples_seconds"]))
    line["samples_seconds"] = [0.2] * 5


def without_failures(lines: Lines) -> None:
    lines[:] = [line for line in lines if line["status"] == "ok"]


def without_a_round(lines: Lines) -> None:
    lines.remove(next(line for line in ok(lines) if line.get("round") == 1))


def unplanned(lines: Lines) -> None:
    lines.append(ok(lines)[0] | {"implementation": "newcomer"})


def without_copies(lines: Lines) -> None:
    lines[:] = [line for line in lines if not line.get("copy")]


def slower_copies(lines: Lines) -> None:
    for line in lines:
        if line.get("copy"):
            line["samples_seconds"] = [3 * second for second in line.get("samples_seconds", [])]


def a_path(lines: Lines) -> None:
    lines[0]["reason"] = "cannot open /home/ada/models/x.json"


def an_address(lines: Lines) -> None:
    lines[0]["reason"] = "ask ada@example.org"


def a_machine(lines: Lines) -> None:
    lines[0]["reason"] = "refused by build7.internal"


def a_number(lines: Lines) -> None:
    lines[0]["reason"] = "no answer from 192.168.7.20"


def twice(lines: Lines) -> None:
    lines.append(lines[0])


@pytest.mark.parametrize(
    ("planted", "facts", "said"),
    [
        (faster, {}, "shorter than a clock can tell"),
        (impossible, {}, "faster than memory delivers text"),
        (without_evidence, {}, "nothing says that they are right"),
        (without_reference, {}, "nothing says that they are right"),
        (other_ids, {}, "are not those verified in the committed runs"),
        (two_answers, {}, "2 different answers"),
        (equal_samples, {}, "all its samples are equal"),
        (without_failures, {}, "planned, but there is no record of it"),
        (without_a_round, {}, "rounds are there"),
        (unplanned, {}, "recorded, but not planned"),
        (without_copies, {}, "nothing was measured twice"),
        (slower_copies, {}, "noise_floor is"),
        (a_path, {}, "holds a path, '/home/ada/models/x.json'"),
        (an_address, {}, "an address of mail"),
        (a_machine, {}, "the name of a machine, 'build7.internal'"),
        (a_number, {}, "an address of a machine"),
        (twice, {}, "a line is there twice"),
        (lambda lines: None, {"protocol": 2}, "measured by protocol 2, not 1"),
        (lambda lines: None, {"protocol": None}, "protocol is not recorded"),
        (lambda lines: None, {"cpu": None}, "cpu is not recorded"),
        (lambda lines: None, {"hostname": "build7"}, "hostname is no fact that a run records"),
        (lambda lines: None, {"date": "yesterday"}, "is no date of a run"),
        (lambda lines: None, {"suite": {"version": "0.1.0", "dirty": True}}, "uncommitted changes"),
        (lambda lines: None, {"noise_floor": 0.001}, "noise_floor is 0.001, but the records give"),
        (lambda lines: None, {"digests": {"corpora": {"turkish": "0" * 64}}}, "the digest of corpora turkish is not"),
        (lambda lines: lines.clear(), {}, "nothing was timed"),
    ],
)  # fmt: skip
def test_what_is_planted_is_found_when_packing_and_in_what_was_sent(
    run: Path, sent: Path, tmp_path: Path, planted: Callable[[Lines], object], facts: dict[str, Any], said: str
) -> None:
    change(run, planted, **facts)
    assert any(said in fault for fault in pack(run, tmp_path / "bad", COMMITTED))
    assert not (tmp_path / "bad").exists()
    change(sent, planted, **facts)
    faults = faults_of(sent, COMMITTED)
    assert any("was changed after it was packed" in fault for fault in faults)
    sealed(sent)
    faults = faults_of(sent, COMMITTED)
    assert any(said in fault for fault in faults)
    assert not any("was changed" in fault for fault in faults)


def test_a_quick_run_does_not_tell_its_noise(run: Path) -> None:
    plan = json.loads((run / "plan.json").read_text("utf-8"))
    plan["profile"] |= {"name": "quick", "rounds": 1, "copies": False}
    (run / "plan.json").write_text(json.dumps(plan))
    assert any("--profile quick, which does not tell its noise" in fault for fault in content_faults(run))


def test_names_of_this_machine_and_its_user_are_refused(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.privacy.platform, "node", lambda: "ferrari.example")
    monkeypatch.setattr(harness.privacy.getpass, "getuser", lambda: "lovelace")
    assert pack(run, tmp_path / "clean", COMMITTED) == []
    change(run, warnings=["process 7 of Lovelace took the core"])
    assert any("the name 'Lovelace'" in fault for fault in pack(run, tmp_path / "sent", COMMITTED))
    change(run, warnings=[], command="bpebench run --out ferrari")
    assert any("the name 'ferrari'" in fault for fault in pack(run, tmp_path / "sent", COMMITTED))
    assert not (tmp_path / "sent").exists()


def test_damaged_and_foreign_files_are_named(sent: Path) -> None:
    (sent / "README.md").write_text("generated")
    assert faults_of(sent, COMMITTED) == []
    (sent / "notes.txt").write_text("hello")
    (sent / "plan.json").write_text("{half")
    faults = faults_of(sent)
    assert "notes.txt: is not part of a submission" in faults
    assert any(fault.startswith("plan.json: was changed") for fault in faults)
    assert any("JSON" in fault for fault in faults)
    (sent / "records.jsonl").write_bytes(b'{"kind":"measurement"}\nnonsense\n')
    assert any("records.jsonl: line 1 is not a record" in fault for fault in faults_of(sent))
    (sent / "machine.json").unlink()
    assert "machine.json: is missing" in faults_of(sent)
    (sent / MANIFEST_FILE).write_text('{"format": 7, "files": {}}')
    assert any("has format 7" in fault for fault in faults_of(sent))
    (sent / MANIFEST_FILE).unlink()
    with pytest.raises(RecordError, match=r"holds no submission\.json"):
        faults_of(sent)


def test_the_command_packs_checks_and_says_what_does_not_hold(
    bpebench: Any, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(RESULTS.parent)
    out = tmp_path / "sent"
    ended = bpebench("submission", "make", str(run), "--out", str(out))
    assert ended.status == 0
    assert re.search(r"holds; [1-9]\d* of \d+ answers compared with those of \d+ committed runs", ended.out)
    assert bpebench("submission", "make", str(run), "--out", str(out)).status == 2
    assert bpebench("submission", "check", str(out)).status == 0
    change(out, faster)
    ended = bpebench("submission", "check", str(out), "--json")
    assert ended.status == 1
    assert len(json.loads(ended.out)["faults"]) > 10
    ended = bpebench("submission", "check", str(tmp_path))
    assert ended.status == 2
    assert "holds no submission.json" in ended.err
    assert bpebench("submission", "make", str(run)).status == 2
    ended = bpebench("submission", "make", str(tmp_path / "nowhere"), "--out", str(tmp_path / "none"))
    assert ended.status == 2
    assert "holds no records.jsonl" in ended.err


def test_a_run_on_a_busy_machine_is_refused(run: Path) -> None:
    change(run, slower_copies)
    floor = measured_floor(list(of_kind(read_records(run), Measurement)))
    change(run, noise_floor=floor)
    assert any("the noise floor is 2" in fault for fault in content_faults(run))


def renamed(lines: Lines) -> None:
    for line in lines:
        line["workload"] += "-renamed"
        if line.get("digest"):
            line["digest"] = "0" * 64


def test_answers_that_were_compared_with_nothing_are_not_vouched_for(
    bpebench: Any, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(RESULTS.parent)
    change(run, renamed, digests={"corpora": {"": "0"}})
    plan = json.loads((run / "plan.json").read_text("utf-8"))
    for workload in plan["workloads"]:
        workload["name"] += "-renamed"
    (run / "plan.json").write_text(json.dumps(plan))
    ended = bpebench("submission", "make", str(run), "--out", str(tmp_path / "sent"))
    assert ended.status == 0
    assert "none of its answers could be compared with a committed run" in ended.out
    ended = bpebench("submission", "check", str(tmp_path / "sent"), "--json")
    document = json.loads(ended.out)
    assert document["n_answers_compared"] == 0
    assert document["n_answers"] > 0
