"""First calls of fresh processes, and later ones, of `compiled`: the working tree against a commit, in turn.

    python tests/bench/first_calls.py [--base COMMIT] [--megabytes 11] [--rounds 5] [--pause 0] [MODEL ...]

Nanoseconds a byte of UTF-8, medians: the first call of a process, and the quickest of five more of the same text, each
in a new str. In a pause before each process the host of a virtual machine may take back memory that is not in use.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from trees import ROOT, base_tree, comparison_parser, in_a_process

CORPORA = ("mixed", "turkish", "english", "code", "cjk")
WAYS = ("encode_array", "encode")
AGAIN = 5


def measure(model: str, corpus: str, way: str, megabytes: float) -> dict[str, float]:
    """Of this process, which has encoded nothing yet."""
    import impls
    from harness.data import load_corpus, load_model

    text = "\n".join(load_corpus(corpus, max_bytes=int(megabytes * 1e6)).documents())
    n_bytes = len(text.encode())
    encode = getattr(impls.get("compiled")(load_model(model)), way)
    encode("hello")

    def ns_a_byte() -> float:
        again = (text + " ")[:-1]
        started = perf_counter()
        encode(again, disallowed_special=())
        return (perf_counter() - started) * 1e9 / n_bytes

    return {"first": ns_a_byte(), "again": min(ns_a_byte() for _ in range(AGAIN))}


def main() -> None:
    parser = comparison_parser(__doc__)
    parser.add_argument("--megabytes", type=float, default=11)
    parser.add_argument("--pause", type=float, default=0, help="seconds before each process")
    options = parser.parse_args()
    with base_tree(options.base) as (commit, tree):
        trees = (tree, ROOT)
        print(f"ns a byte, {commit} → working tree")
        for place in trees:
            in_a_process(Path(__file__), place, [options.models[0], "cjk", WAYS[0], "0.01"])
        for model in options.models:
            for way in WAYS:
                for corpus in CORPORA:
                    arguments = [model, corpus, way, str(options.megabytes)]
                    found: dict[Path, list[dict[str, float]]] = {place: [] for place in trees}
                    for number in range(options.rounds):
                        for place in trees if number % 2 == 0 else reversed(trees):
                            sleep(options.pause)
                            found[place].append(in_a_process(Path(__file__), place, arguments))
                    shown = (
                        f"{call} " + " → ".join(f"{median(one[call] for one in found[place]):.2f}" for place in trees)
                        for call in ("first", "again")
                    )
                    print(f"{model:12} {way:13} {corpus:8} " + ", ".join(shown), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(*sys.argv[2:5], float(sys.argv[5]))))
    else:
        main()
