"""What a second thread can give a batch of unseen documents, and what it gives, of `compiled`.

    python tests/bench/second_thread.py [--rounds 3] [MODEL ...]

Each of two threads alone meets what is in its half of the documents, with caches of its own. So one thread takes whole
batches and every other document of them: twice the speed it has on these is the most two threads can come to. With a
pause before each batch, in which the machine's other users take the processor's caches, and without. Nanoseconds a
byte of UTF-8, medians over the batches of all processes, in turn; the batches are those of `batches.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

from batches import BATCH_BYTES, PAUSE, WAYS, measure
from trees import ROOT, in_a_process, rounds_parser

WHOLE, HALF, BOTH = ("1", "1"), ("1", "2"), ("2", "1")
"""Threads, and which documents of a batch: all, or every second one."""


def main() -> None:
    options = rounds_parser(__doc__).parse_args()
    for model in options.models:
        for pause in (PAUSE, 0.0):
            for way in WAYS:
                for corpus in BATCH_BYTES:
                    found: dict[tuple[str, str], list[float]] = {WHOLE: [], HALF: [], BOTH: []}
                    for number in range(options.rounds):
                        for how in found if number % 2 == 0 else reversed(found):
                            arguments = [model, corpus, way, *how, str(pause)]
                            found[how] += in_a_process(Path(__file__), ROOT, arguments)
                    whole, half, both = (median(found[how]) for how in (WHOLE, HALF, BOTH))
                    print(
                        f"{model:12} pause {pause:.1f} s {way:13} {corpus:8} one thread {whole:.2f}, "
                        f"every other document {half:.2f}, two threads {both:.2f}: "
                        f"gain {whole / both:.2f} of {2 * whole / half:.2f} at most",
                        flush=True,
                    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        model, corpus, way, threads, step, pause = sys.argv[2:]
        print(json.dumps(measure(model, corpus, way, int(threads), int(step), float(pause))))
    else:
        main()
