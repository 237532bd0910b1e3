"""Many random steps on short texts that grow, over all named models and random patterns, by `compiled`.

    PYTHONPATH=.:tests/support python tests/support/growing_campaign.py 10000000

After every append, replacement, truncation and fork the ids are those of a fresh encoding, and each append, and each
continuation tried, leaves the ids that were stable. Prints the steps taken by model; raises AssertionError where
something does not hold, with the text.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from family_libraries import FAMILIES, model_named
from growing_texts import FRAGMENTS
from random_patterns import random_pattern

import impls
from impls import BPEError, Model, TrainingSpec
from impls.core import incremental
from impls.core.errors import InvalidPattern
from impls.interface import Tokenizer

N_PATTERNS = 100
FORMS = ("nfc", "nfd", "nfkc", "nfkd+strip-accents+lowercase", "lowercase+nfkc", "nmt", "strip", "nfc+prefix-space")
FORMS += ('replace("  "," ")', 'replace("an","n")+nfc', "lowercase+strip+nfkd", 'prepend("_")+strip-left')
SPECIALS = ("<|end|>", "<|endoftext|>", "<|", "日本<|end", "x\ny")
LEARNED = ["I'll don't hello  world 日本語 çay 😀\r\n\n  x = 12345; <|end|>\t\t\t\t\t\t,, 한국 é"] * 3
_SLICE = 1_000
"""Steps on one model before the next, with a random pattern a tenth of it; each begins with empty texts."""
_LONGEST = 40


def models() -> Iterator[tuple[str, Model]]:
    """Yield all models with their names."""
    for name in FAMILIES:
        yield name, model_named(name)
    plain = impls.train("naive", LEARNED, TrainingSpec(vocab_size=320, pattern="cl100k")).model
    plain = plain.with_(special_tokens={text: plain.vocab_size + k for k, text in enumerate(SPECIALS)})
    for form in FORMS:
        yield f"cl100k after {form}", plain.with_(normalization=form)
    rng, n = random.Random(5), 0
    while n < N_PATTERNS:
        stages = tuple(random_pattern(rng) for _ in range(rng.choice((1, 1, 2))))
        try:
            yield f"pattern {n}: {' | '.join(stages)}", plain.with_(pattern=stages)
        except InvalidPattern:
            continue
        n += 1


def whole_and_broken_specials(model: Model) -> list[str]:
    """Return some special and added tokens, and parts of them."""
    some = list(model.whole_token_ids)[:: max(1, len(model.whole_token_ids) // 4)]
    cut = [part for text in some for part in (text, text[: len(text) // 2], text[len(text) // 2 :], text[:-1])]
    return list(filter(None, cut))


class Steps:
    """A text and a fork of it under random steps."""

    def __init__(self, tokenizer: Tokenizer, seed: str) -> None:
        self._tokenizer, self._rng, self._n_slices = tokenizer, random.Random(seed), 0
        self._specials = whole_and_broken_specials(tokenizer.model)
        self._options: dict[str, Any] = {"allowed_special": "all"}

    def take(self, n_steps: int) -> None:
        """Take so many steps, and assert what must hold after each; in every fourth call with special tokens."""
        rng, encode = self._rng, self._tokenizer.encode
        fragments: Sequence[str] = FRAGMENTS if self._n_slices % 4 else [*FRAGMENTS, *self._specials]
        n_fragments = len(fragments)
        self._n_slices += 1
        self._texts = [(self._tokenizer.incremental(**self._options), "") for _ in range(2)]
        self._ids: list[list[int]] = [[], []]
        for _ in range(n_steps):
            number = int(2 * rng.random())
            (grown, text), ids = self._texts[number], self._ids[number]
            chosen, n, n_stable = rng.random(), len(text), grown.n_stable
            more = fragments[int(n_fragments * rng.random())]
            if rng.random() < 0.3:
                more += fragments[int(n_fragments * rng.random())]
            try:
                if chosen < 0.03:  # a fork takes the place of the other text
                    self._texts[1 - number], self._ids[1 - number] = (grown.copy(), text), ids
                    continue
                if chosen < 0.05:
                    at_most = int(rng.random() * (len(ids) + 1))
                    change = grown.truncate(at_most)
                    new = grown.text
                    assert text.startswith(new), (text, at_most)
                    assert len(grown.ids) <= at_most, (text, at_most)
                elif chosen < 0.35 or n > _LONGEST:
                    start = int(rng.random() * (n + 1))
                    stop = min(n, start + int((4 if n <= _LONGEST else n) * rng.random()))
                    new = text[:start] + more + text[stop:]
                    change = grown.replace(start, stop, more)
                else:
                    new = text + more
                    change = grown.append(more)
                    assert grown.ids[:n_stable] == ids[:n_stable], (text, more)
            except BPEError as raised:
                try:
                    encode(new, **self._options)
                except BPEError as error:
                    assert repr(raised) == repr(error), (text, new)  # noqa: PT017
                    continue
                raise AssertionError((text, new)) from raised
            wanted = encode(new, **self._options)
            ids = [*ids[: change.start], *change.ids, *ids[change.start + change.n_removed :]]
            assert grown.ids == wanted == ids, (text, new)
            assert grown.text == new, (text, new)
            self._texts[number], self._ids[number] = (grown, new), ids
            if chosen > 0.8:
                further = encode(new + more, **self._options)
                assert further[: grown.n_stable] == ids[: grown.n_stable], (new, more)


def run(n_steps: int, seed: int = 0) -> Counter[str]:
    """Take `n_steps` steps in turn on all models; return how many were taken by model."""
    incremental.CHUNK = 12  # type: ignore[misc]
    taken: Counter[str] = Counter()
    running: list[tuple[str, Steps]] = []
    for name, model in models():
        try:
            running.append((name, Steps(impls.load("compiled", model), f"{seed} {name}")))
        except impls.Unsupported as why:
            print(f"{name}: {why}", file=sys.stderr)
    started = shown = time.monotonic()
    while taken.total() < n_steps:
        for name, steps in running:
            n_taken = _SLICE // 10 if name.startswith("pattern") else _SLICE
            steps.take(n_taken)
            taken[name] += n_taken
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(f"{taken.total():,} steps in {shown - started:.0f} s", flush=True)
            if taken.total() >= n_steps:
                break
    return taken


if __name__ == "__main__":
    done = run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for name, n_taken in done.items():
        print(f"{n_taken:>10,}  {name}")
    print(f"{done.total():,} steps on {len(done)} models: all ids equal those of a fresh encoding, stable ones stayed")
