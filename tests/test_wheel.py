"""The wheel, as a user installs it: built, put into a new environment, run far from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(_ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_the_datasets_inside_the_harness(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"harness/datasets/corpora.toml", "harness/datasets/vocabularies.toml"} <= names
    assert "harness/datasets/samples/tr.txt" in names
    assert any(name.startswith("harness/datasets/workloads/") for name in names)
    assert not any(name.startswith(("datasets/", "tests/", "results/")) for name in names)


def test_the_installed_wheel_checks_the_samples_outside_the_tree(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-index", str(wheel)],
        check=True,
        capture_output=True,
    )
    # The dependencies are those installed for the tests; the project itself is not on this path.
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    finished = subprocess.run(
        [environment / "bin" / "bpebench", "check", "-c", "samples", "-E", "compiled"],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        | {"BPEBENCH_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    assert "everything that must agree agrees" in finished.stdout
    where = subprocess.run(
        [python, "-c", "import harness; print(harness.__file__)"], cwd=tmp_path, capture_output=True, text=True
    )
    assert Path(where.stdout.strip()).is_relative_to(environment)
