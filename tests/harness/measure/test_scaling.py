"""Growth of time with size, in worker processes; the doctor; Unicode probing; what provenance says."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness import unicode_versions
from harness.measure import doctor, provenance
from harness.measure.protocol import Failed
from harness.measure.run.curves import measure_scaling
from harness.measure.run.materials import Materials
from harness.measure.run.setup import References
from harness.measure.scaling import Scale, exponents
from harness.records import Measurement, RecordError
from impls import Model

TOYS = Path(__file__).parent / "measure_toys"
SIZES = (1024, 2048, 4096)


class Generated:
    digest = "generated"

    def __init__(self, name: str) -> None:
        self.text = "a" * int(name.partition(":")[2])

    def documents(self) -> Iterable[str]:
        return [self.text]


def scaled(name: str, done: Sequence[Measurement] = ()) -> list[Measurement]:
    """The records written."""
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)))
    written: list[Measurement] = []
    with (
        Materials(lambda _: model, lambda corpus, _: Generated(corpus)) as materials,
        References(materials, encoders=("toy-bytes",)) as references,
    ):
        scale = Scale(
            implementations=(name,),
            model="toy",
            families=("letters",),
            sizes=SIZES,
            rounds=1,
        )
        everything = measure_scaling(scale, materials, written.append, done=done, references=references)
        assert everything == [*done, *written]
    return written


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TOYS))


def test_every_size_is_read_once_and_verified() -> None:
    records = scaled("toy-bytes")
    assert [record.n_bytes for record in records] == list(SIZES)
    for record in records:
        assert (record.status, record.loops, len(record.samples_seconds)) == ("ok", 1, 1)
        assert record.reference == "toy-bytes"
    assert set(exponents(records)) == {("toy-bytes", "letters")}


def test_a_curve_taken_up_again_measures_only_what_is_missing() -> None:
    records = scaled("toy-bytes")
    again = scaled("toy-bytes", done=records[:2])
    assert [record.n_bytes for record in again] == list(SIZES[2:])
    assert scaled("toy-bytes", done=records) == []
    failed = scaled("toy-wrong-on-a")
    assert scaled("toy-wrong-on-a", done=failed) == []


def test_growth_stops_at_the_first_failure_which_is_recorded() -> None:
    (record,) = scaled("toy-wrong-on-a")
    assert record.status == "mismatch"
    (verdict,) = exponents([record]).values()
    assert isinstance(verdict, Failed)
    assert verdict.status == "mismatch"


@pytest.mark.parametrize(("name", "status"), [("toy-wrong-on-a", 1), ("toy-bytes", 0), ("toy-refusing", 0)])
def test_the_command_ends_with_1_where_a_curve_ends_in_a_fault(
    bpebench: Any, monkeypatch: pytest.MonkeyPatch, name: str, status: int
) -> None:
    records = scaled(name)
    monkeypatch.setattr("harness.commands.scale.Scale._measured", lambda *_: records)
    ended = bpebench("scale", "-e", "^naive$", "--json")
    assert ended.status == status, ended.err
    (curve,) = json.loads(ended.out)["curves"]
    assert curve["status"] == {"toy-wrong-on-a": "mismatch", "toy-refusing": "unsupported"}.get(name, "ok")


def point(n_bytes: int, seconds: float | None, number: int = 0, limit: float | None = None) -> Measurement:
    return Measurement(
        workload=f"scale/m/gen/spaces:{n_bytes}",
        implementation="one",
        task="encode",
        model="m",
        corpus=f"gen/spaces:{n_bytes}",
        status="timeout" if seconds is None else "ok",
        round=number,
        n_bytes=n_bytes,
        limit_seconds=limit,
        samples_seconds=[] if seconds is None else [seconds],
    )


def test_the_exponent_comes_from_the_least_time_of_each_size_and_a_timeout_bounds_it() -> None:
    quadratic = [point(n, n * n * 1e-8 * (1 + 3 * number), number) for n in (1000, 2000, 4000) for number in (0, 1)]
    fit = exponents([*quadratic, point(8000, None, limit=0.64)])["one", "spaces"]
    assert not isinstance(fit, Failed)
    assert fit.value == pytest.approx(2)
    assert fit.lower_bound == pytest.approx(2)


def test_a_timeout_without_a_limit_stands_at_three_seconds_and_a_flaky_one_bounds_nothing() -> None:
    linear = [point(n, n * 1e-3) for n in (1000, 2000)]
    bound = exponents([*linear, point(3000, None)])["one", "spaces"].lower_bound  # type: ignore[union-attr]
    assert bound == pytest.approx(1)
    assert exponents([*linear, point(2000, None)])["one", "spaces"].lower_bound is None  # type: ignore[union-attr]


def test_the_limit_is_recorded_and_a_curve_is_not_mixed_with_one_of_another_limit() -> None:
    records = scaled("toy-bytes")
    assert {record.limit_seconds for record in records} == {3.0}
    for record in records:
        record.limit_seconds = 1.0
    with pytest.raises(RecordError, match="measured with --limit 1, not 3"):
        scaled("toy-bytes", done=records)


def test_the_doctor_times_a_loop_against_itself_and_says_what_stands_against_measuring() -> None:
    found = doctor.diagnose(n_rounds=2, samples_per_round=2, sample_seconds=0.001)
    assert found.floor >= 0
    assert found.usable_cores >= 1
    assert found.good == (not found.warnings)
    assert 0 < found.first_touch_seconds_per_mb <= found.slow_touch_seconds_per_mb


def test_the_doctor_warns_where_some_memory_takes_long_at_its_first_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(slowest: float) -> bool:
        monkeypatch.setattr(doctor, "first_touches", lambda: [1e-4] * 18 + [slowest] * 2)
        found = doctor.diagnose(n_rounds=2, samples_per_round=2, sample_seconds=0.001)
        return any("at its first touch" in warning for warning in found.warnings)

    assert warned(1e-3)
    assert not warned(2e-4)


def test_every_megabyte_is_touched_once() -> None:
    assert len(doctor.first_touches(3)) == 3


def test_both_sides_of_the_doctor_s_loop_have_the_same_rounds_and_samples() -> None:
    calls: list[int] = []
    a, b = doctor.against_itself(lambda: calls.append(1), 3, 4, sample_seconds=0)
    assert [len(samples) for samples in a] == [len(samples) for samples in b] == [4, 4, 4]
    assert len(calls) == 1 + 3 * 4 * 2


def test_the_versions_of_everything_that_can_be_timed_are_recorded() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = [line for extra in ("bench", "peers") for line in project["optional-dependencies"][extra]]
    names = {line.partition("=")[0].partition(">")[0] for line in requirements}
    assert {"bpebench", "numba", *names} <= set(provenance.recorded_packages())


def test_the_unicode_version_of_an_engine_is_found_by_asking_it() -> None:
    known = set("".join(unicode_versions.LETTERS[name] for name in ("10.0", "11.0", "12.0")))
    assert unicode_versions.version(known.__contains__) == "12.0"
    assert unicode_versions.version(lambda letter: False) is None
    found = unicode_versions.versions(["tiktoken", "naive", "no such implementation"])
    assert found == {"regex": "16.0", "tiktoken": "16.0", "naive": "16.0", "no such implementation": None}


@pytest.mark.parametrize(
    ("character", "a", "b", "is_version"),
    [
        ("\u0c5c", "16.0", "17.0", True),
        ("\ua6e6", "16.0", "17.0", False),
        ("\u0870", "13.0", "16.0", True),
        ("\u2160", "10.0", "16.0", False),
        ("\u0870", "16.0", "16.0", False),
        ("\u0870", None, "16.0", False),
    ],
)
def test_a_version_explains_only_a_character_that_one_engine_lacks(
    character: str, a: str | None, b: str | None, is_version: bool
) -> None:
    assert unicode_versions.is_of_a_version(character, a, b) is is_version


def test_an_engine_that_dies_while_probed_leaves_the_others_probed() -> None:
    found = provenance.unicode_versions(["toy-dying", "naive"])
    assert found["toy-dying"] is None
    assert found["naive"] == "16.0"


def test_the_suite_knows_its_commit_and_whether_files_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    package = tmp_path / "harness"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.setattr(provenance.harness, "__file__", str(package / "__init__.py"))
    assert provenance.suite()["commit"] is None
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "m")
    clean = provenance.suite()
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (package / "new.py").write_text("")
    assert provenance.suite()["dirty"] is True


@pytest.mark.parametrize(
    ("devices", "taken_back"),
    [
        ([], None),
        ([("0x0002", "1" * 64)], None),
        ([("0x0002", "1" * 64), ("0x0005", "01100101" + "0" * 56)], True),
        ([("0x0005", "01100001" + "0" * 56)], False),
    ],
)
def test_a_host_that_takes_back_free_memory_says_so_through_its_balloon(
    devices: list[tuple[str, str]], taken_back: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (device, features) in enumerate(devices):
        folder = tmp_path / f"virtio{number}"
        folder.mkdir()
        (folder / "device").write_text(f"{device}\n")
        (folder / "features").write_text(f"{features}\n")
    monkeypatch.setattr(provenance, "_VIRTIO", tmp_path)
    assert provenance.free_memory_taken_back() is taken_back


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        ("fpu avx2 avx512f", "family 26 model 2 AVX-512"),
        ("fpu avx2", "family 26 model 2 AVX2"),
        ("fpu", "family 26 model 2"),
    ],
)
def test_processors_of_one_name_have_their_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, shown: str
) -> None:
    facts = tmp_path / "cpuinfo"
    facts.write_text(f"cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nflags\t\t: {flags}\n")
    monkeypatch.setattr(provenance, "_CPUINFO", facts)
    assert provenance.cpu_generation() == shown
    facts.write_text("Processor\t: AArch64\n")
    assert provenance.cpu_generation() is None


@pytest.mark.parametrize(("text", "size"), [("48K", 49152), ("2M", 2097152), ("512", 512)])
def test_cache_sizes_are_read_in_bytes(text: str, size: int) -> None:
    assert provenance._size(text) == size


def test_the_system_s_version_is_a_number_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance.platform, "system", lambda: "Linux")
    monkeypatch.setattr(provenance.platform, "release", lambda: "6.1.2-somebody-built-this")
    assert provenance.operating_system() == "Linux 6.1.2"


def test_facts_name_every_package_and_core(monkeypatch: pytest.MonkeyPatch) -> None:
    facts: dict[str, Any] = provenance.machine()
    assert facts["packages"]["tiktoken"]
    assert facts["packages"]["msgspec"]
    assert facts["usable_cores"] >= 1
    assert facts["memory_bytes"] > 0
