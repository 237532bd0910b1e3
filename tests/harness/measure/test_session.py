"""Whole runs in a folder: what they leave on disk, and that killing one loses nothing."""

from __future__ import annotations

import platform
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from harness.measure.recording import PLAN_FILE
from harness.measure.run import session
from harness.measure.schedule import Plan, Profile, estimate_seconds, keys, turns
from harness.measure.workloads import Workload
from harness.records import (
    MACHINE_FILE,
    RECORDS_FILE,
    Compression,
    Measurement,
    RecordError,
    key_of,
    of_kind,
    read_records,
)
from impls import Model

TOYS = Path(__file__).parent / "measure_toys"
PROFILE = Profile(
    name="test",
    rounds=2,
    n_samples=2,
    sample_seconds=0.001,
    pass_seconds=0.05,
    time_limit_seconds=5,
    copies=True,
)
PLAN = Plan(
    profile=PROFILE,
    implementations=("toy-bytes", "toy-murderous"),
    workloads=tuple(
        Workload(name=name, task=task, state="warm-same", model="toy", corpus="one", max_bytes=2_000)
        for name, task in (("encode", "encode"), ("count", "count"))
    ),
)
TEXT = "to be or not to be\n" * 200


class OneTextCorpus:
    digest = "of one text"

    def documents(self) -> Iterable[str]:
        return [TEXT]


def load_model(name: str) -> Model:
    return Model(tokens=tuple(bytes([byte]) for byte in range(256)))


def load_corpus(name: str, split: Any) -> OneTextCorpus:
    return OneTextCorpus()


def measure(folder: Path, plan: Plan = PLAN, **options: Any) -> session.RunResult:
    return session.measure(plan, folder, load_model=load_model, load_corpus=load_corpus, **options)


def found_keys(folder: Path) -> list[tuple[object, ...]]:
    return sorted((*key_of(record), record.status) for record in of_kind(read_records(folder), Measurement))


@pytest.fixture(autouse=True)
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TOYS))
    monkeypatch.setenv("TOY_FOLDER", str(tmp_path))


RUN = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
import test_session as this
this.measure(Path(sys.argv[1]))
"""


def test_a_run_killed_with_its_power_cut_goes_on_to_the_records_of_an_undisturbed_one(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    died = subprocess.run([sys.executable, "-c", RUN, str(killed)], capture_output=True, timeout=60, check=False)
    assert died.returncode == -9, died.stderr
    worker = int((tmp_path / "murder").read_text())
    if psutil.pid_exists(worker):
        psutil.Process(worker).wait(10)
    with (killed / RECORDS_FILE).open("ab") as file:
        file.write(b'{"kind":"measurement","workload":"enc')
    with pytest.raises(RecordError, match="--resume"):
        measure(killed)
    measure(killed, resume=True)
    whole = tmp_path / "whole"
    measure(whole)
    assert found_keys(killed) == found_keys(whole)
    assert (
        len(set(found_keys(killed)))
        == len(found_keys(killed))
        == sum(len(keys(turn)) for turn in turns(PLAN, "toy-bytes"))
    )
    lines = (killed / RECORDS_FILE).read_bytes().splitlines()
    assert all(isinstance(msgspec.json.decode(line), dict) for line in lines)
    before = (killed / RECORDS_FILE).read_bytes()
    measure(killed, resume=True)
    assert (killed / RECORDS_FILE).read_bytes() == before


def test_a_run_leaves_records_compression_machine_and_plan(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, implementations=("toy-bytes",))
    folder = tmp_path / "run"
    outcome = measure(folder, plan, command=f"bpebench run --out {folder}")
    (compression,) = of_kind(outcome.records, Compression)
    assert compression.n_bytes == compression.n_characters == compression.n_tokens == 2_000
    assert compression.n_words == len(TEXT[:2000].split())
    facts = msgspec.json.decode((folder / MACHINE_FILE).read_bytes())
    assert facts["command"] == "bpebench run --out run"
    for key in ("cpu", "cores", "memory_bytes", "os", "python", "packages", "unicode", "suite", "load_before"):
        assert key in facts, key
    assert facts["noise_floor"] is not None
    assert facts["unicode"]["regex"] == "16.0"
    assert facts["digests"]["corpora"] == {"one": "of one text"}
    assert msgspec.json.decode((folder / PLAN_FILE).read_bytes(), type=Plan) == plan


def test_what_is_published_names_no_host_no_user_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host, user = "very-private-host", "very-private-user"
    monkeypatch.setattr(platform, "node", lambda: host)
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    for variable in ("USER", "LOGNAME", "HOSTNAME"):
        monkeypatch.setenv(variable, host if variable == "HOSTNAME" else user)
    folder = tmp_path / "run"
    plan = msgspec.structs.replace(PLAN, implementations=("toy-bytes", "toy-missing", "toy-raising"))
    (tmp_path / "alice smith").mkdir()
    paths = ["-m", f"{tmp_path}/alice smith/model.json", "-c", "../../home/alice/tr.txt", f"--out={folder}"]
    measure(folder, plan, command=shlex.join(["bpebench", "run", "-w", "^encode/o200k_base/turkish$", *paths]))
    published = b"".join(file.read_bytes() for file in folder.iterdir()).decode()
    for private in (str(tmp_path), str(Path.home()) + "/", host, user, "/some/secret", "alice"):
        assert private not in published
    assert "-w '^encode/o200k_base/turkish$' -m model.json -c tr.txt --out=run" in published


def test_another_plan_is_not_mixed_into_the_records_of_the_first(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, implementations=("toy-refusing",))
    measure(tmp_path / "run", plan)
    with pytest.raises(RecordError, match="another plan"):
        measure(tmp_path / "run", msgspec.structs.replace(plan, seed=1), resume=True)


def test_a_model_or_corpus_that_cannot_be_had_is_recorded_as_missing_with_the_reason(tmp_path: Path) -> None:
    from impls import UnknownName

    def unknown(name: str, *_: Any) -> Any:
        raise UnknownName("corpus", name, ["turkish"])

    plan = msgspec.structs.replace(PLAN, implementations=("toy-bytes",))
    for options in (
        {"load_model": unknown, "load_corpus": load_corpus},
        {"load_model": load_model, "load_corpus": unknown},
    ):
        outcome = session.measure(plan, tmp_path / str(len(list(tmp_path.iterdir()))), **options)  # type: ignore[arg-type]
        assert {record.status for record in outcome.measurements} == {"missing"}
        assert all("known: turkish" in record.reason for record in outcome.measurements)
        assert {record.workload for record in outcome.measurements} == {"encode", "count"}


def test_the_estimate_grows_with_the_work() -> None:
    one = msgspec.structs.replace(PLAN, implementations=("toy-bytes",))
    assert 0 < estimate_seconds(one) < estimate_seconds(PLAN)
