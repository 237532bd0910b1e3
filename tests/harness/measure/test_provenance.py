"""What provenance says of a machine and an installation."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness import unicode_versions
from harness.measure import provenance


def test_the_versions_of_everything_that_can_be_timed_are_recorded() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = [line for extra in ("bench", "peers") for line in project["optional-dependencies"][extra]]
    names = {line.partition("=")[0].partition(">")[0] for line in requirements}
    assert {"bpebench", "numba", *names} <= set(provenance.recorded_packages())


def test_the_unicode_version_of_an_engine_is_found_by_asking_it() -> None:
    known = set("".join(unicode_versions.LETTERS[name] for name in ("10.0", "11.0", "12.0")))
    assert unicode_versions.version(known.__contains__) == "12.0"
    assert unicode_versions.version(lambda letter: False) is None
    engines = ("regex", "tiktoken", "naive", "no such implementation")
    assert list(map(unicode_versions.version_of, engines)) == ["16.0", "16.0", "16.0", None]


@pytest.mark.usefixtures("toys")
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


@pytest.mark.parametrize(("flags", "shown"), [("fpu avx2 avx512f", " AVX-512"), ("fpu avx2", " AVX2"), ("fpu", "")])
def test_a_processor_has_a_generation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, shown: str) -> None:
    facts = tmp_path / "cpuinfo"
    facts.write_text(f"cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nflags\t\t: {flags}\n")
    monkeypatch.setattr(provenance, "_CPUINFO", facts)
    assert provenance.cpu_generation() == f"family 26 model 2{shown}"
    facts.write_text("Processor\t: AArch64\n")
    assert provenance.cpu_generation() is None


def test_facts_name_every_package_and_core_and_the_system_by_its_number_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance.platform, "system", lambda: "Linux")
    monkeypatch.setattr(provenance.platform, "release", lambda: "6.1.2-somebody-built-this")
    facts: dict[str, Any] = provenance.machine()
    assert facts["os"] == "Linux 6.1.2"
    assert facts["packages"]["tiktoken"]
    assert facts["usable_cores"] >= 1
    assert facts["memory_bytes"] > 0
    assert [provenance._size(text) for text in ("48K", "2M", "512")] == [49152, 2097152, 512]
