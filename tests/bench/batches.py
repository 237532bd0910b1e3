"""Batches of unseen documents on one thread and on two, of `compiled`: the working tree against a commit, in turn.

    python tests/bench/batches.py [--base COMMIT] [--rounds 5] [MODEL ...]

Nanoseconds a byte of UTF-8, medians over the batches of all processes: five batches of 4 KB documents in each, 0.8 MB
(`cjk`: 0.1 MB) or, where the corpus has less, fewer, behind a first one that is not counted, 0.1 s between two.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from trees import ROOT, base_tree, comparison_parser, in_a_process

BATCH_BYTES = {"mixed": 800_000, "turkish": 800_000, "english": 800_000, "code": 800_000, "cjk": 100_000}
WAYS = ("encode_ragged", "encode_batch")
BATCHES = 5
DOCUMENT_CHARACTERS = 4096
PAUSE = 0.1
"""Seconds before each batch."""


def documents(corpus: str) -> list[bytes]:
    """All of a corpus by its characters, shuffled."""
    from harness.data import load_corpus

    text = "\n".join(load_corpus(corpus, max_bytes=11_000_000).documents())
    found = [text[i : i + DOCUMENT_CHARACTERS].encode() for i in range(0, len(text), DOCUMENT_CHARACTERS)]
    random.Random(5).shuffle(found)
    return found


def measure(model: str, corpus: str, way: str, threads: int, step: int = 1, pause: float = PAUSE) -> list[float]:
    """Nanoseconds a byte of each batch of this process, every `step`th document of a batch alone encoded."""
    import impls
    from harness.data import load_model

    left = documents(corpus)
    encode = getattr(impls.get("compiled")(load_model(model)), way)
    found: list[float] = []
    while left and len(found) <= BATCHES:
        batch, n_bytes = [], 0
        while left and n_bytes < BATCH_BYTES[corpus]:
            batch.append(left.pop())
            n_bytes += len(batch[-1])
        batch = batch[::step]
        n_bytes = sum(map(len, batch))
        texts = [document.decode() for document in batch]
        sleep(pause)
        started = perf_counter()
        encode(texts, threads, disallowed_special=())
        found.append((perf_counter() - started) * 1e9 / n_bytes)
    return found[1:]


def main() -> None:
    options = comparison_parser(__doc__).parse_args()
    with base_tree(options.base) as (commit, tree):
        trees = (tree, ROOT)
        print(f"ns a byte, {commit} → working tree")
        for place in trees:
            in_a_process(Path(__file__), place, [options.models[0], "cjk", WAYS[0], "1"])
        for model in options.models:
            for way in WAYS:
                for corpus in BATCH_BYTES:
                    found: dict[tuple[Path, int], list[float]] = {(place, n): [] for place in trees for n in (1, 2)}
                    for number in range(options.rounds):
                        for place, n in found if number % 2 == 0 else reversed(found):
                            found[place, n] += in_a_process(Path(__file__), place, [model, corpus, way, str(n)])
                    one, two = ([median(found[place, n]) for place in trees] for n in (1, 2))
                    gains = [a / b for a, b in zip(one, two, strict=True)]
                    shown = [
                        f"{what} " + " → ".join(f"{figure:.2f}" for figure in figures)
                        for what, figures in (("one thread", one), ("two", two), ("gain", gains))
                    ]
                    print(f"{model:12} {way:13} {corpus:8} " + ", ".join(shown), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(*sys.argv[2:5], int(sys.argv[5]))))
    else:
        main()
