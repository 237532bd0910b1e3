"""Other calls for the same ids (batches, arrays, counts, threads), each compared with the target's single calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.over_texts import past_64k, texts_for
from harness.conform.verdicts import Fault, NotAsked, Stage
from harness.conform.wording import expression
from harness.generators.texts import prose
from harness.process.session import Failed

THREADS = 8
_THREAD_ROUNDS = 3
_FRESH_STARTS = 2
_TEXTS = 300
_SHOWN_BESIDE = 8
_LONGER = 3_000  # characters; long enough that calls overlap
_BATCH_SIZES = tuple((1 << power) + more for power in range(1, 13) for more in (-1, 0, 1))

Alone = dict[str, list[int]]
"""Texts with their ids by single calls."""
Many = Callable[..., Any]
"""Encodes several texts, its argument `texts`, in one call."""


def _sample(case: Case) -> Alone:
    """Return texts with their ids by the target's single calls, special tokens and long texts among them.

    Raises `NotAsked` if all are refused.
    """
    names = sorted(case.reference.model.special_tokens, key=len)[:2]
    special = [text for name in names for text in (name, f"a {name} b", name + name, name[:-1])]
    texts = [*texts_for(case, _TEXTS), *special, *past_64k(case)]
    answers = zip(texts, case.client.ids_of_all(texts), strict=True)
    alone = {text: answer for text, answer in answers if not isinstance(answer, Failed)}
    if not alone:
        raise NotAsked(f"encode refuses all of {len(texts):,} texts")
    return alone


def batch(case: Case) -> str:
    """Check that a batch of any size has the ids of its texts, also an empty one and one of a repeated text."""
    alone = _sample(case)
    texts = list(alone)
    lists = [
        [],
        texts[:1],
        texts,
        texts[::-1],
        [texts[0]] * 3,
        sorted(texts, key=len),
        *([text] for text in texts[-2:]),
    ]
    short = sorted(texts, key=len)[: len(texts) // 2]
    remark = ""
    for n_texts in _BATCH_SIZES:
        if not case.affordable(n_texts * len(short[-1])):
            remark = f"too slow for batches of {n_texts:,} texts or more"
            break
        lists.append((short * (n_texts // len(short) + 1))[:n_texts])
    compare(case, "batch", partial(case.client.ask, "encode_batch"), lists, alone)
    return remark


def threads(case: Case) -> None:
    """Check that many threads over one object give each text the ids that one thread gives."""
    alone = _sample(case)
    short = sorted(alone, key=len)[1:9]
    lists = [list(alone), short * 20] * _THREAD_ROUNDS
    many = partial(case.client.ask, "encode_threads", threads=THREADS)
    compare(case, "threads", many, lists, alone)

    def first_calls(**arguments: Any) -> Any:
        case.client.fresh()
        return many(**arguments)

    try:
        compare(case, "threads", first_calls, [short] * _FRESH_STARTS, alone)
    except Fault as fault:
        if _wrong_at(first_calls(texts=short, threads=1), short, alone) is not None:
            fault.stage, fault.reason = "cache", f"among the first calls of a process: {fault.reason}"
        raise
    if case.client.offers("mixed_threads"):
        names = sorted(case.reference.model.special_tokens, key=len)[:2]
        some = [*short, *(f"a {name} b" for name in names), prose(_LONGER, case.seed)]
        case.n_inputs += len(some)
        faults = case.client.ask("mixed_threads", texts=some, threads=THREADS)
        if faults:
            reason = str(faults) if isinstance(faults, Failed) else "; ".join(faults)
            raise Fault("threads", reason, after=tuple(some), expected="the answers of one thread", got=reason)


def compare(case: Case, stage: Stage, many: Many, lists: Sequence[list[str]], alone: Alone) -> None:
    """Raise a fault if one of the lists gets other ids than its texts alone."""

    def fault_of(texts: tuple[str, ...]) -> Fault | None:
        for text in texts:
            if text not in alone and isinstance(ids := case.client.ids(text), list):
                alone[text] = ids
        answers = many(texts=list(texts))
        at = _wrong_at(answers, texts, alone) if alone.keys() >= set(texts) else None
        if at is None:
            return None
        where = "in a batch" if stage == "batch" else f"on {THREADS} threads"
        if at == len(texts):
            got = str(answers) if isinstance(answers, Failed) else f"{len(answers)} lists of ids"
            reason = f"{where} of {len(texts)} texts: {got}"
            return Fault(stage, reason, after=texts, expected=f"{len(texts)} lists of ids", got=got)
        others = (texts[:at] + texts[at + 1 :])[:_SHOWN_BESIDE]
        beside = f"with {len(texts) - 1} other texts" if len(texts) > 1 else "by itself"
        reason = f"{where}, {beside}, {expression(texts[at])} gets other ids than by encode"
        return Fault(stage, reason, text=texts[at], after=others, expected=alone[texts[at]], got=answers[at])

    for texts in map(tuple, lists):
        case.n_inputs += len(texts)
        if (fault := fault_of(texts)) is not None:
            apart = sorted(dict.fromkeys(texts), key=len)
            short = [text for text in apart if alone[text]][:4] or apart
            fewer = (tuple(short[:n]) for n in range(len(short) + 1))
            fault = case.smallest_fault(texts, fault_of, fault, fewer)
            if fault.text is not None and fault.example is not None and not fault.example.after:
                fault = case.smallest_fault(fault.text, lambda text: fault_of((text,)), fault)
            raise fault


def _wrong_at(answers: Any, texts: Sequence[str], alone: Alone) -> int | None:
    """Return the index of the first text with wrong ids; the number of texts if the answer is invalid."""
    if isinstance(answers, Failed) or len(answers) != len(texts):
        return len(texts)
    return next((k for k, (text, ids) in enumerate(zip(texts, answers, strict=True)) if ids != alone[text]), None)
