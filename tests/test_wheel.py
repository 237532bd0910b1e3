"""A wheel, installed in a new environment and run far from the checkout, has its data and needs no compiler.

`make test` gives it the object files of this machine, compiled already; `make campaign` compiles those of each machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder

from impls.compiled.codegen import build, target

_ROOT = Path(__file__).resolve().parents[1]


def add_object_files(command: list[str], **_: Any) -> None:
    """Do what the build hook's process does, by the object files of this machine."""
    for generation in target.generations():
        for object_file in build.OBJECT_FILES:
            name = build.ready_made_name(object_file, generation)
            (Path(command[-1]) / name).write_bytes(build._own_image(object_file))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", add_object_files)
        (built,) = WheelBuilder(str(_ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    return Path(built)


def test_the_wheel_carries_the_datasets_inside_the_harness(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"harness/datasets/corpora.toml", "harness/datasets/vocabularies.toml"} <= names
    assert "harness/datasets/samples/tr.txt" in names
    assert any(name.startswith("harness/datasets/workloads/") for name in names)
    assert {f"harness/play/page/{name}" for name in ("index.html", "style.css", "main.js", "sentences.json")} <= names
    assert not any(name.startswith(("datasets/", "tests/", "results/")) for name in names)


@pytest.mark.campaign
def test_the_wheel_carries_kernels_for_every_kind_of_machine(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(_ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    archive = zipfile.ZipFile(built)
    found = {name: archive.read(name)[18:20] for name in archive.namelist() if name.endswith(".o")}
    kinds = {"x86_64": b"\x3e\0", "aarch64": b"\xb7\0"}  # in the header of an ELF file
    assert found == {
        f"impls/compiled/codegen/ready_made/{build.ready_made_name(object_file, one)}": kinds[one.partition(":")[0]]
        for one in target.generations()
        for object_file in build.OBJECT_FILES
    }


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel installed in it."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(environment)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(environment / "bin" / "python")]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    # The dependencies are those installed for the tests; the project itself is not on this path.
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return environment


def run(environment: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in `folder`, with an empty cache there."""
    return subprocess.run(
        [environment / "bin" / command[0], *command[1:]],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        | {"BPEBENCH_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
    )


def test_the_installed_wheel_checks_the_samples_outside_the_tree(environment: Path, tmp_path: Path) -> None:
    finished = run(environment, tmp_path, "bpebench", "check", "-c", "samples/tr", "-e", "^(naive|tiktoken)$")
    assert finished.returncode == 0, finished.stderr
    assert "everything that must agree agrees" in finished.stdout
    where = run(environment, tmp_path, "python", "-c", "import harness; print(harness.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(environment)


FIRST_IDS = """
import sys
import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
tokenizer = impls.load("compiled", model)
print(tokenizer.encode("abc"), tokenizer.decode([256]), tokenizer.encode_batch(["ab", "c"]))
"""


@pytest.mark.skipif(target.generation() is None, reason="the wheel carries no object files for this processor")
def test_the_first_ids_of_the_installed_wheel_need_no_compiler(environment: Path, tmp_path: Path) -> None:
    first = run(environment, tmp_path, "python", "-c", FIRST_IDS)
    assert (first.stdout, first.stderr) == ("[256, 99] ab [[256], [99]]\n", "")
