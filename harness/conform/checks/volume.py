"""A million short texts, each once: rare faults, tables that fill up, long batches."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from random import Random

from harness.conform import texts as material
from harness.conform.case import Case
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput
from impls.core.text.text import special_matcher

N_TEXTS = 1_000_000
LEAST_TEXTS = 10_000
"""Fewer than these are no evidence."""
SECONDS = 20.0
"""The check takes no longer than this, however fast the target."""
_A_BATCH = 20_000
_LEAST_TIMED = 900  # texts
_SLOWER, _SLOWER_SECONDS = 5.0, 20e-6
"""A slowdown of this factor and by this time per text is not noise."""
_SHARE_OF_BATCHES = 0.3
"""Share of the time for batches, which repeat texts of single calls."""
_LONGEST_PART = 5  # characters


def many_texts(case: Case) -> CheckVerdict:
    """Check as many distinct short texts as the time allows: singly, and in batches if offered."""
    began, batch_seconds, best = time.monotonic(), 0.0, float("inf")
    deadline = min(case.deadline, began + SECONDS)
    in_batches = case.client.offers("encode_batch")
    n_inputs = n_batches = 0
    case.client.fresh()
    for texts in _batches(case):
        expected = [case.reference.ask(text) for text in texts]
        asked_at = time.monotonic()
        got = list(case.client.ids_of_all(texts))
        pace = (time.monotonic() - asked_at) / max(1, len(texts))
        best = min(best, pace) if len(texts) >= _LEAST_TIMED else best
        wrong = [k for k in range(len(texts)) if _wrong(case, texts[k], expected[k], got[k])]
        n_inputs += len(texts)
        if wrong:
            text, answer = min(((texts[k], got[k]) for k in wrong), key=lambda pair: len(pair[0]))
            located, example = case.explain(text, answer, case.agrees)
            return CheckVerdict(
                status="failed", reason=located.reason, stage=located.stage, counterexample=example,
                n_inputs=n_inputs, n_failed=len(wrong),
            )  # fmt: skip
        if pace > _SLOWER * best and pace > best + _SLOWER_SECONDS and (found := _slower(case, texts, pace, n_inputs)):
            return found
        now = time.monotonic()
        if in_batches and batch_seconds <= _SHARE_OF_BATCHES * (now - began):
            n_batches += 1
            if found := _batch_differs(case, texts, got):
                found.n_inputs = n_inputs
                return found
            batch_seconds += time.monotonic() - now
        if time.monotonic() > deadline:
            break
    reason = f"{n_inputs:,} of {N_TEXTS:,} texts in the time allowed" if n_inputs < N_TEXTS else ""
    if n_inputs < LEAST_TEXTS:
        return CheckVerdict(status="not asked", reason=f"too slow: {reason}", n_inputs=n_inputs)
    if n_batches:
        reason = "; ".join(filter(None, [reason, f"in {n_batches} batches of {_A_BATCH:,} as well"]))
    return CheckVerdict(status="passed", reason=reason, n_inputs=n_inputs)


def _slower(case: Case, texts: Sequence[str], pace: float, n_inputs: int) -> CheckVerdict | None:
    """Return a failure if the same texts take far less time in a fresh process."""
    case.client.fresh()
    few = texts[:_LEAST_TIMED]
    began = time.monotonic()
    for _ in case.client.ids_of_all(few):
        pass
    afresh = (time.monotonic() - began) / len(few)
    if pace < _SLOWER * afresh:
        return None
    reason = f"a text takes {pace * 1e6:,.0f} µs after {n_inputs:,} others, {afresh * 1e6:,.0f} µs in a fresh process"
    return CheckVerdict(status="failed", stage="resources", reason=reason, n_inputs=n_inputs, n_failed=1)


def _batches(case: Case) -> Iterator[list[str]]:
    """Yield batches of distinct short texts, most of them two joined words, tokens, hard texts or random characters."""
    random = Random(f"many:{case.seed}")
    parts = [
        *(text for text in material.hard_texts() if 0 < len(text) <= _LONGEST_PART),
        *(text[:_LONGEST_PART] for text in material.random_texts(case.seed + 1, 3_000)),
        *(text[:_LONGEST_PART] for text in material.model_texts(case.reference.model, case.seed + 1, 6_000)),
        *(str(number) for number in range(0, 3_000, 7)),
    ]
    specials = case.reference.model.special_tokens
    special = special_matcher(frozenset(specials)) if specials else None
    gaps = ("", "", " ", " ", "\n", "'", "-")
    known: set[str] = set()
    made = 0
    size = 1_000  # until its speed is known
    while made < N_TEXTS:
        first, second = random.choices(parts, k=size), random.choices(parts, k=size)
        texts = [a + gap + b for a, gap, b in zip(first, random.choices(gaps, k=size), second, strict=True)]
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if special is not None:
            fresh = [text for text in fresh if special.search(text) is None]
        known.update(fresh)
        if case.client.characters_per_second:
            fresh = fresh[: N_TEXTS - made]
        made += len(fresh)
        yield fresh
        size = _A_BATCH if case.affordable(40 * _A_BATCH) else size


def _wrong(case: Case, text: str, expected: Answer, got: Answer) -> bool:
    return got != expected and case.agrees(text, got) == "wrong"


def _batch_differs(case: Case, texts: list[str], alone: Sequence[Answer]) -> CheckVerdict | None:
    """Return a failure if the same texts in one batch get other ids."""
    encoded = [(text, ids) for text, ids in zip(texts, alone, strict=True) if isinstance(ids, list)]
    got = case.client.ask("encode_batch", texts=[text for text, _ in encoded])
    if got == [ids for _, ids in encoded]:
        return None
    reason, example = f"a batch of {len(encoded):,} texts: ", None
    if not isinstance(got, list) or len(got) != len(encoded):
        reason += str(got) if isinstance(got, Refusal) else f"{len(got) if isinstance(got, list) else 0:,} answers"
    else:
        at = next(k for k, (_, ids) in enumerate(encoded) if got[k] != ids)
        reason += f"from text {at:,} on, other ids than alone"
        example = FailingInput.of(encoded[at][0], expected=encoded[at][1], got=got[at])
    return CheckVerdict(status="failed", stage="batch", reason=reason, counterexample=example, n_failed=1)
