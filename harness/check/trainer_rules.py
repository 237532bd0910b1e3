"""The rules trainers are compared by: how ties are broken, over which symbols.

All count overlapping pairs and replace from left to right; trainers differ in which of the equally frequent pairs
they take, so merges can only be compared under one declared rule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from impls import TrainingSpec

PATTERN = "gpt2"
_MOST_CHARACTERS = 0x110000
_UNKNOWN = "<unk>"
END_OF_WORD = "</w>"

RULES: Mapping[str, Mapping[str, Any]] = {
    "smallest, gpt2 order": {"ties": "smallest", "base_order": "gpt2"},
    "smallest, raw order": {"ties": "smallest"},
    "first met": {"ties": "first"},
    "shortest": {"ties": "shortest"},
    "shortest, characters": {"ties": "shortest", "alphabet": "chars", "unknown": _UNKNOWN},
    "largest": {"ties": "largest"},
    "largest, words": {
        "ties": "largest", "alphabet": "chars", "end_of_word": END_OF_WORD, "pattern": r"\S+|\s", "unknown": _UNKNOWN,
    },
}  # fmt: skip
"""Name -> fields of the `TrainingSpec`: Hugging Face's, rustbpe's, minbpe's and tiktoken's, sentencepiece's over bytes
and over characters, subword-nmt's over bytes and as it is."""

MINBPE = "minbpe's rule"
"""A contestant of its own: of the most frequent pairs it takes the first counted (Karpathy 2024, minbpe)."""
MINBPE_TRAINER = "greedy"
"""The implementation whose trainer does that."""
MINBPE_RULES = ("first met",)
DEFAULT_TRAINERS = (
    "naive", "wordcount", "priority", "bytelevel", "compiled", "tiktoken", MINBPE, "tokenizers", "rustbpe",
    "sentencepiece", "subword-nmt",
)  # fmt: skip
"""The trainers compared by default."""

_DISTINGUISHING = ("ties", "base_order", "alphabet", "end_of_word", "pattern")
_OF_TIES = {"ties", "base_order"}


def implementation_of(trainer: str) -> str:
    """Return the implementation whose trainer a contestant runs."""
    return MINBPE_TRAINER if trainer == MINBPE else trainer


def rules_of(trainer: str) -> tuple[str, ...]:
    """Return the rules a contestant is asked to train by; it may refuse any."""
    return MINBPE_RULES if trainer == MINBPE else tuple(RULES)


def spec_of(rule: str, max_merges: int) -> TrainingSpec:
    """Return the specification of a rule, limited by merges: the base vocabulary differs in size between rules."""
    fields = {"pattern": PATTERN} | dict(RULES[rule])
    return TrainingSpec(vocab_size=_MOST_CHARACTERS + max_merges + 2, max_merges=max_merges, **fields)


def differing_fields(one: str, other: str) -> list[str]:
    """Return the fields of the specification in which two rules differ."""
    a, b = spec_of(one, 0), spec_of(other, 0)
    return [name for name in _DISTINGUISHING if getattr(a, name) != getattr(b, name)]


def differ_in_ties_only(one: str, other: str) -> bool:
    """Whether two rules can differ only where two pairs are equally frequent."""
    return set(differing_fields(one, other)) <= _OF_TIES


def describe_difference(one: str, other: str) -> str:
    """Describe in what two rules differ: `ties: first, smallest`."""
    a, b = spec_of(one, 0), spec_of(other, 0)
    return "; ".join(f"{name}: {getattr(a, name)}, {getattr(b, name)}" for name in differing_fields(one, other))


def rules_to_compare(of_a: Collection[str], of_b: Collection[str]) -> list[tuple[str, str]]:
    """Return every rule both follow; where there is none, the two of their rules that differ in the fewest fields."""
    shared = [(rule, rule) for rule in RULES if rule in of_a and rule in of_b]
    if shared:
        return shared
    pairs = [(a, b) for a in RULES if a in of_a for b in RULES if b in of_b]
    return sorted(pairs, key=lambda pair: len(differing_fields(*pair)))[:1]
