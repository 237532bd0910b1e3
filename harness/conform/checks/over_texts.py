"""The loops most checks share: encode many texts, or ask about many inputs, judge each, and minimise a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache

from harness.conform.case import Case, Judge, S
from harness.conform.reference import Answer
from harness.conform.verdicts import Fault, Incomplete, NotAsked, NothingToCompare
from harness.conform.wording import expression
from harness.data.generated import generate
from harness.generators import texts as material
from impls.core.text.text import special_matcher

N_RANDOM_TEXTS = 1_500
N_MODEL_TEXTS = 1_500
_KEPT_EXCEPTIONS = 20
_SHORTEST_OF = 50
_BRIEF = 3_000
_SHORT = 12
_PAST_64K = 70_001


@lru_cache(maxsize=2)
def _general(seed: int) -> tuple[str, ...]:
    return (*material.hard_texts(), *material.sample_texts(), *material.random_texts(seed, N_RANDOM_TEXTS))


def texts_for(case: Case, n_texts: int | None = None) -> list[str]:
    """Return hard, sample and random texts and texts of the model's tokens, without special tokens, shortest first.

    With `n_texts`, return about that many of them, of every length.
    """
    texts = [*_general(case.seed), *material.model_texts(case.reference.model, case.seed, N_MODEL_TEXTS)]
    specials = case.reference.model.special_tokens
    if specials:
        special = special_matcher(frozenset(specials))
        texts = [text for text in texts if special.search(text) is None]
    texts.sort(key=len)
    return texts if n_texts is None else texts[:: max(1, len(texts) // n_texts)]


def past_64k(case: Case) -> list[str]:
    """Return a few texts of more than 65,536 characters, one with more ids than that."""
    mixed = "".join(generate(f"gen/mixed:{_PAST_64K}"))
    texts = [
        material.prose(_PAST_64K, case.seed + 5),
        mixed[:_PAST_64K],
        material.prose(2 * _PAST_64K, case.seed + 6),
        "a b c d " * (_PAST_64K // 4),
    ]
    return [text for text in texts if case.can_ask(text)]


def over_texts(
    case: Case, texts: Sequence[str], judge: Judge, excuse: str = "on {} of {} texts both fall short, in the same way"
) -> str:
    """Judge all texts, and return a remark; `excuse` is the remark on excused texts.

    Raises `Fault` for a wrong one, `NotAsked` if there is no text, `Incomplete` if the time was too short for all.
    """
    if not texts:
        raise NotAsked("there is no text to judge by")
    wrong: list[tuple[str, Answer]] = []
    excused: list[str] = []
    n_inputs = n_unjudged = 0
    for text, answer in zip(texts, case.client.ids_of_all(texts), strict=False):
        n_inputs += 1
        judgement = judge(text, answer)
        if judgement == "wrong":
            wrong.append((text, answer))
        elif judgement == "excused":
            excused.append(text)
        n_unjudged += judgement == "unjudged"
        if case.out_of_time:
            break
    case.n_inputs += n_inputs - n_unjudged
    if wrong:
        text, answer = min(wrong[:_SHORTEST_OF], key=lambda pair: size(pair[0]))
        fault = case.explain(text, answer, judge)
        fault.n_failed = len(wrong)
        raise fault
    ensure_all(n_inputs, len(texts), "texts")
    case.excused += map(expression, sorted(excused, key=len)[:_KEPT_EXCEPTIONS])
    remark = excuse.format(f"{len(excused):,}", f"{n_inputs:,}") if excused else ""
    return "; ".join(filter(None, [remark, not_judged(n_unjudged)]))


def ensure_all(n_judged: int, n_inputs: int, what: str = "inputs") -> None:
    """Raise `Incomplete` if the clock stopped a check before all of its inputs."""
    if n_judged < n_inputs:
        raise Incomplete(f"stopped by the clock after {n_judged:,} of {n_inputs:,} {what}, all of them right")


def not_judged(n_texts: int) -> str:
    """Return the remark on texts that the reference refuses and the target does not, if there are any."""
    return f"{n_texts:,} texts that the reference refuses are not judged" if n_texts else ""


def over(
    case: Case,
    inputs: Collection[S],
    fault_of: Callable[[S], Fault | None],
    simpler: Callable[[S], Iterable[S]] = lambda given: (),
) -> str:
    """Judge all inputs, and return a remark if some could not be compared.

    Raises the fault of the smallest input found within the first wrong one, or within a wrong one of `simpler`;
    `NotAsked` if no input could be compared, `Incomplete` if the time was too short for all.
    """
    n_judged = n_left_out = 0
    for given in inputs:
        if n_judged and case.out_of_time:
            break
        n_judged += 1
        try:
            fault = fault_of(given)
        except NothingToCompare:
            n_left_out += 1
            continue
        case.n_inputs += 1
        if fault is not None:
            raise case.smallest_fault(given, fault_of, fault, simpler(given))
    left_out = f"{n_left_out:,} of {n_judged:,} inputs could not be compared" if n_left_out else ""
    if left_out and n_left_out == n_judged:
        raise NotAsked(left_out)
    ensure_all(n_judged, len(inputs))
    return left_out


def size(text: str) -> tuple[bool, bool, int, int]:
    """Return a sort key: short texts first, then those with a short expression."""
    return len(text) > _BRIEF, len(text) > _SHORT, len(expression(text)), len(text)
