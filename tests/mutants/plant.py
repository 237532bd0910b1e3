"""Plant faults by rule in the files named, one at a time, run the tests that concern each, print which faults survive.

    python tests/mutants/plant.py impls/naive.py impls/compiled/merge [--sample 50] [--seed 7] [--tests tests/impls]

All happens in a copy of the working tree with a copy of the cache: nothing here changes, and no kernel of yours gets a
fault. A fault is found if a test fails with it that passes without it, or runs out of time or memory. The tests that
found the last ones are asked first, then those of `choice.tests_of`.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path

from choice import ROOT, reached, tests_of
from rules import Mutant, mutants_of

from impls.compiled.codegen.entry_points import OBJECT_FILES
from impls.core.cache import cache_folder, read_checked, write_checked

MEMORY_BYTES = 8 << 30
SECONDS = 300
"""After so long no further test of a round begins, and the fault survives it."""
TEST_SECONDS = 150
"""Maximum for a test that is not of `SLOW`."""
KERNELS = ("impls/core/", "impls/compiled/")
"""Where a fault may change the kernels, or what is cached of models and patterns."""
SLOW = ("tests/impls/compiled/test_memory.py",)
N_KILLERS, N_FIRST = 4, 6
"""Numbers of tests and of test files asked first: for most faults the others need not be collected."""
DIGEST = """
from impls.compiled.codegen import build
print(build.source_digest()[:32])
"""
BUILD = """
import sys
from impls.compiled.codegen import build
for name in sys.argv[1:]:
    build._own_image(name)
