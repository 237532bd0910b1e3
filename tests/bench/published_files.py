"""How long a `tokenizer.json` takes to load: its library, and ours, in turns, each in a fresh process.

    python tests/bench/published_files.py [--processes 5] [MODEL or FILE …]

"first": the cache holds compiled kernels and nothing of the file; "later": also what the first load left. Seconds are
of processor time, without imports, and medians; memory is the peak of the process above what it had before the load.
Each has its ratio to the library's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from load import new_cache, run

_MODELS = ["r50k_base", "p50k_base", "cl100k_base", "o200k_base", "llama3", "qwen", "qwen3.6", "deepseek", "tekken"]
_MODELS += ["mistral-v1", "mistral-v3"]
_LOADS = {
    "tokenizers": "from tokenizers import Tokenizer\nload = Tokenizer.from_file",
    "bpebench.load": "import bpebench, impls.compiled, impls.formats\nload = bpebench.load",
    "bpebench.hf": "from bpebench import hf\nimport impls.compiled\nload = hf.Tokenizer.from_file",
}
_TIMED = """
import json, sys, warnings
from time import process_time
from harness.process.memory import peak_bytes, resident_bytes
warnings.simplefilter("ignore")
{load}
before, start = resident_bytes(), process_time()
tokenizer = load(sys.argv[1])
print(json.dumps([process_time() - start, (peak_bytes() - before) / 1e6]))
"""
_WRITE = """
import sys, bpebench
from impls.formats import save
save(bpebench.load_model(sys.argv[1]), sys.argv[2], "tokenizer.json")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=_MODELS, help="names of `load_model`, or tokenizer.json files")
    parser.add_argument("--processes", type=int, default=5, help="fresh processes of each kind (default 5)")
    options = parser.parse_args()
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            path = model if Path(model).is_file() else _written(model, Path(folder))
            print(
                f"{model}, {Path(path).stat().st_size / 1e6:.1f} MB: {_compared(path, options.processes)}", flush=True
            )


def _written(model: str, folder: Path) -> str:
    path = str(folder / "tokenizer.json")
    run(_WRITE, {}, model, path)
    return path


def _compared(path: str, n_processes: int) -> str:
    runs: dict[str, list[list[float]]] = {}
    for _ in range(n_processes):
        for name, load in _LOADS.items():
            with new_cache("compiled/kernels") as environment:
                for when in ("first",) if name == "tokenizers" else ("first", "later"):
                    timed = run(_TIMED.format(load=load), environment, path)
                    runs.setdefault(f"{name} {when}", []).append(json.loads(timed))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in runs.items()}
    seconds, megabytes = medians["tokenizers first"]
    return "; ".join(
        f"{name} {s:.2f} s ({s / seconds:.2f} ×), {mb:.0f} MB ({mb / megabytes:.2f} ×)"
        for name, (s, mb) in medians.items()
    )


if __name__ == "__main__":
    main()
