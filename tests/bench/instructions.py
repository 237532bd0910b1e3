"""Instructions `compiled` executes for a byte of text its caches know: counted by valgrind, not timed.

    python tests/bench/instructions.py [MODEL [CORPUS ...]]

Needs valgrind (a package of that name). On x86-64 the kernels are compiled for AVX2, as valgrind does not know AVX-512:
where that would be used there are a few less. What is counted is what a pass more adds, in processes of their own.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TEXT_BYTES = 200_000
FEW, MORE = 2, 6
"""Passes over the text."""
WAYS = ("encode_array", "encode")
KNOWN_PROCESSOR = """
import llvmlite.binding as llvm
llvm.get_host_cpu_name = lambda: "haswell"
llvm.get_host_cpu_features = llvm.FeatureMap
"""


def encode_repeatedly(model: str, corpus: str, way: str, passes: int) -> None:
    """Encodes the text so many times; it says how long it is in bytes and in ids."""
    import impls
    from harness.data import load_corpus, load_model

    text = "\n".join(load_corpus(corpus, max_bytes=TEXT_BYTES).documents())
    encode = getattr(impls.get("compiled")(load_model(model)), way)
    for _ in range(passes):
        ids = encode(text, disallowed_special=())
    print(len(text.encode()), len(ids))


def counted(folder: Path, model: str, corpus: str, way: str, passes: int) -> tuple[int, int, int]:
    """Instructions of a whole process that encodes so many times, and the bytes and ids of its text."""
    child = [sys.executable, "-P", __file__, "--one", model, corpus, way, str(passes)]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"}
    # Once without valgrind, which would take very long to compile the kernels.
    subprocess.run(child, env=environment, check=True, capture_output=True)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", *child]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if found is None:
        sys.exit(done.stderr[-2000:])
    n_bytes, n_ids = map(int, done.stdout.split())
    return int(found[1]), n_bytes, n_ids


def main(model: str, corpora: list[str]) -> None:
    """Prints a line for each corpus and way of encoding."""
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if platform.machine() == "x86_64":
            (folder / "sitecustomize.py").write_text(KNOWN_PROCESSOR)
        for corpus in corpora:
            for way in WAYS:
                few, n_bytes, n_ids = counted(folder, model, corpus, way, FEW)
                more, *_ = counted(folder, model, corpus, way, MORE)
                pass_ = (more - few) / (MORE - FEW)
                print(
                    f"{model} {corpus:8} {way:12} {pass_ / n_bytes:.2f} instructions a byte, {pass_ / n_ids:.1f} an id",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        encode_repeatedly(*sys.argv[2:5], int(sys.argv[5]))
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "cl100k_base", sys.argv[2:] or ["english", "turkish", "code", "cjk"])
