"""Instructions `compiled` executes for a byte of text its caches know: counted by valgrind, not timed.

    python tests/bench/instructions.py [MODEL [CORPUS ...]]

Needs valgrind (a package of that name). On x86-64 the kernels are compiled for AVX2, as valgrind does not know AVX-512:
where that would be used there are less. What is counted is what a pass more adds; the time is that of the same kernels.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from time import perf_counter_ns

TEXT_BYTES = 1_000_000
FEW, MORE = 2, 22
"""Passes over the text; what else a process does differs by some million instructions."""
WAYS = ("encode_array", "encode")
KNOWN_PROCESSOR = {"BPEBENCH_COMPILED_CPU": "haswell"} if platform.machine() == "x86_64" else {}


def encode_repeatedly(model: str, corpus: str, way: str, passes: int) -> None:
    """Encodes the text so many times; says how long it is in bytes and in ids, and the nanoseconds of the quickest."""
    import impls
    from harness.data import load_corpus, load_model

    text = "\n".join(load_corpus(corpus, max_bytes=TEXT_BYTES).documents())
    encode = getattr(impls.get("compiled")(load_model(model)), way)
    taken = []
    for _ in range(passes):
        started = perf_counter_ns()
        ids = encode(text, disallowed_special=())
        taken.append(perf_counter_ns() - started)
    print(len(text.encode()), len(ids), min(taken))


def counted(model: str, corpus: str, way: str, passes: int) -> tuple[int, int, int, int]:
    """Instructions of a whole process that encodes so many times, and what it says without valgrind."""
    child = [sys.executable, "-P", __file__, "--one", model, corpus, way, str(passes)]
    environment = os.environ | KNOWN_PROCESSOR | {"PYTHONHASHSEED": "0"}
    # Without valgrind first, which would take very long to compile the kernels.
    alone = subprocess.run(child, env=environment, check=True, capture_output=True, text=True)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", *child]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if found is None:
        sys.exit(done.stderr[-2000:])
    n_bytes, n_ids, nanoseconds = map(int, alone.stdout.split())
    return int(found[1]), n_bytes, n_ids, nanoseconds


def main(model: str, corpora: list[str]) -> None:
    """Prints a line for each corpus and way of encoding."""
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed")
    for corpus in corpora:
        for way in WAYS:
            few, *_ = counted(model, corpus, way, FEW)
            more, n_bytes, n_ids, nanoseconds = counted(model, corpus, way, MORE)
            one = (more - few) / (MORE - FEW)
            print(
                f"{model} {corpus:8} {way:12} {one / n_bytes:.1f} instructions a byte, {one / n_ids:.0f} an id, "
                f"in {nanoseconds / n_bytes:.2f} ns a byte: {one / nanoseconds:.1f} a nanosecond",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        encode_repeatedly(*sys.argv[2:5], int(sys.argv[5]))
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "cl100k_base", sys.argv[2:] or ["english", "turkish", "code", "cjk"])
