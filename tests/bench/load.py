"""How long `compiled` takes to start: stage by stage, in fresh processes, the smallest of several.

    python tests/bench/load.py [--model o200k_base] [--processes 9]

Imports stand apart. "kept": what earlier processes left in the user's cache is used. "first time": the model was never
read, its tables never made; the kernels are compiled all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="o200k_base", help="a name of `load_model` (default o200k_base)")
    parser.add_argument("--processes", type=int, default=9, help="fresh processes of each kind (default 9)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "model.json"
        run(f"from harness.data import load_model\nload_model({options.model!r}).save({str(own)!r})", {})
        for title, name in ((f"{options.model}, kept", options.model), ("from bpebench's own file, kept", str(own))):
            _print(title, _smallest([_loaded(name, {}) for _ in range(options.processes + 1)][1:]))
        _print(f"{options.model}, first time", _smallest(_first_times(options.model, options.processes)))


def _loaded(model: str, environment: dict[str, str]) -> dict[str, float]:
    return json.loads(run(_LOAD, environment, model))


def _first_times(model: str, n_processes: int) -> list[dict[str, float]]:
    found: list[dict[str, float]] = []
    for _ in range(n_processes):
        with new_cache("vocabularies", "compiled/kernels") as environment:
            found.append(_loaded(model, environment))
    return found


@contextmanager
def new_cache(*kept: str) -> Iterator[dict[str, str]]:
    """Give the environment of a cache that holds some folders of the user's and nothing else."""
    cache = Path(run("from impls.core.cache import cache_folder\nprint(cache_folder())", {}).strip())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "compiled").mkdir()
        for name in kept:
            (Path(folder) / name).symlink_to(cache / name)
        yield {"BPEBENCH_CACHE": folder}


def _smallest(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(run[name] for run in runs) for name in runs[0]}


def run(code: str, environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    environment = os.environ | {"PYTHONPATH": str(_ROOT)} | environment
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit((done.stderr.strip().splitlines() or ["a process ended without a word"])[-1])
    return done.stdout


def _print(title: str, stages: dict[str, float]) -> None:
    print(f"{title}: " + ", ".join(f"{name} {value:.1f}" for name, value in stages.items()))


if __name__ == "__main__":
    main()
