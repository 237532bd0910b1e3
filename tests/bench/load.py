"""How long `compiled` takes to start: stage by stage, in fresh processes, the smallest of several.

    python tests/bench/load.py [--model o200k_base] [--processes 9] [--compile]

Imports stand apart. "kept": what earlier processes left in the user's cache is used. "first time": the model was never
read, its tables never made; the kernels are compiled all the same. `--compile` compiles these anew, into nowhere.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from impls.compiled.codegen.entry_points import OBJECT_FILES

_ROOT = Path(__file__).resolve().parents[2]
_LOAD = """
import json, resource, sys
from time import perf_counter
marks = {"start": perf_counter()}
def mark(name):
    marks[name] = perf_counter()
import platformdirs, impls, impls.compiled, impls.formats, harness.data, harness.process.memory
from impls.compiled.codegen.native import native
mark("imports")
before = harness.process.memory.resident_bytes()
name = sys.argv[1]
model = impls.Model.load(name) if name.endswith(".json") else harness.data.load_model(name)
mark("model")
native.encode
mark("kernels")
tokenizer = impls.get("compiled")(model)
mark("tokenizer")
ids = tokenizer.encode("hello world")
mark("first ids")
names = list(marks)
found = {b: 1e3 * (marks[b] - marks[a]) for a, b in zip(names, names[1:])}
found["after imports"] = 1e3 * (marks["first ids"] - marks["imports"])
found["MB at most"] = ((harness.process.memory.peak_bytes() or before) - before) / 1e6
print(json.dumps(found))
"""
_START = """
import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
assert impls.load({name!r}, model).encode("abc") == [256, 99]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="o200k_base", help="a name of `load_model` (default o200k_base)")
    parser.add_argument("--processes", type=int, default=9, help="fresh processes of each kind (default 9)")
    parser.add_argument("--compile", action="store_true", help="also compile the kernels, once")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "model.json"
        run(f"from harness.data import load_model\nload_model({options.model!r}).save({str(own)!r})", {})
        for title, name in ((f"{options.model}, kept", options.model), ("from bpebench's own file, kept", str(own))):
            _print(title, _smallest([_loaded(name, {}) for _ in range(options.processes + 1)][1:]))
        _print(f"{options.model}, first time", _smallest(_first_times(options.model, options.processes)))
    names = ("compiled", "priority")
    seconds = {name: min(_seconds(name) for _ in range(options.processes)) for name in names}
    print(f"a process with a small model: compiled {seconds['compiled']:.2f} s, priority {seconds['priority']:.2f} s")
    if options.compile:
        _print_compilation()


def _loaded(model: str, environment: dict[str, str]) -> dict[str, float]:
    return json.loads(run(_LOAD, environment, model))


def _first_times(model: str, n_processes: int) -> list[dict[str, float]]:
    """Loads with a cache that holds vocabularies and kernels alone, a new one each time."""
    cache = Path(run("from impls.core.cache import cache_folder\nprint(cache_folder())", {}).strip())
    found: list[dict[str, float]] = []
    for _ in range(n_processes):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "compiled").mkdir()
            for kept in ("vocabularies", "compiled/kernels"):
                (Path(folder) / kept).symlink_to(cache / kept)
            found.append(_loaded(model, {"BPEBENCH_CACHE": folder}))
    return found


def _smallest(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(run[name] for run in runs) for name in runs[0]}


def _seconds(name: str) -> float:
    """Wall time of a process from its start to its end."""
    from time import perf_counter

    start = perf_counter()
    run(_START.format(name=name), {})
    return perf_counter() - start


def _print_compilation() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in OBJECT_FILES:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "impls.compiled.codegen", name, str(Path(folder) / "kernels.o")]
            subprocess.run(command, env=_environment({"NUMBA_OPT": "0"}), check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"compiling the kernels for {name}: {cpu:.1f} s of processor time")


def run(code: str, environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=_environment(environment), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit((done.stderr.strip().splitlines() or ["a process ended without a word"])[-1])
    return done.stdout


def _environment(changes: dict[str, str]) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(_ROOT)} | changes


def _print(title: str, stages: dict[str, float]) -> None:
    print(f"{title}: " + ", ".join(f"{name} {value:.1f}" for name, value in stages.items()))


if __name__ == "__main__":
    main()
