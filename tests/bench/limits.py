"""How far `compiled` is from what this machine could do: its stages beside bare copies and scattered reads of memory.

    python tests/bench/limits.py [MODEL [CORPUS ...]]

Nanoseconds a byte of UTF-8: the machine's smallest of several, the stages' medians. One process, so that what is
compared was measured together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

import impls
from harness.data import load_corpus, load_model

TEXT_BYTES = 1_000_000
CACHE_LINE_BYTES = 64
CACHE_BYTES = 1 << 24
"""Of the table of pieces up to 15 bytes, as a context has it for a large vocabulary."""
RECORD_BYTES, END_BYTES, ID_BYTES = 24, 4, 4


def seconds(work: Callable[[], object], rounds: int = 15) -> float:
    """Of the quickest of several rounds."""
    times = []
    for _ in range(rounds):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)


def copy_ns_a_byte(n_bytes: int) -> float:
    """Nanoseconds a byte for reading and writing `n_bytes`."""
    source, target = np.ones(n_bytes, np.uint8), np.ones(n_bytes, np.uint8)
    return seconds(lambda: np.copyto(target, source)) * 1e9 / n_bytes


def scattered_read_ns(n_lines: int, n_reads: int) -> float:
    """Nanoseconds for one of many independent reads, each from one of `n_lines` cache lines of the whole table."""
    random = np.random.default_rng(0)
    words = CACHE_LINE_BYTES // 8
    table = np.ones(CACHE_BYTES // 8, np.int64)
    lines = random.choice(CACHE_BYTES // CACHE_LINE_BYTES, n_lines, replace=False)
    places, out = random.choice(lines, n_reads) * words, np.empty(n_reads, np.int64)
    return seconds(lambda: np.take(table, places, out=out, mode="wrap")) * 1e9 / n_reads


def main(model: str, corpora: list[str]) -> None:
    """Prints one line for the machine and some for each corpus."""
    near, far = copy_ns_a_byte(100_000), copy_ns_a_byte(1 << 26)
    print(f"copying: {near:.3f} ns a byte in the caches, {far:.3f} in memory")
    tokenizer = impls.get("compiled")(load_model(model))
    for corpus in corpora:
        text = "\n".join(load_corpus(corpus, max_bytes=TEXT_BYTES).documents())
        n_bytes = len(text.encode())
        pieces = tokenizer.pieces(text)
        n_pieces, n_distinct, n_ids = len(pieces), len(set(pieces)), len(tokenizer.encode(text, disallowed_special=()))
        rounds = [tokenizer.stage_seconds(text) for _ in range(9)]
        stages = {stage: median(one[stage] for one in rounds) * 1e9 / n_bytes for stage in rounds[0]}
        moved = n_bytes + n_pieces * 2 * (END_BYTES + RECORD_BYTES) + n_ids * 2 * ID_BYTES
        reading = scattered_read_ns(n_distinct, n_pieces) * n_pieces / n_bytes
        print(f"{model}, {corpus}: {n_bytes / n_pieces:.1f} bytes a piece, {n_distinct} distinct pieces")
        print("  " + ", ".join(f"{stage} {value:.2f}" for stage, value in stages.items()) + " ns a byte")
        known = stages["split"] + stages["look up"]
        print(
            f"  split and look up together {known:.2f}; what they move, copied in the caches: "
            f"{moved * near / n_bytes:.2f}; a read of a line for each piece: {reading:.2f}"
        )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(arguments[0] if arguments else "cl100k_base", arguments[1:] or ["english", "turkish", "code"])
