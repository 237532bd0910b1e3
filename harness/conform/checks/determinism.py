"""The same text must give the same ids: again, in another order, after many others, in another process."""

from __future__ import annotations

from itertools import product
from random import Random

from harness.check.shrink_long import smallest_long_text
from harness.conform import texts as material
from harness.conform.case import Case, Judgement
from harness.conform.checks.encoding import texts_for
from harness.conform.checks.over_texts import over_texts
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput

HASH_SEEDS = ("0",)
"""Hash seeds of the other processes; that of the current one is random."""
_TEXTS = 400
_ASKED_AGAIN = 2_000
_LENGTHS = (1, 2, 17, 300, 5_000, 70_000)
_TIMES = 5


def _sample(case: Case) -> list[str]:
    texts = texts_for(case)
    return texts[:: max(1, len(texts) // _TEXTS)]


def _after_one_another(case: Case) -> list[str]:
    """Return two texts several times each, then texts of every length right after one of every length."""
    text = material.prose(100_000, case.seed + 7)
    starts = Random(f"lengths:{case.seed}")
    lengths = [length for length in _LENGTHS if case.affordable(2 * len(_LENGTHS) * length)]
    found = [word for word in ("hello world", "the end") for _ in range(_TIMES)]
    for lengths_of_pair in product(lengths, repeat=2):
        for length in lengths_of_pair:
            start = starts.randrange(len(text) - length)
            found.append(text[start : start + length])
    return [text for text in found if case.can_ask(text)]


def repeated(case: Case) -> CheckVerdict:
    """Check the first calls of a process, long and short texts in turn; then repeated texts, forwards and backwards."""
    turns = _after_one_another(case)
    case.client.fresh()
    verdict = over_texts(case, turns, case.agrees)
    if verdict.status == "failed":
        return verdict
    texts = _sample(case)
    first = dict(zip(texts, case.client.ids_of_all(texts), strict=True))

    def judge(text: str, answer: Answer) -> Judgement:
        if text not in first:
            return case.agrees(text, answer)
        if isinstance(answer, Refusal) and isinstance(first[text], Refusal):
            return "right"
        return "right" if answer == first[text] else "wrong"

    for order in (texts, texts[::-1]):
        verdict = over_texts(case, order, judge)
        if verdict.status == "failed":
            return verdict
    return verdict


def many_pieces(case: Case) -> CheckVerdict:
    """Check more distinct pieces than a 16-bit hash has values, in one fresh process; then some of them again."""
    pieces = material.short_pieces()
    if not case.affordable(sum(map(len, pieces)) * 2):
        return CheckVerdict(status="not asked", reason=f"too slow for {len(pieces):,} pieces in the time allowed")
    case.client.fresh()
    return over_texts(case, [*pieces, *pieces[:_ASKED_AGAIN]], case.agrees)


def processes(case: Case) -> CheckVerdict:
    """Check that other processes, each with another hash seed, give the same ids."""
    texts = _sample(case)
    case.client.fresh()
    here = list(case.client.ids_of_all(texts))
    for seed in HASH_SEEDS:
        with case.client.another({"PYTHONHASHSEED": seed}) as other:
            for text, mine, theirs in zip(texts, here, other.ids_of_all(texts), strict=True):
                if mine == theirs or (isinstance(mine, Refusal) and isinstance(theirs, Refusal)):
                    continue

                def differs(candidate: str) -> bool:
                    return case.client.ids(candidate) != other.ids(candidate)

                small = smallest_long_text(text, differs) if differs(text) else text
                return CheckVerdict(
                    status="failed",
                    stage="determinism",
                    reason=f"another process (PYTHONHASHSEED={seed}) gives other ids",
                    counterexample=FailingInput.of(small, expected=case.client.ids(small), got=other.ids(small)),
                    n_failed=1,
                )
    return CheckVerdict(status="passed", n_inputs=len(texts) * len(HASH_SEEDS))
