"""The texts that most checks ask, and the loop that judges one input after another and minimises a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from harness.conform.case import Case, S
from harness.conform.verdicts import Fault, NothingToCompare
from harness.data.generated import generate
from harness.generators import texts as material
from impls.core.text.text import special_matcher

_PAST_64K = 70_001


@lru_cache(maxsize=2)
def _general(seed: int) -> tuple[str, ...]:
    return (*material.hard_texts(), *material.sample_texts(), *material.random_texts(seed, 1_500))


def texts_for(case: Case, n_texts: int | None = None) -> list[str]:
    """Return hard, sample and random texts and texts of the model's tokens, without special tokens, shortest first.

    With `n_texts`, return about that many of them, of every length.
    """
    texts = [*_general(case.seed), *material.model_texts(case.reference.model, case.seed, 1_500)]
    texts = sorted(case.quick(without(case.reference.model.special_tokens, texts)), key=len)
    return texts if n_texts is None else texts[:: max(1, len(texts) // n_texts)]


def without(names: Collection[str], texts: Iterable[str]) -> Iterable[str]:
    """Leave out texts that hold a special token of these names."""
    special = special_matcher(frozenset(names)) if names else None
    return (text for text in texts if special is None or special.search(text) is None)


def past_64k(case: Case) -> list[str]:
    """Return a few texts of more than 65,536 characters, one with more ids than that."""
    mixed = "".join(generate(f"gen/mixed:{_PAST_64K}"))
    prose = [material.prose(n * _PAST_64K, case.seed + 4 + n) for n in (1, 2)]
    return case.quick([*prose, mixed[:_PAST_64K], "a b c d " * (_PAST_64K // 4)])


def over(case: Case, inputs: Iterable[S], fault_of: Callable[[S], Fault | None]) -> None:
    """Judge all inputs. Raises the fault of the smallest input found within the first wrong one."""
    n_judged = n_left_out = 0
    for given in inputs:
        n_judged += 1
        try:
            fault = fault_of(given)
        except NothingToCompare:
            n_left_out += 1
            continue
        case.n_inputs += 1
        if fault is not None:
            raise case.smallest_fault(given, fault_of, fault)
    if n_left_out:
        case.remarks.append(f"{n_left_out:,} of {n_judged:,} inputs could not be compared")
