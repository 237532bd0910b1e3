"""How the processor time of `compiled` grows with the length of hostile text: one exponent for each generated corpus.

    python tests/bench/growth.py [MODEL]

As `bpebench run --scale --family all`, which times by the clock and needs an idle machine: texts of 1 KB to 1 MB, each
once in a fresh process, the smallest of three processes; here it is the time the processor gave.
"""

from __future__ import annotations

import math
import subprocess
import sys
from time import perf_counter, process_time

import impls
from harness.data import load_corpus, load_model
from harness.data.generated import ADVERSARIAL

SIZES = tuple(1024 << step for step in range(11))
PROCESSES = 3


def measure(model: str, family: str) -> None:
    """Prints nanoseconds of processor time for each size."""
    tokenizer = impls.get("compiled")(load_model(model))
    texts = ["".join(load_corpus(f"gen/{family}:{size}").documents()).encode() for size in SIZES]
    warm = "".join(load_corpus("gen/letters:500").documents())
    until = perf_counter() + 0.01
    while perf_counter() < until:
        tokenizer.encode(warm)
    for content in texts:
        text = content.decode("utf-8", "surrogatepass")
        started = process_time()
        ids = tokenizer.encode(text, disallowed_special=())
        print(len(content), int((process_time() - started) * 1e9), flush=True)
        del ids


def exponent(points: dict[int, int]) -> float:
    """The slope of the logarithms, by least squares."""
    sizes, times = [math.log(n) for n in points], [math.log(t) for t in points.values()]
    mean_size, mean_time = sum(sizes) / len(sizes), sum(times) / len(times)
    across = sum((x - mean_size) * (y - mean_time) for x, y in zip(sizes, times, strict=True))
    return across / sum((x - mean_size) ** 2 for x in sizes)


def main(model: str) -> None:
    """Prints a line for each family."""
    for family in ADVERSARIAL:
        best: dict[int, int] = {}
        for _ in range(PROCESSES):
            command = [sys.executable, __file__, model, family]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            for n_bytes, taken in (map(int, line.split()) for line in lines):
                best[n_bytes] = min(taken, best.get(n_bytes, taken))
        rates = " ".join(f"{taken / n_bytes:.1f}" for n_bytes, taken in best.items())
        print(f"{family}: exponent {exponent(best):.2f}; ns a byte from 1 KB to 1 MB: {rates}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(*sys.argv[1:])
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "cl100k_base")