"""


class Plantation:
    """A copy of the working tree and of the cache in a folder, in which one fault is planted at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tree = folder, folder / "tree"
        self.sound: list[str] = []  # the tests that found a fault and pass without it, the latest first
        self.unsound: list[str] = []
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")  # fmt: skip
        for name in names:
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        subprocess.run(["git", "init", "-q"], cwd=self.tree, check=True)
        shutil.copytree(cache_folder(), folder / "sound", ignore=shutil.ignore_patterns("*.lock"))
        self._renew_cache()
        self.digests = self._digests()

    def first_to_fail(self, path: str, mutant: Mutant, tests: list[str]) -> str:
        """Plant a fault; return the first test that fails, or another reason why it is found; "" if it is not."""
        source = (self.tree / path).read_bytes()
        killers = [test for test in self.sound if test.partition("::")[0] in tests][:N_KILLERS]
        usual = [test for test in tests if test not in SLOW]
        rounds = [killers, usual[:N_FIRST], usual[N_FIRST:], *([test] for test in SLOW if test in tests)]
        try:
            self._write(path, mutant.applied(source))
            if failure := self._kernels(path):
                return failure
            for some in filter(None, rounds):
                while failure := self._failure(some):
                    if "::" not in failure or self._is_sound(failure, path, source):
                        return failure
                    self._write(path, mutant.applied(source))
        finally:
            self._write(path, source)
        return ""

    def _is_sound(self, test: str, path: str, source: bytes) -> bool:
        """Return whether a test passes without the fault; it is asked once."""
        if test in self.sound:
            self.sound.remove(test)
        else:
            self._write(path, source)
            if self._failure([test]):
                self.unsound.append(test)
                print(f"  fails without any fault: {test}", flush=True)
                return False
        self.sound.insert(0, test)
        return True

    def _write(self, path: str, content: bytes) -> None:
        """Write a module, and remove what is kept of it: Python looks at sizes and whole seconds only, and the key of
        what is cached of models and patterns does not cover all of the code."""
        file = self.tree / path
        file.write_bytes(content)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()
        self._renew_cache()
        if path.startswith(KERNELS):
            for name in ("tables", "patterns"):
                shutil.rmtree(self.folder / "cache" / "compiled" / name, ignore_errors=True)

    def _renew_cache(self) -> None:
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        shutil.copytree(self.folder / "sound", self.folder / "cache", copy_function=os.link)

    def _digests(self) -> list[str]:
        """Return the digest of the kernels' sources in each build; "" if that cannot be asked."""
        builds = ({}, {"BPEBENCH_COMPILED_BUILD": "checked"})
        answers = [self._run(["-c", DIGEST], TEST_SECONDS, **build) for build in builds]
        return ["" if status else output.strip() for status, output in answers]

    def _kernels(self, path: str) -> str:
        """Compile the kernels that a fault in `path` can change, take the others as they are; return how that fails."""
        if not path.startswith(KERNELS) or (digests := self._digests()) == self.digests:
            return ""
        others = reached("impls/compiled/codegen/__main__.py")
        for name, modules in OBJECT_FILES.items():
            sources = {f"impls/compiled/{module.replace('.', '/')}.py" for module in modules}
            if path not in others.union(*map(reached, sources)):
                for before, after in zip(self.digests, digests, strict=True):
                    kernels = self.folder / "cache" / "compiled" / "kernels"
                    content = read_checked(kernels / f"{before}-{name}.o")
                    if content is not None and after:
                        write_checked(kernels / f"{after}-{name}.o", content.content)
        status, output = self._run(["-c", BUILD, *OBJECT_FILES], 2 * SECONDS)
        return f"kernels that do not compile ({(output.strip().splitlines() or [''])[-1][:100]})" if status else ""

    def _failure(self, tests: list[str]) -> str:
        """Run tests until one fails; return it, or what stopped them; "" if they pass."""
        seconds = 10 * TEST_SECONDS if tests[0] in SLOW else TEST_SECONDS
        status, output = self._run(
            ["-m", "pytest", "-x", "-q", "-n", "0", "--no-header", "-p", "no:cacheprovider", "--tb=line",
             f"--timeout={seconds}", f"--session-timeout={SECONDS}", "-o", f"faulthandler_timeout={seconds + 20}",
             "-o", "faulthandler_exit_on_timeout=true", *(f"--deselect={test}" for test in self.unsound), *tests],
            SECONDS + 2 * seconds,
        )  # fmt: skip
        failed = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", output, re.M)
        if failed is not None:
            return failed[1] if failed[1].endswith("]") else failed[1].partition("[")[0]
        # A test that is not found without the fault has its name from the faulty module: nothing fails.
        if status in (0, 5) or "session-timeout" in output or "ERROR: not found: " in output:
            return ""
        return f"a process that ended with status {status} ({(output.strip().splitlines() or [''])[-1][:100]})"

    def _run(self, arguments: list[str], seconds: int, **environment: str) -> tuple[int, str]:
        """Run Python in the copy with limits; return its exit status and what it printed.

        No limit is set on processor time: under one the system's clocks of it stand still between ticks.
        """

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))

        (folder := self.folder / "tmp").mkdir(exist_ok=True)
        with (self.folder / "output").open("w+", errors="replace") as output:
            process = subprocess.Popen(
                [sys.executable, *arguments], cwd=self.tree, preexec_fn=limit, start_new_session=True,
                env=os.environ | {"PYTHONPATH": str(self.tree), "BPEBENCH_CACHE": str(self.folder / "cache"),
                                  "TMPDIR": str(folder)} | environment,
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            with suppress(ProcessLookupError):  # what it left running too
                os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
            shutil.rmtree(folder, ignore_errors=True)
            output.seek(0)
            return status, output.read()


def files_named(names: list[str]) -> list[str]:
    """Return the modules that the arguments name: files, or folders with all below them."""
    paths = []
    for name in names:
        path = ROOT / name
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        if not files or not all(each.is_file() for each in files):
            sys.exit(f"{name}: no such file or folder of Python code in {ROOT.name}")
        paths += [each.relative_to(ROOT).as_posix() for each in files]
    if outside := [path for path in paths if not path.startswith(("impls/", "harness/", "bpebench"))]:
        sys.exit(f"{outside[0]}: faults are planted in impls, harness and bpebench only")
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description="plant faults by rule; print which of them the tests do not find")
    parser.add_argument("files", nargs="+", help="modules, or folders of modules")
    parser.add_argument("--sample", type=int, default=40, help="how many faults to plant in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="which faults are drawn")
    parser.add_argument("--tests", nargs="+", help="the test files to run in place of those that concern each file")
    options = parser.parse_args()
    sources = {path: (ROOT / path).read_bytes() for path in files_named(options.files)}
    possible = [(path, mutant) for path, source in sources.items() for mutant in mutants_of(source)]
    random.Random(options.seed).shuffle(possible)
    drawn = list(islice((each for each in possible if each[1].is_python(sources[each[0]])), options.sample))
    print(f"{len(drawn)} of {len(possible)} faults, drawn by --seed {options.seed}", flush=True)
    began, n_survivors = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        plantation = Plantation(Path(folder))
        for path, mutant in drawn:
            started, tests = time.monotonic(), options.tests or tests_of(path)
            test = plantation.first_to_fail(path, mutant, tests)
            n_survivors += not test
            print(f"{'found by ' + test if test else 'SURVIVES'} in {time.monotonic() - started:.0f} s: {path}:"
                  f"{mutant.line} ({mutant.rule}) {mutant.shown(sources[path])}", flush=True)  # fmt: skip
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    print(f"{len(drawn) - n_survivors} of {len(drawn)} faults are found, {n_survivors} survive; "
          f"{minutes} min {seconds} s")  # fmt: skip
    sys.exit(n_survivors * 10 > len(drawn))


if __name__ == "__main__":
    main()
