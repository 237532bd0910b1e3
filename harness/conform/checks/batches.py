"""Other calls for the same ids: batches, arrays, counts, threads. Each is compared with the target's single calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.over_texts import texts_for
from harness.conform.checks.sizes import past_64k
from harness.conform.reference import Refusal
from harness.conform.verdicts import Fault, Stage
from harness.conform.wording import answered, expression
from harness.minimize.texts import smallest_text

THREADS = 8
_THREAD_ROUNDS = 3
_FRESH_STARTS = 2
_DECODED = 200
_TEXTS = 300
_SHOWN_BESIDE = 8
_BATCH_SIZES = tuple((1 << power) + more for power in range(1, 13) for more in (-1, 0, 1))

Alone = dict[str, list[int]]
"""Texts with their ids by single calls."""
Many = Callable[..., Any]
"""Encodes several texts, its argument `texts`, in one call."""


def _sample(case: Case) -> Alone:
    """Return texts the target encodes one by one with its ids, special tokens and long texts among them."""
    names = sorted(case.reference.model.special_tokens, key=len)[:2]
    special = [text for name in names for text in (name, f"a {name} b", name + name, name[:-1])]
    texts = [*texts_for(case, _TEXTS), *special, *past_64k(case)]
    answers = zip(texts, case.client.ids_of_all(texts), strict=True)
    return {text: answer for text, answer in answers if not isinstance(answer, Refusal)}


def batch(case: Case) -> None:
    """Check that `encode_batch` gives the ids of `encode`, also for an empty batch and a repeated text."""
    alone = _sample(case)
    texts = list(alone)
    lists = [[], texts[:1], texts, texts[::-1], [texts[0]] * 3, sorted(texts, key=len)]
    short = sorted(texts, key=len)[: len(texts) // 2]
    for n_texts in _BATCH_SIZES:
        if not case.affordable(n_texts * len(short[-1])):
            break
        lists.append((short * (n_texts // len(short) + 1))[:n_texts])
    _compare(case, "batch", partial(case.client.ask, "encode_batch"), lists, alone)


def array(case: Case) -> None:
    """Check that `encode_array` gives the ids of `encode`."""
    for text, expected in _sample(case).items():
        case.n_inputs += 1
        got = case.client.ask("encode_array", text=text)
        if got != expected:
            reason = "the array holds other ids than the list"
            raise Fault("batch", reason, text=text, expected=expected, got=got)


def count(case: Case) -> None:
    """Check that `count` gives the number of ids of `encode`, also for long texts."""

    def miscounted(text: str) -> bool:
        ids = case.client.ids(text)
        return not isinstance(ids, Refusal) and case.client.ask("count", text=text) != len(ids)

    for text, ids in _sample(case).items():
        case.n_inputs += 1
        got = case.client.ask("count", text=text)
        if isinstance(got, Refusal) and any(name in text for name in case.reference.model.special_tokens):
            continue  # it reads special text by a rule of its own
        if got != len(ids):
            if miscounted(text):
                text = smallest_text(text, miscounted)
                again = case.client.ids(text)
                ids, got = [] if isinstance(again, Refusal) else again, case.client.ask("count", text=text)
            raise Fault("batch", "the count is not the number of ids", text=text, expected=len(ids), got=got)


def threads(case: Case) -> None:
    """Check that many threads over one object give each text the ids that one thread gives."""
    alone = _sample(case)
    short = sorted(alone, key=len)[1:9]
    lists = [list(alone), short * 20] * _THREAD_ROUNDS
    many = partial(case.client.ask, "encode_threads", threads=THREADS)
    _compare(case, "threads", many, lists, alone)
    _first_use(case, many, short, alone)
    for by in filter(case.client.offers, ("encode_array", "encode_batch")):
        try:
            _compare(case, "threads", partial(many, by=by), lists[:2], alone)
        except Fault as fault:
            fault.reason = f"{by}: {fault.reason}"
            raise
    if case.client.offers("decode_threads"):
        _decoded_in_threads(case, alone)


def _first_use(case: Case, many: Many, texts: list[str], alone: Alone) -> None:
    """Raise a fault if the first calls of a fresh process, from many threads at once, give wrong ids."""
    for _ in range(_FRESH_STARTS):
        case.client.fresh()
        case.n_inputs += len(texts)
        answers = many(texts=texts)
        at = _wrong_at(answers, texts, alone)
        if at is None:
            continue
        got = answers[at] if at < len(texts) else str(answers)
        text = texts[min(at, len(texts) - 1)]
        stage: Stage = "threads"
        where = f"on {THREADS} threads that make the first calls of a process,"
        case.client.fresh()
        if _wrong_at(many(texts=texts, threads=1), texts, alone) is not None:
            stage, where = "cache", "among the first calls of a process"
        raise Fault(stage, f"{where} {expression(text)} gets other ids", text=text, expected=alone[text], got=got)


def _decoded_in_threads(case: Case, alone: Alone) -> None:
    """Raise a fault if lists of ids decode to other texts on many threads."""
    lists = [alone[text] for text in sorted(alone, key=len) if alone[text]][:_DECODED]
    texts = [case.client.decode(ids) for ids in lists]
    for _ in range(_THREAD_ROUNDS):
        case.n_inputs += len(lists)
        got = case.client.ask("decode_threads", lists=lists, threads=THREADS)
        if got == texts:
            continue
        answers = [str(got)] * len(texts) if isinstance(got, Refusal) or len(got) != len(texts) else got
        reason = f"on {THREADS} threads ids decode to another text than alone"
        ids, expected, shown = next(found for found in zip(lists, texts, answers, strict=True) if found[1] != found[2])
        raise Fault("threads", reason, ids=ids, expected=answered(expected), got=answered(shown))


def _compare(case: Case, stage: Stage, many: Many, lists: Sequence[list[str]], alone: Alone) -> None:
    """Raise a fault if one of the lists gets other ids than its texts alone."""
    for texts in lists:
        case.n_inputs += len(texts)
        if _wrong_at(many(texts=texts), texts, alone) is not None:
            raise _smallest(stage, many, texts, alone)


def _wrong_at(answers: Any, texts: Sequence[str], alone: Alone) -> int | None:
    """Return the index of the first text with wrong ids; the number of texts where the answer is invalid."""
    if isinstance(answers, Refusal) or len(answers) != len(texts):
        return len(texts)
    return next((k for k, (text, ids) in enumerate(zip(texts, answers, strict=True)) if ids != alone[text]), None)


def _smallest(stage: Stage, many: Many, texts: list[str], alone: Alone) -> Fault:
    """Return the fault with the fewest texts found that go wrong together, tried from the shortest."""
    apart = sorted(dict.fromkeys(texts), key=len)
    distinct = [text for text in apart if alone[text]][:4] or apart
    fewer = (distinct[:n] for n in range(len(distinct) + 1))
    found = next((some for some in fewer if _wrong_at(many(texts=some), some, alone) is not None), texts)
    answers = many(texts=found)
    at = _wrong_at(answers, found, alone)
    if at is None:  # intermittent
        return Fault(stage, f"{len(texts):,} texts go wrong together, not every time")
    where = "in a batch" if stage == "batch" else f"on {THREADS} threads"
    if at == len(found):
        got = str(answers) if isinstance(answers, Refusal) else f"{len(answers)} lists of ids"
        reason = f"{where} of {len(found)} texts: {got}"
        return Fault(stage, reason, after=tuple(found), expected=f"{len(found)} lists of ids", got=got)
    text = found[at]
    others = tuple(found[:at] + found[at + 1 :])[:_SHOWN_BESIDE]
    reason = f"{where}, beside {len(found) - 1} more, {expression(text)} gets other ids than alone"
    return Fault(stage, reason, text=text, after=others, expected=alone[text], got=answers[at])
