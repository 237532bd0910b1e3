"""Other ways to the same ids: batches, arrays, threads. Each is held against the target's own single calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.reference import Refused
from harness.conform.verdicts import Counterexample, Stage, Verdict
from harness.conform.wording import expression

THREADS = 8
_THREAD_ROUNDS = 3
_FRESH_STARTS = 2
_DECODED = 200
_TEXTS = 300
_SHOWN_BESIDE = 8
_BATCH_SIZES = tuple((1 << power) + more for power in range(1, 13) for more in (-1, 0, 1))

Many = Callable[[list[str]], Any]
"""Ids of several texts in one call."""


def _sample(case: Case) -> dict[str, list[int]]:
    """Texts the target encodes one by one, with its ids; text of special tokens is among them."""
    texts = texts_for(case)
    texts = [*texts[:: max(1, len(texts) // _TEXTS)], *_with_specials(case)]
    answers = zip(texts, case.subject.ids_of_all(texts), strict=True)
    return {text: answer for text, answer in answers if not isinstance(answer, Refused)}


def _with_specials(case: Case) -> list[str]:
    names = sorted(case.reference.model.special_tokens, key=len)[:2]
    return [text for name in names for text in (name, f"a {name} b", name + name, name[:-1])]


def batch(case: Case) -> Verdict:
    """`encode_batch` gives each text what `encode` gives it; an empty batch and a repeated text too."""
    if not case.subject.offers("encode_batch"):
        return Verdict(status="not offered", reason="it has no encode_batch")
    alone = _sample(case)

    def many(texts: list[str]) -> Any:
        return case.subject.ask("encode_batch", texts=texts)

    texts = list(alone)
    lists = [[], texts[:1], texts, texts[::-1], [texts[0]] * 3, sorted(texts, key=len)]
    short = sorted(texts, key=len)[: len(texts) // 2]
    for n_texts in _BATCH_SIZES:
        if not case.affordable(n_texts * len(short[-1])):
            break
        lists.append((short * (n_texts // len(short) + 1))[:n_texts])
    return _compare("batch", many, lists, alone) or Verdict(status="passed", n_inputs=sum(map(len, lists)))


def array(case: Case) -> Verdict:
    """`encode_array` holds what `encode` lists."""
    if not case.subject.offers("encode_array"):
        return Verdict(status="not offered", reason="it has no encode_array")
    alone = _sample(case)
    for text, expected in alone.items():
        got = case.subject.ask("encode_array", text=text)
        if got != expected:
            return Verdict(
                status="failed", stage="batch", reason="the array holds other ids than the list", n_failed=1,
                counterexample=Counterexample.of(text, expected=expected, got=got),
            )  # fmt: skip
    return Verdict(status="passed", n_inputs=len(alone))


def threads(case: Case) -> Verdict:
    """Many threads over one object give each text what one thread gives it."""
    if not case.subject.offers("encode_threads"):
        return Verdict(status="not offered", reason="threads are only asked of a Python object")
    alone = _sample(case)

    def many(texts: list[str]) -> Any:
        return case.subject.ask("encode_threads", texts=texts, threads=THREADS)

    short = sorted(alone, key=len)[1:9]
    lists = [list(alone), short * 20] * _THREAD_ROUNDS
    if found := _compare("threads", many, lists, alone) or _first_use(case, many, short, alone):
        return found
    n_inputs = sum(map(len, lists)) + _FRESH_STARTS * len(short)
    if case.subject.offers("decode_threads"):
        found, n_decoded = _decoded_in_threads(case, alone)
        n_inputs += n_decoded
    return found or Verdict(status="passed", n_inputs=n_inputs)


def _first_use(case: Case, many: Many, texts: list[str], alone: dict[str, list[int]]) -> Verdict | None:
    """What is wrong where the first calls of a fresh process come from many threads at once."""
    for _ in range(_FRESH_STARTS):
        case.subject.fresh()
        answers = many(texts)
        at = _wrong_at(answers, texts, alone)
        if at is None:
            continue
        got = answers[at] if at < len(texts) else str(answers)
        text = texts[min(at, len(texts) - 1)]
        reason = f"on {THREADS} threads that make the first calls of a process, {expression(text)} gets other ids"
        return Verdict(
            status="failed", stage="threads", reason=reason, n_failed=1,
            counterexample=Counterexample.of(text, expected=alone[text], got=got),
        )  # fmt: skip
    return None


def _decoded_in_threads(case: Case, alone: dict[str, list[int]]) -> tuple[Verdict | None, int]:
    """What is wrong with decoding on many threads, and how many lists of ids were decoded so."""
    lists = [alone[text] for text in sorted(alone, key=len) if alone[text]][:_DECODED]
    texts = [case.subject.decode(ids) for ids in lists]
    for _ in range(_THREAD_ROUNDS):
        got = case.subject.ask("decode_threads", lists=lists, threads=THREADS)
        if got == texts:
            continue
        whole = isinstance(got, list) and len(got) == len(texts)
        at = next(k for k, text in enumerate(texts) if got[k] != text) if whole else 0
        shown = expression(got[at]) if whole and isinstance(got[at], str) else str(got)
        reason = f"on {THREADS} threads ids are decoded to another text than alone"
        example = Counterexample.of(ids=lists[at], expected=expression(str(texts[at])), got=shown)
        return Verdict(status="failed", stage="threads", reason=reason, counterexample=example, n_failed=1), 0
    return None, _THREAD_ROUNDS * len(lists)


def _compare(stage: Stage, many: Many, lists: Sequence[list[str]], alone: dict[str, list[int]]) -> Verdict | None:
    for texts in lists:
        answers = many(texts)
        if _wrong_at(answers, texts, alone) is not None:
            return _smallest(stage, many, texts, alone)
    return None


def _wrong_at(answers: Any, texts: Sequence[str], alone: dict[str, list[int]]) -> int | None:
    """The first text whose ids are not its own; the number of texts where the answer is none at all."""
    if not isinstance(answers, list) or len(answers) != len(texts):
        return len(texts)
    return next((k for k, (text, ids) in enumerate(zip(texts, answers, strict=True)) if ids != alone[text]), None)


def _smallest(stage: Stage, many: Many, texts: list[str], alone: dict[str, list[int]]) -> Verdict:
    """The fewest texts found that go wrong together, begun with the shortest."""
    found = texts
    apart = sorted(dict.fromkeys(texts), key=len)
    distinct = [text for text in apart if alone[text]][:4] or apart
    for n in range(len(distinct) + 1):
        candidate = distinct[:n]
        if _wrong_at(many(candidate), candidate, alone) is not None:
            found = candidate
            break
    answers = many(found)
    at = _wrong_at(answers, found, alone)
    if at is None:  # it comes and goes
        return Verdict(
            status="failed", stage=stage, reason=f"{len(texts):,} texts go wrong together, not every time", n_failed=1
        )
    told = "in a batch" if stage == "batch" else f"on {THREADS} threads"
    if at == len(found):
        got = f"{len(answers)} lists of ids" if isinstance(answers, list) else str(answers)
        example = Counterexample.of(None, after=tuple(found), expected=f"{len(found)} lists of ids", got=got)
        return Verdict(
            status="failed",
            stage=stage,
            reason=f"{told} of {len(found)} texts: {got}",
            counterexample=example,
            n_failed=1,
        )
    text = found[at]
    others = tuple(found[:at] + found[at + 1 :])[:_SHOWN_BESIDE]
    return Verdict(
        status="failed",
        stage=stage,
        reason=f"{told}, beside {len(found) - 1} more, {expression(text)} gets other ids than alone",
        counterexample=Counterexample.of(text, after=others, expected=alone[text], got=answers[at]),
        n_failed=1,
    )
