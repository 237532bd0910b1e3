"""Batches, compared with the target's single calls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.over_texts import over, past_64k, texts_for
from harness.conform.verdicts import Fault, NotAsked, NothingToCompare
from harness.process.session import Failed

_BATCH_SIZES = tuple((1 << power) + more for power in range(1, 13) for more in (-1, 0, 1))


def batch(case: Case) -> None:
    """Check that a batch of any size has the ids of its texts, also an empty one and one of a repeated text."""
    over(case, _batches(case), partial(fault_of_batch, case))


def _batches(case: Case) -> Iterator[tuple[str, ...]]:
    """Yield batches, those of short texts first. Raises `NotAsked` if `encode` refuses all texts."""
    yield ()
    special = [text for name in case.special_names[:2] for text in (name, f"a {name} b", name + name, name[:-1])]
    texts = sorted({*texts_for(case, 300), *special, *past_64k(case)}, key=lambda text: (len(text), text))
    middle = len(texts) // 2
    short = _not_refused(case, texts[:middle])
    for n_texts in _BATCH_SIZES if short else ():
        if not case.affordable(n_texts * len(short[-1])):
            case.remarks.append(f"too slow for batches of {n_texts:,} texts or more")
            break
        yield tuple((short * (n_texts // len(short) + 1))[:n_texts])
    texts = short + _not_refused(case, texts[middle:])
    if not texts:
        raise NotAsked("encode refuses all texts")
    yield from map(tuple, (texts[:1], texts[:1] * 3, texts, texts[::-1], texts[-1:], texts[-2:-1]))
    if case.affordable(3 * sum(map(len, texts[-4:]))):  # a buffer of a megabyte ends within one
        yield tuple(texts[-4:] * 3)
    else:
        case.remarks.append("not asked: a batch of a million characters, since the target is slow")


def _not_refused(case: Case, texts: list[str]) -> list[str]:
    alone = case.client.digests(texts)["encode"]
    return [text for text, number in zip(texts, alone, strict=True) if number is not None]


def fault_of_batch(case: Case, texts: tuple[str, ...], **options: Any) -> Fault | None:
    """Return the fault of a batch in which a text has different ids than alone, or None."""
    lists = case.client.ask("encode_batch", texts=list(texts), **options)
    if isinstance(lists, Failed) or len(lists) != len(texts):
        if any(isinstance(case.client.ids(text, **options), Failed) for text in texts):
            raise NothingToCompare
        got = str(lists) if isinstance(lists, Failed) else f"{len(lists)} lists of ids"
        wanted = f"{len(texts)} lists of ids"
        return Fault("batch", f"a batch of {len(texts)} texts: {got}", after=texts, expected=wanted, got=got)
    for at, (text, ids) in enumerate(zip(texts, lists, strict=True)):
        expected = case.reference.encode(text, **options) if options else case.reference.ids(text)
        if ids == expected or ids == (alone := case.client.ids(text, **options)):
            continue
        if isinstance(alone, Failed):
            raise NothingToCompare
        others = (texts[:at] + texts[at + 1 :])[:8]
        reason = "in a batch it has different ids than alone"
        return Fault("batch", reason, text=text, after=others, expected=alone, got=ids)
    return None
