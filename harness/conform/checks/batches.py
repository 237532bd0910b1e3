"""Batches, compared with the target's single calls."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.over_texts import over, past_64k, texts_for
from harness.conform.reference import Answer
from harness.conform.verdicts import Fault, NotAsked, NothingToCompare
from harness.conform.wording import joined
from harness.process.session import Failed

_TEXTS = 300
_SHOWN_BESIDE = 8
_BATCH_SIZES = tuple((1 << power) + more for power in range(1, 13) for more in (-1, 0, 1))


def batch(case: Case) -> str:
    """Check that a batch of any size has the ids of its texts, also an empty one and one of a repeated text."""
    names = sorted(case.reference.model.special_tokens, key=len)[:2]
    special = [text for name in names for text in (name, f"a {name} b", name + name, name[:-1])]
    texts = [*texts_for(case, _TEXTS), *special, *past_64k(case)]
    alone = dict(zip(texts, case.client.ids_of_all(texts), strict=True))
    texts = [text for text, ids in alone.items() if not isinstance(ids, Failed)]
    if not texts:
        raise NotAsked("encode refuses all texts")
    lists = [[], texts[:1], texts, texts[::-1], [texts[0]] * 3, sorted(texts, key=len), texts[-1:], texts[-2:-1]]
    short = sorted(texts, key=len)[: len(texts) // 2]
    remark = ""
    for n_texts in _BATCH_SIZES:
        if not case.affordable(n_texts * len(short[-1])):
            remark = f"too slow for batches of {n_texts:,} texts or more"
            break
        lists.append((short * (n_texts // len(short) + 1))[:n_texts])
    remarks = [remark, over(case, list(map(tuple, lists)), partial(fault_of_batch, case, alone=alone))]
    return joined(*remarks)


def fault_of_batch(
    case: Case, texts: tuple[str, ...], alone: dict[str, Answer] | None = None, **options: Any
) -> Fault | None:
    """Return the fault of a batch in which a text has other ids than `alone`, where they are noted, or None."""
    alone = {} if alone is None else alone
    new = [text for text in dict.fromkeys(texts) if text not in alone]
    answers = (case.client.ids(text, **options) for text in new) if options else case.client.ids_of_all(new)
    alone.update(zip(new, answers, strict=True))
    if any(isinstance(alone[text], Failed) for text in texts):
        raise NothingToCompare
    lists = case.client.ask("encode_batch", texts=list(texts), **options)
    if isinstance(lists, Failed) or len(lists) != len(texts):
        got = str(lists) if isinstance(lists, Failed) else f"{len(lists)} lists of ids"
        wanted = f"{len(texts)} lists of ids"
        return Fault("batch", f"a batch of {len(texts)} texts: {got}", after=texts, expected=wanted, got=got)
    for at, (text, ids) in enumerate(zip(texts, lists, strict=True)):
        if ids != alone[text]:
            others = (texts[:at] + texts[at + 1 :])[:_SHOWN_BESIDE]
            reason = "in a batch it has other ids than alone"
            return Fault("batch", reason, text=text, after=others, expected=alone[text], got=ids)
    return None
