"""What the calls with a limit cost on one long piece, as multiples of `encode` of the same text.

    python tests/bench/bounds.py [CHARACTERS] [IMPLEMENTATION]

The largest ratio over several limits, of medians of processor times in turn; one line a model and text.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from statistics import median
from time import thread_time

import impls
from harness.data import load_model

MODELS = ("cl100k_base", "o200k_base", "llama3", "mistral-v1", "qwen", "deepseek")
ROUNDS = 5


def texts(n_characters: int) -> dict[str, str]:
    """Return one long piece of each kind."""
    rng = random.Random(7)
    return {
        "one letter": "x" * n_characters,
        "blanks": " " * n_characters,
        "random letters": "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=n_characters)),
        "Thai": "".join(map(chr, rng.choices(range(0x0E01, 0x0E2F), k=n_characters))),
    }


def seconds(call: Callable[[str], object], text: str) -> float:
    """Return the processor seconds of one call."""
    started = thread_time()
    call(text)
    return thread_time() - started


def ratio(call: Callable[[str, int], object], encode: Callable[[str], object], text: str) -> float:
    """Return the largest of the ratios for several limits; no text is encoded twice, as pieces are remembered."""
    n_ids, ratios, ends = len(encode(text)), [], count(1)  # type: ignore[arg-type]
    for limit in (1, 1_000, n_ids // 2, n_ids - n_ids // 50, n_ids):
        limited = partial(_swapped, call, limit)
        rounds = [(seconds(limited, text[: -next(ends)]), seconds(encode, text[: -next(ends)])) for _ in range(ROUNDS)]
        ratios.append(median(bounded / encoded for bounded, encoded in rounds))
    return max(ratios)


def _swapped(call: Callable[[str, int], object], limit: int, text: str) -> object:
    return call(text, limit)


def main(n_characters: int, implementation: str) -> None:
    """Print the table."""
    for name in MODELS:
        tokenizer = impls.load(implementation, load_model(name))
        tokenizer.truncate("hello world " * 1_000, 1)
        for kind, text in texts(n_characters).items():
            encode = partial(tokenizer.encode, disallowed_special=())
            calls: dict[str, Callable[[str, int], object]] = {
                "count": tokenizer.count,
                "fits": tokenizer.fits,
                "truncate": tokenizer.truncate,
                "left": partial(tokenizer.truncate, side="left"),
                "word": partial(tokenizer.truncate, whole="word"),
                "left word": partial(tokenizer.truncate, side="left", whole="word"),
            }
            shown = "  ".join(f"{name} {ratio(call, encode, text):.2f}" for name, call in calls.items())
            print(f"{name:12} {kind:15} encode {seconds(encode, text[:-2_000]) * 1e3:8.2f} ms  {shown}", flush=True)


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["120000"])[0]), (sys.argv[2:] or ["compiled"])[0])
