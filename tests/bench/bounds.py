"""What the calls with a limit cost on one long piece, as multiples of `encode` of the same text.

    python tests/bench/bounds.py [CHARACTERS] [IMPLEMENTATION] [MODEL…]

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
from typing import get_args

import impls
from harness.data import load_corpus, load_model
from impls.operations.truncation import Side, Whole

MODELS = ("r50k_base", "cl100k_base", "o200k_base", "llama3", "mistral-v1", "mistral-v3", "qwen", "deepseek", "trained")
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


def another(text: str, number: int) -> str:
    """Return a text of the same kind, with its letters exchanged at random and as many fewer: pieces are remembered."""
    letters = sorted(set(text))
    others = random.Random(number).sample(letters, len(letters))
    return text[:-number].translate(dict(zip(map(ord, letters), others, strict=True)))


def ratio(call: Callable[[str, int], object], encode: Callable[[str], object], text: str) -> float:
    """Return the largest of the ratios for several limits; no text is encoded twice."""
    n_ids, ratios, numbers = len(encode(text)), [], count(1)  # type: ignore[arg-type]
    for limit in (1, 1_000, n_ids // 2, n_ids - n_ids // 50, n_ids):
        limited = partial(_swapped, call, limit)
        rounds = [
            (seconds(limited, another(text, next(numbers))), seconds(encode, another(text, next(numbers))))
            for _ in range(ROUNDS)
        ]
        ratios.append(median(bounded / encoded for bounded, encoded in rounds))
    return max(ratios)


def _swapped(call: Callable[[str, int], object], limit: int, text: str) -> object:
    return call(text, limit)


def model_of(name: str) -> impls.Model:
    """Return a known model, or one of 10,000 tokens that is trained on samples."""
    if name != "trained":
        return load_model(name)
    return impls.train("compiled", load_corpus("samples").documents(), impls.TrainingSpec(vocab_size=10_000)).model


def main(n_characters: int, implementation: str, models: list[str]) -> None:
    """Print the table, and the largest ratio of all."""
    worst = 0.0, ""
    for name in models:
        tokenizer = impls.load(implementation, model_of(name))
        tokenizer.truncate("hello world " * 1_000, 1)
        for kind, text in texts(n_characters).items():
            encode = partial(tokenizer.encode, disallowed_special=())
            calls: dict[str, Callable[[str, int], object]] = {
                "count": tokenizer.count,
                "fits": tokenizer.fits,
                **{
                    f"{side} {whole}": partial(tokenizer.truncate, side=side, whole=whole)
                    for side in get_args(Side)
                    for whole in get_args(Whole)
                },
            }
            ratios = {call: ratio(calls[call], encode, text) for call in calls}
            worst = max(worst, *((ratio, f"{name}, {kind}, {call}") for call, ratio in ratios.items()))
            shown = "  ".join(f"{call} {ratio:.2f}" for call, ratio in ratios.items())
            print(
                f"{name:12} {kind:15} encode {seconds(encode, another(text, 2_000)) * 1e3:8.2f} ms  {shown}", flush=True
            )
    print(f"worst {worst[0]:.2f}: {worst[1]}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(int((arguments or ["120000"])[0]), (arguments[1:] or ["compiled"])[0], arguments[2:] or list(MODELS))
