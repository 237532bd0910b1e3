"""A wheel, installed in a new environment and run far from the checkout, is one package that needs no compiler.

`make test` gives it the object files of this machine, compiled already; `make campaign` compiles those of each machine.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

from bpebench import wheel_hook
from impls.compiled.codegen import build, target

_ROOT = Path(__file__).resolve().parents[1]


NAMES = """
from bpebench.impls.compiled.codegen import build, target
for generation in target.generations():
    for object_file in build.OBJECT_FILES:
        print(build.ready_made_name(object_file, generation), object_file)
"""


def add_object_files(command: list[str], env: dict[str, str], **_: Any) -> None:
    """Do what the build hook's process does, by the object files of this machine."""
    done = ask([sys.executable, "-P", "-c", NAMES], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        name, object_file = line.split()
        (Path(command[-1]) / name).write_bytes(build._own_image(object_file))


ask = subprocess.run


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build.prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", add_object_files)
        (built,) = WheelBuilder(str(_ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    return Path(built)


def test_the_wheel_is_one_package_with_the_datasets_in_it(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert all(name.startswith("bpebench/") for name in names)
    assert "bpebench/py.typed" in names
    data, page = "bpebench/harness/datasets", "bpebench/harness/play/page"
    assert {f"{data}/{name}" for name in ("corpora.toml", "vocabularies.toml", "samples/tr.txt")} <= names
    assert any(name.startswith(f"{data}/workloads/") for name in names)
    assert {f"{page}/{name}" for name in ("index.html", "style.css", "main.js", "sentences.json")} <= names
    assert not any("__pycache__" in name for name in names)
    assert "²³¹¼½¾" in zipfile.ZipFile(wheel).read("bpebench/impls/formats/tokenizer_json/oniguruma.py").decode()


def test_no_module_of_the_wheel_imports_one_by_its_name_in_the_repository(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        for node in ast.walk(ast.parse(archive.read(name))) if name.endswith(".py") else ():
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
            assert not [module for module in modules if re.match(r"(impls|harness)([.:]\w|$)", module)], name


def test_what_names_a_module_is_rewritten_and_nothing_else() -> None:
    changes = {
        "import impls\n": "from bpebench import impls\n",
        "import harness.explain as account\n": "import bpebench.harness.explain as account\n",
        "from impls.core import errors\n": "from bpebench.impls.core import errors\n",
        "f'harness.commands.{name}', 'impls:names', 'impls', b'impls.core'\n":
            "f'bpebench.harness.commands.{name}', 'bpebench.impls:names', 'bpebench.impls', b'bpebench.impls.core'\n",
        "impls.load('impls/core', my.impls.x)\n": "impls.load('impls/core', my.impls.x)\n",
    }  # fmt: skip
    assert wheel_hook.moved("".join(changes)) == "".join(changes.values())


@pytest.mark.campaign
def test_the_wheel_carries_kernels_for_every_kind_of_machine(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(_ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    archive = zipfile.ZipFile(built)
    kinds = [archive.read(name)[18:20] for name in archive.namelist() if name.endswith(".o")]
    machines = {"x86_64": b"\x3e\0", "aarch64": b"\xb7\0"}  # in the header of an ELF file
    expected = [machines[one.partition(":")[0]] for one in target.generations() for _ in build.OBJECT_FILES]
    assert sorted(kinds) == sorted(expected)


def installed(wheel: Path, folder: Path, packages: str) -> Path:
    """A new environment with the wheel installed in it, and the packages of the folder `packages`."""
    environment = folder / "environment"
    venv.create(environment)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(environment / "bin" / "python")]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    (site / "dependencies.pth").write_text(packages + "\n", encoding="utf-8")
    return environment


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with all packages that are installed for the tests; the project itself is not on its path."""
    return installed(wheel, tmp_path_factory.mktemp("installed"), sysconfig.get_path("purelib"))


def required(wheel: Path) -> list[Distribution]:
    """What the wheel requires, and what that requires."""
    (metadata,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA"))
    lines = zipfile.ZipFile(wheel).read(metadata).decode().splitlines()
    asked = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    found: dict[str, Distribution] = {}
    while asked:
        one = Requirement(asked.pop())
        if one.name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found[one.name] = distribution(one.name)
            asked += found[one.name].requires or ()
    return list(found.values())


@pytest.fixture(scope="module")
def light(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with what the wheel requires and nothing else."""
    folder = tmp_path_factory.mktemp("light")
    (folder / "packages").mkdir()
    for package in required(wheel):
        for name in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            (folder / "packages" / name).symlink_to(Path(str(package.locate_file(name))))
    return installed(wheel, folder, str(folder / "packages"))


def run(environment: Path, folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in `folder`, with an empty cache there."""
    return subprocess.run(
        [environment / "bin" / command[0], *command[1:]],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        | {"BPEBENCH_CACHE": str(folder / "cache")}
        | variables,
        capture_output=True,
        text=True,
    )


def test_the_installed_wheel_checks_the_samples_outside_the_tree(environment: Path, tmp_path: Path) -> None:
    finished = run(environment, tmp_path, "bpebench", "check", "-c", "samples/tr", "-e", "^(naive|tiktoken)$")
    assert finished.returncode == 0, finished.stderr
    assert "all pairs that must agree do" in finished.stdout


USERS_OWN = """
import bpebench, harness, impls
assert harness.MINE and impls.MINE
tokenizer = bpebench.train("priority", ["the cat"] * 9, bpebench.TrainingSpec(vocab_size=260))
from bpebench import hf
import bpebench.hf
assert bpebench.hf is hf
print(tokenizer.decode(tokenizer.encode("the cat")), bpebench.__file__)
"""


def test_a_script_beside_folders_of_these_names_gets_its_own_and_ours(environment: Path, tmp_path: Path) -> None:
    for name in ("harness", "impls"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("MINE = True\n", encoding="utf-8")
    (tmp_path / "script.py").write_text(USERS_OWN, encoding="utf-8")
    ended = run(environment, tmp_path, "python", "script.py")
    assert ended.stdout.startswith("the cat "), ended.stderr
    assert Path(ended.stdout.split()[-1]).is_relative_to(environment)
    for command in (["bpebench"], ["python", "-m", "bpebench"]):
        listed = run(environment, tmp_path, *command, "list")
        assert "compiled" in listed.stdout, listed.stderr


TYPED = """
import bpebench
from bpebench import hf

tokenizer = bpebench.load("o200k_base")
reveal_type(tokenizer.encode("a"))
reveal_type(hf.Tokenizer.from_file)
reveal_type(bpebench.get_encoding)
bpebench.load(1)
"""


def test_a_type_checker_sees_the_types_of_a_users_file(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TYPED, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(environment / "bin" / "python")]
    output = subprocess.run([*command, "mine.py"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert 'Revealed type is "list[int]"' in output.replace("builtins.", ""), output
    assert output.count("Revealed type is") == 3
    assert '"Any"' not in output
    assert output.count("error:") == 1
    assert 'mine.py:9: error: Argument 1 to "load" has incompatible type "int"' in output


FIRST_IDS = """
import sys
from bpebench import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
tokenizer = impls.load("compiled", model)
print(tokenizer.encode("abc"), tokenizer.decode([256]), tokenizer.encode_batch(["ab", "c"]))
"""


needs_kernels = pytest.mark.skipif(target.generation() is None, reason="it has no object files for this processor")


@needs_kernels
def test_the_first_ids_of_the_installed_wheel_need_no_compiler(environment: Path, tmp_path: Path) -> None:
    first = run(environment, tmp_path, "python", "-c", FIRST_IDS)
    assert (first.stdout, first.stderr) == ("[256, 99] ab [[256], [99]]\n", "")


@needs_kernels
@pytest.mark.skipif(sys.platform != "linux" or target.machine() != "x86_64", reason="LLVM loads kernels here")
def test_an_installation_without_numba_and_llvm_encodes_and_trains(light: Path, tmp_path: Path, wheel: Path) -> None:
    for package in ("numba", "llvmlite"):
        refused = run(light, tmp_path, "python", "-c", f"import {package}")
        assert refused.stderr.endswith(f"No module named '{package}'\n")
    first = run(light, tmp_path, "python", "-c", FIRST_IDS)
    assert (first.stdout, first.stderr) == ("[256, 99] ab [[256], [99]]\n", "")
    (tmp_path / "corpus.txt").write_text("the cat sat on the mat\n" * 9, encoding="utf-8")
    made = run(light, tmp_path, "bpebench", "train", "-c", "corpus.txt", "--vocab-size", "262", "--out", "own.json")
    assert made.returncode == 0, made.stderr
    ids = run(light, tmp_path, "bpebench", "encode", "-m", "own.json", "-e", "compiled", "the cat")
    assert ids.returncode == 0, ids.stderr
    compiled = run(light, tmp_path, "python", "-c", FIRST_IDS, BPEBENCH_COMPILED_BUILD="checked")
    assert compiled.stderr.endswith("Numba, which compiles them, is not installed; pip install numba\n")


def test_what_an_installation_without_extras_takes_is_at_most_120_mb(wheel: Path) -> None:
    sizes = [file.file_size for file in zipfile.ZipFile(wheel).infolist()]
    sizes += [Path(str(file.locate())).stat().st_size for package in required(wheel) for file in package.files or ()]
    assert sum(sizes) < 120e6
