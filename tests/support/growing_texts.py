"""Random steps on texts with their ids: after each the ids of a fresh encoding, and what is called stable stays."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from refusals import refused

from impls import BPEError
from impls.interface import Tokenizer
from impls.operations.changes import Change
from impls.operations.incremental import Incremental

FRAGMENTS = [
    *"aaelt  \n\r\t'1x.,!<>|_/", "  ", "    ", "\r\n", " \n", "I'll", "'s", "'LL", "don't", "hello", " world", "12345",
    "çay", "İ", "ǅ", "日本", "，", "한", "ᄒ", "ᅡ", "ᆫ", "e\u0301", "\u0301", "\u0323", "\u0338", "=", "ﬁ", "½", "😀",
    "👩\u200d👧", "🇹🇷", "\ufffd", "\ud83d", "\udc4d", "\u00a0", "\u3000", "▁", "▁▁", "\u200b", "\x00", "ſ", "\u0c5c",
    "\U00011de0", "\u1d71", "ABCdef", "???", "#!", "\u0627\u0644", "กา", "\u09c7\u09be", "ยำ", "\u2028", "x\ny",
]  # fmt: skip


def fresh(tokenizer: Tokenizer, text: str, options: dict[str, Any]) -> list[int] | str:
    """The ids of a text, or the error."""
    try:
        return tokenizer.encode(text, **options)
    except BPEError as error:
        return repr(error)


class Followed:
    """One text under random steps, and all that was claimed of it since its last edit."""

    def __init__(self, tokenizer: Tokenizer, options: dict[str, Any], grown: Incremental | None = None) -> None:
        self.tokenizer, self.options = tokenizer, options
        self.grown = tokenizer.incremental(**options) if grown is None else grown
        self.text, self.ids = self.grown.text, self.grown.ids

    def forked(self) -> Followed:
        return Followed(self.tokenizer, self.options, self.grown.copy())

    def step(self, rng: random.Random, fragments: Sequence[str], longest: int) -> None:
        """Take a step, and assert what must hold of it."""
        n, chosen = len(self.text), rng.random()
        text = "".join(rng.choices(fragments, k=rng.choice((0, 1, 1, 1, 2, 3, 8))))
        stable = self.ids[: self.grown.n_stable]
        if chosen < 0.1 and self.ids:
            n_tokens = rng.randrange(len(self.ids) + 1)
            change = self.grown.truncate(n_tokens)
            new = self.grown.text
            assert self.text.startswith(new)
            assert len(self.grown.ids) <= n_tokens
        elif chosen < 0.4 or n > longest:
            start = rng.randrange(n + 1)
            stop = min(n, start + rng.choice((0, 0, 1, 1, 2, 5, n if rng.random() < 0.2 else 3)))
            new = self.text[:start] + text + self.text[stop:]
            change = self.taken(new, "replace", start, stop, text)
        else:
            new = self.text + text
            change = self.taken(new, "append", text)
            if change is not None:
                assert self.grown.ids[: len(stable)] == stable, (self.text, text)
        if change is None:
            new = self.text
        else:
            self.ids[change.start : change.start + change.n_removed] = change.ids
        self.text = new
        self.check(rng, fragments)

    def taken(self, new: str, step: str, *arguments: Any) -> Change | None:
        """Take a step that makes the text `new`; None where it must raise, and raises what `encode` does."""
        wanted = fresh(self.tokenizer, new, self.options)
        if isinstance(wanted, str):
            raised = refused(BPEError, None, getattr(self.grown, step), *arguments)
            assert repr(raised) == wanted, new
            return None
        change: Change = getattr(self.grown, step)(*arguments)
        assert self.grown.ids == wanted, new
        return change

    def check(self, rng: random.Random, fragments: Sequence[str]) -> None:
        """Assert that text and ids are those of a fresh encoding, and that no text tried changes a stable id."""
        grown = self.grown
        assert (grown.text, grown.ids, grown.n_ids) == (self.text, self.ids, len(self.ids)), self.text
        assert self.ids == fresh(self.tokenizer, self.text, self.options), self.text
        for more in rng.sample(fragments, 2):
            ids = fresh(self.tokenizer, self.text + more, self.options)
            if not isinstance(ids, str):
                assert ids[: grown.n_stable] == self.ids[: grown.n_stable], (self.text, more)


def follow(
    tokenizer: Tokenizer, n_steps: int, seed: object, fragments: Sequence[str] = FRAGMENTS, **options: Any
) -> float:
    """Take random steps on one text and its forks; return the share of ids that were stable."""
    rng = random.Random(str(seed))
    texts = [Followed(tokenizer, options)]
    n_ids = n_stable = 0
    for _ in range(n_steps):
        if rng.random() < 0.03:
            texts = [rng.choice(texts), rng.choice(texts).forked()]
        elif rng.random() < 0.01:
            texts = [Followed(tokenizer, options)]
        followed = rng.choice(texts)
        followed.step(rng, fragments, longest=rng.choice((30, 200)))
        for other in texts:
            assert other.grown.ids == other.ids, "a fork is changed by another"
        n_ids, n_stable = n_ids + followed.grown.n_ids, n_stable + followed.grown.n_stable
    return n_stable / max(1, n_ids)
