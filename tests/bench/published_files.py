"""How long files tokenizer.json take to load beside Hugging Face's library, in turns, each in a fresh process.

    python tests/bench/published_files.py [FILE…] [--rounds 5]

Without files, those of published vocabularies are written first. "first": the file was never read; "later": the cache
has it. Each ratio is the median over rounds of seconds divided by those of the library in the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_CHILD = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
what, path = sys.argv[1:]
if what == "library":
    from tokenizers import Tokenizer
    load = Tokenizer.from_file
elif what == "hf":
    from bpebench.hf import Tokenizer
    load = Tokenizer.from_file
else:
    import bpebench
    load = bpebench.load
start = time.perf_counter()
load(path).encode("hello world")
print(json.dumps([time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
_OF_MODELS = ("read", "tables", "patterns")
"""The folders of the cache that hold what was made of files."""
_MODELS = ("llama3", "qwen-nfc", "o200k_base", "deepseek", "mistral-v1")


def _measured(what: str, file: Path, cache: Path, first: bool) -> tuple[float, float]:
    for folder in cache.iterdir() if first and cache.exists() else ():
        if folder.name in _OF_MODELS:
            shutil.rmtree(folder)
    command = [sys.executable, "-c", _CHILD, what, str(file)]
    environment = os.environ | {"BPEBENCH_CACHE": str(cache)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def _written(folder: Path) -> list[Path]:
    from harness.data import load_model
    from impls import formats

    files = [folder / f"{name}.json" for name in _MODELS]
    for name, file in zip(_MODELS, files, strict=True):
        formats.save(load_model(name), file, "tokenizer.json")
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'file':24} {'':12} {'seconds':>8} {'ratio':>6} {'peak MB':>8}")
        for file in options.files or _written(Path(folder)):
            kept = Path(folder) / "cache"
            _measured("load", file, kept, first=False)  # compile the kernels
            cases = [("library", False), ("load", True), ("load", False), ("hf", True), ("hf", False)]
            rounds = [[_measured(what, file, kept, first) for what, first in cases] for _ in range(options.rounds)]
            for k, (what, first) in enumerate(cases):
                seconds, peaks = zip(*(measured[k] for measured in rounds), strict=True)
                ratio = statistics.median(measured[k][0] / measured[0][0] for measured in rounds)
                when = "" if what == "library" else "first" if first else "later"
                shown = f"{statistics.median(seconds):8.2f} {ratio:6.2f} {statistics.median(peaks):8.0f}"
                print(f"{file.name:24} {what:7}{when:5} {shown}", flush=True)


if __name__ == "__main__":
    main()
