"""Training from a file, the whole process: clock, processor time and memory, in turns, of `compiled` and of others.

    python tests/bench/train_file.py [MEGABYTES] [VOCABULARY_SIZE] [ROUNDS]

The file holds the documents of the corpora mixed, english, turkish and code in one random order after the other, a
blank line after each, so a large one has hardly more distinct words than a small one. gigabpe reads it by lines, the
others get the whole text; `compiled` does both. Prints the median of each figure, and the merges that are the same.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.data import load_corpus

COMPILED = """
import sys
from pathlib import Path
import impls
from impls.core.text.files import TextFile, TextFiles
files = TextFiles([TextFile(Path(sys.argv[1]), sys.argv[3])])
spec = impls.TrainingSpec(vocab_size=int(sys.argv[2]), base_order="gpt2")
model = impls.get("compiled").train_model(files, spec)
merges = [(model.tokens[left], model.tokens[right]) for left, right in model.merges]
"""
GIGABPE = """
import sys
import gigabpe
from impls.core.text.byte_alphabet import from_printable
merges = gigabpe.train_bpe([sys.argv[1]], int(sys.argv[2]), pretokenizer="bytelevel", min_frequency=1, threads=2)[1]
merges = [(from_printable(left), from_printable(right)) for left, right in merges]
"""
LIBRARY = """
import sys
from pathlib import Path
import impls
spec = impls.TrainingSpec(vocab_size=int(sys.argv[2]), base_order=sys.argv[4])
model = impls.get(sys.argv[3]).train_model([Path(sys.argv[1]).read_text()], spec)
merges = [(model.tokens[left], model.tokens[right]) for left, right in model.merges]
"""
REPORT = """
import hashlib, json, resource
used = resource.getrusage(resource.RUSAGE_SELF)
digest = hashlib.sha256(repr(merges[:1000]).encode()).hexdigest()
cpu = used.ru_utime + used.ru_stime
print(json.dumps({"cpu": cpu, "mb": used.ru_maxrss / 1000, "n": len(merges), "digest": digest}))
"""
TRAINERS = {
    "compiled, paragraphs": (COMPILED, "paragraphs"),
    "compiled, lines": (COMPILED, "lines"),
    "gigabpe, lines": (GIGABPE,),
    "rustbpe, whole text": (LIBRARY, "rustbpe", "raw"),
    "gigatoken, whole text": (LIBRARY, "gigatoken", "gpt2"),
    "tokenizers, whole text": (LIBRARY, "tokenizers", "gpt2"),
}
MOST_MEGABYTES = {"tokenizers, whole text": 100, "rustbpe, whole text": 100}
"""Larger files take these minutes."""


def write(path: Path, n_bytes: int) -> None:
    """Write the file."""
    documents = [text for name in ("mixed", "english", "turkish", "code") for text in load_corpus(name).documents()]
    rng, written = random.Random(1), 0
    with path.open("wb") as file:
        while written < n_bytes:
            rng.shuffle(documents)
            for text in documents:
                written += file.write(text.encode("utf-8", "replace") + b"\n\n")
                if written >= n_bytes:
                    return


def main(megabytes: int = 100, vocab_size: int = 32_000, rounds: int = 5) -> None:
    """Print a line for each trainer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        write(path, megabytes * 1_000_000)
        chosen = [name for name in TRAINERS if megabytes <= MOST_MEGABYTES.get(name, megabytes)]
        found: dict[str, list[dict[str, float]]] = {name: [] for name in chosen}
        same: dict[str, set[str]] = {name: set() for name in chosen}
        for _ in range(rounds):
            for name in random.sample(chosen, len(chosen)):
                script, *arguments = TRAINERS[name]
                started = time.perf_counter()
                command = [sys.executable, "-c", script + REPORT, str(path), str(vocab_size), *arguments]
                done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
                if done.returncode:
                    print(f"{name}: {done.stderr.strip().splitlines()[-1]}")
                    continue
                figures = json.loads(done.stdout)
                same[name].add(figures["digest"])
                found[name].append({"seconds": time.perf_counter() - started} | figures)
    for name in filter(found.get, chosen):
        middle = {key: statistics.median(row[key] for row in found[name]) for key in ("seconds", "cpu", "mb", "n")}
        equal = [other for other in chosen if other != name and same[other] == same[name]]
        print(
            f"{name}: {middle['seconds']:.2f} s, {middle['cpu']:.2f} s of processors, {middle['mb']:.0f} MB, "
            f"{middle['n']:.0f} merges, the first 1,000 as {', '.join(equal) or 'nobody'}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
