"""Plant faults by rule in the files named, one at a time, run the tests that concern each, print which faults survive.

    python tests/mutants/plant.py impls/naive.py impls/compiled/merge [--sample 50] [--seed 7] [--tests tests/impls]

All happens in a copy of the working tree with a copy of the cache: nothing here changes, and no kernel of yours gets a
fault. The tests that concern a file: the test files of its name, those that import it, and those of the folder that
mirrors its own. A fault is found if it makes them fail, or take far more time or memory than without it.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rules import Mutant, mutants_of

from impls.core.cache import cache_folder

ROOT = Path(__file__).parents[2]
MEMORY_BYTES = 8 << 30
LEAST_SECONDS = 60.0


@dataclass(slots=True)
class Target:
    """A file in which faults are planted, and the tests that concern it."""

    path: str
    source: bytes
    tests: list[str]
    planted: list[Mutant] = field(default_factory=list)
    survivors: list[Mutant] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of tests ended: pytest's exit status (negative: killed), processor time, the last lines."""

    status: int
    cpu_seconds: float
    output: str


def files_named(names: list[str]) -> list[str]:
    """Return the modules that the arguments name: files, or folders with all below them."""
    paths = []
    for name in names:
        path = ROOT / name
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        if not found or not all(each.is_file() for each in found):
            sys.exit(f"{name}: no such file or folder of Python code in {ROOT.name}")
        paths += [each.relative_to(ROOT).as_posix() for each in found]
    if outside := [path for path in paths if not path.startswith(("impls/", "harness/", "bpebench"))]:
        sys.exit(f"{outside[0]}: faults are planted in impls, harness and bpebench only")
    return paths


def tests_of(path: str) -> list[str]:
    """Return the tests that concern a module: test files of its name, those that import it, and its folder's mirror."""
    module = PurePosixPath(path).with_suffix("")
    if module.name == "__init__":
        module = module.parent
    name, parent = module.name, str(module.parent).replace("/", ".")
    side = ROOT / "tests" / module.parts[0]
    side = side if side.is_dir() else side.parent
    files = {test: test.read_text("utf-8") for test in sorted(side.rglob("test_*.py"))}
    own = [test for test in files if test.stem in (f"test_{name}", f"test_{module.parent.name}_{name}")]
    imports = re.compile(
        rf"^ *from ({re.escape(f'{parent}.{name}')} import|{re.escape(parent)} import .*\b{name}\b)", re.M
    )
    importing = [test for test, text in files.items() if imports.search(text)]
    # A module may have a folder of tests of its own: core/incremental.py, tests/impls/incremental.
    folder = [test for test in files if name in test.relative_to(side).parts[:-1]]
    mirrors = (ROOT / "tests" / above for above in module.parents)
    nearest = next((list(mirror.glob("test_*.py")) for mirror in mirrors if any(mirror.glob("test_*.py"))), [])
    chosen = dict.fromkeys([*own, *importing, *folder, *sorted(nearest)])
    return [test.relative_to(ROOT).as_posix() for test in chosen]


def copied(folder: Path) -> Path:
    """Copy the working tree and the cache into `folder`; return the copy of the tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    tree = folder / "tree"
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    if cache_folder().is_dir():
        shutil.copytree(cache_folder(), folder / "cache", ignore=shutil.ignore_patterns("*.lock"))
    return tree


def run_tests(tree: Path, tests: list[str], cpu_limit: float) -> Ended:
    """Run tests in a copy until the first that fails; kill them when they take more processor time than `cpu_limit`."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_limit) + 1, int(cpu_limit) + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))

    (tree.parent / "tmp").mkdir(exist_ok=True)
    environment = os.environ | {
        "PYTHONPATH": str(tree), "BPEBENCH_CACHE": str(tree.parent / "cache"), "TMPDIR": str(tree.parent / "tmp"),
    }  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "pytest",
        *["-x", "-q", "-n", "0", "--no-header", "-p", "no:cacheprovider", "--tb=line"],
    ]
    before = _children_seconds()
    process = subprocess.Popen(
        [*command, f"--timeout={max(60, int(cpu_limit))}", *tests], cwd=tree, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=120 + 10 * cpu_limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
    shutil.rmtree(tree.parent / "tmp", ignore_errors=True)
    return Ended(process.returncode, _children_seconds() - before, output)


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description="plant faults by rule; print which of them the tests do not find")
    parser.add_argument("files", nargs="+", help="modules, or folders of modules")
    parser.add_argument("--sample", type=int, default=40, help="how many faults to plant in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="which faults are drawn")
    parser.add_argument("--tests", nargs="+", help="the tests to run in place of those that concern each file")
    options = parser.parse_args()
    targets = []
    for path in files_named(options.files):
        source = (ROOT / path).read_bytes()
        targets.append(Target(path, source, options.tests or tests_of(path)))
    possible = [(target, mutant) for target in targets for mutant in mutants_of(target.source)]
    for target, mutant in random.Random(options.seed).sample(possible, min(options.sample, len(possible))):
        target.planted.append(mutant)
    n_planted = sum(len(target.planted) for target in targets)
    print(f"{n_planted} of {len(possible)} faults, drawn by --seed {options.seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copied(Path(folder))
        for target in targets:
            if target.planted:
                _examine(target, tree)
    survivors = sum(len(target.survivors) for target in targets)
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    cpu = _children_seconds()
    print(f"{n_planted - survivors} of {n_planted} faults are found, {survivors} survive; {minutes} min {seconds} s, "
          f"{cpu / 60:.1f} min of processor time")  # fmt: skip
    sys.exit(survivors * 10 > n_planted)


def _examine(target: Target, tree: Path) -> None:
    """Plant the faults of one file in turn in a copy."""
    file = tree / target.path
    sound = run_tests(tree, target.tests, 1800)
    if sound.status != 0:
        sys.exit(f"{target.path}: its tests fail without any fault:\n{sound.output[-2000:]}")
    print(f"{target.path}: {len(target.planted)} faults, {len(target.tests)} test files, "
          f"{sound.cpu_seconds:.0f} s without a fault", flush=True)  # fmt: skip
    for mutant in sorted(target.planted, key=lambda each: each.start):
        _write(file, mutant.applied(target.source))
        if run_tests(tree, target.tests, LEAST_SECONDS + 3 * sound.cpu_seconds).status == 0:
            target.survivors.append(mutant)
            print(f"  SURVIVES {target.path}:{mutant.line} ({mutant.rule}) {mutant.shown(target.source)}", flush=True)
    _write(file, target.source)


def _write(file: Path, content: bytes) -> None:
    """Write a module, and remove its bytecode: Python looks at sizes and whole seconds only."""
    file.write_bytes(content)
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


if __name__ == "__main__":
    main()
