"""Tokens that are suspicious in themselves: parts of characters, duplicates, and glitch candidates.

A glitch candidate is a token that a language model may hardly have seen in training, by what the tokenizer alone shows
of it (Land and Bartolo 2024, "Fishing for Magikarp"): no text is encoded to it, or it is a fragment, which occurs
(nearly) only inside longer tokens. Only its embeddings show whether a model has learned it, and these are not examined
here: a candidate need not be under-trained, and another token may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from harness.lint import FINDINGS
from harness.lint.proofs import text_of
from harness.lint.reach import Reach
from impls.core.model.model import Model
from impls.core.text.normal_forms import Form, normal_form

FRAGMENT_OCCURRENCES = 300
"""Occurrences inside longer tokens, with none as itself, that show at 95 % confidence that at most 1 % are itself."""


class Glitch(NamedTuple):
    """A candidate glitch token and why it is one."""

    id: int
    reasons: tuple[str, ...]


def parts_of_characters(tokens: Mapping[int, bytes]) -> list[int]:
    """Return the tokens that are not whole characters, including single bytes."""
    return [i for i, token in tokens.items() if text_of(token) is None]


def duplicates(tokens: Mapping[int, bytes], form: Form) -> list[tuple[int, ...]]:
    """Return the groups of tokens whose text is the same in a normal form; case and white space are significant.

    >>> duplicates({1: "é".encode(), 2: "e\\u0301".encode(), 3: b"e"}, "NFC")
    [(1, 2)]
    """
    groups: dict[str, list[int]] = {}
    ascii_ids: dict[str, int] = {}
    for i, token in tokens.items():
        if token.isascii():
            ascii_ids[token.decode()] = i
        elif (text := text_of(token)) is not None:
            groups.setdefault(normal_form(form, text), []).append(i)
    for text, ids in groups.items():
        if text in ascii_ids:
            ids.append(ascii_ids[text])
    return sorted(tuple(sorted(ids)) for ids in groups.values() if len(ids) > 1)


def glitch_candidates(model: Model, found: Reach, times: np.ndarray | None) -> list[Glitch]:
    """Return the candidates by id; `times` is how often a corpus uses each id, or None without a corpus."""
    reasons: dict[int, list[str]] = {}
    for one in found.unreached:
        if not one.is_unused_byte:
            reasons[one.id] = [FINDINGS["unreachable" if one.proven else "unreached"]]
    for i, n_made, n_left in _learned_fragments(model):
        what = f"of {n_made:,} occurrences in its training text {n_left:,} were left by longer tokens"
        reasons.setdefault(i, []).append(what)
    if times is not None:
        for i, n in met_inside(found.tokens, times).items():
            if n >= FRAGMENT_OCCURRENCES:
                reasons.setdefault(i, []).append(f"the corpus has it {n:,} times inside longer tokens, never by itself")
    return [Glitch(i, tuple(reasons[i])) for i in sorted(reasons)]


def _learned_fragments(model: Model) -> Iterator[tuple[int, int, int]]:
    """Yield learned tokens of which longer ones left fewer occurrences than the rarest merge had: id, occurrences when
    it was made, occurrences left."""
    if not model.merge_counts:
        return
    made, taken = Counter[int](), Counter[int]()
    for (left, right), result, count in zip(model.merges, model.merge_results, model.merge_counts, strict=True):
        made[result] += count
        taken[left] += count
        taken[right] += count
    least = min(model.merge_counts)
    for i, count in made.items():
        if count - taken[i] < least:
            yield i, count, max(0, count - taken[i])


def met_inside(tokens: Mapping[int, bytes], times: np.ndarray) -> dict[int, int]:
    """Return how often the bytes of each token that a corpus never uses occur inside tokens that it uses.

    >>> met_inside({1: b"ab", 2: b"abab", 3: b"abc"}, np.array([0, 0, 5, 0]))
    {1: 10}
    """
    unmet = {token: i for i, token in tokens.items() if not times[i] and len(token) > 1}
    lengths = sorted({len(token) for token in unmet})
    inside: Counter[int] = Counter()
    for i in np.flatnonzero(times).tolist():
        token = tokens.get(i, b"")
        for part in _parts(token, lengths):
            if part in unmet:
                inside[unmet[part]] += int(times[i])
    return dict(inside)


def _parts(token: bytes, lengths: Iterable[int]) -> Iterator[bytes]:
    for length in lengths:
        if length >= len(token):
            return
        for start in range(len(token) - length + 1):
            yield token[start : start + length]
