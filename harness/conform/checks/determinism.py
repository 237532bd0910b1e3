"""The same text must give the same ids: again, in another order, after others, in another process, after loading."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from random import Random

from harness.conform.case import Case, Judgement
from harness.conform.checks.over_texts import over_texts, texts_for
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import Fault, NotAsked
from harness.generators import texts as material

HASH_SEED = "0"
"""Hash seed of the other process; that of the current one is random."""
_TEXTS = 400
_SAVED_TEXTS = 300
_ASKED_AGAIN = 2_000
_LENGTHS = (1, 2, 17, 300, 5_000, 70_000)
_TIMES = 5
_LENGTHS_ALIKE = (20, 40, 90, 300, 1_000, 5_000, 70_000)
_DECODED = 50


def _after_one_another(case: Case) -> list[str]:
    """Return two texts several times each, then texts of every length, right after a text of each length."""
    text = material.prose(100_000, case.seed + 7)
    starts = Random(f"lengths:{case.seed}")
    lengths = [length for length in _LENGTHS if case.affordable(2 * len(_LENGTHS) * length)]
    found = [word for word in ("hello world", "the end") for _ in range(_TIMES)]
    for lengths_of_pair in product(lengths, repeat=2):
        for length in lengths_of_pair:
            start = starts.randrange(len(text) - length)
            found.append(text[start : start + length])
    return [text for text in found if case.can_ask(text)]


def _alike(case: Case) -> list[str]:
    """Return texts of each length that differ in one character: a cache must compare them whole."""
    random = Random(f"alike:{case.seed}")
    found = []
    for length in _LENGTHS_ALIKE:
        text = material.prose(length, case.seed + 9)
        places = (0, 1, length // 3, length // 2, length - 2, length - 1, *random.choices(range(length), k=5))
        found += [text, *(text[:at] + ("y" if text[at] == "x" else "x") + text[at + 1 :] for at in places)]
    return [text for text in found if case.can_ask(text)]


def repeated(case: Case) -> str:
    """Check the first calls of a process, long and short texts in turn, and texts that differ in one character.

    Then many texts, forwards and backwards.
    """
    for first_texts in (_after_one_another(case), _alike(case)):
        case.client.fresh()
        over_texts(case, first_texts, case.agrees)
    texts = texts_for(case, _TEXTS)
    first = dict(zip(texts, case.client.ids_of_all(texts), strict=True))

    def judge(text: str, answer: Answer) -> Judgement:
        if text not in first:
            return case.agrees(text, answer)
        return "right" if same(answer, first[text]) else "wrong"

    over_texts(case, texts, judge)
    return over_texts(case, texts[::-1], judge)


def same(one: Answer, other: Answer) -> bool:
    """Return whether two answers to a text are the same ids, or both are refusals."""
    return one == other or (isinstance(one, Refusal) and isinstance(other, Refusal))


def many_pieces(case: Case) -> str:
    """Check more distinct pieces than a 16-bit hash has values, in one fresh process; then some of them again."""
    pieces = material.short_pieces()
    if not case.affordable(sum(map(len, pieces)) * 2):
        raise NotAsked(f"too slow for {len(pieces):,} pieces in the time allowed")
    case.client.fresh()
    return over_texts(case, [*pieces, *pieces[:_ASKED_AGAIN]], case.agrees)


def processes(case: Case) -> None:
    """Check that another process, with another hash seed, gives the same ids."""
    texts = texts_for(case, _TEXTS)
    case.client.fresh()
    here = list(case.client.ids_of_all(texts))
    with case.client.another({"PYTHONHASHSEED": HASH_SEED}) as other:

        def fault_of(text: str) -> Fault | None:
            mine, theirs = case.client.ids(text), other.ids(text)
            reason = f"another process (PYTHONHASHSEED={HASH_SEED}) gives other ids"
            return None if same(mine, theirs) else Fault("determinism", reason, text=text, expected=mine, got=theirs)

        for text, mine, theirs in zip(texts, here, other.ids_of_all(texts), strict=True):
            case.n_inputs += 1
            if not same(mine, theirs):
                at_first = Fault("determinism", "another process gives other ids", text=text, expected=mine, got=theirs)
                raise case.smallest_fault(text, fault_of, at_first)


def save_load(case: Case) -> None:
    """Check for the same answers after `save(path)`, and after `load(path)` in a fresh process."""
    texts = texts_for(case, _SAVED_TEXTS)
    specials = [f"a {name} b" for name in sorted(case.reference.model.special_tokens)[:_DECODED]]

    def answers() -> list[tuple[str, str, Answer | str]]:
        """Return (operation, text, answer) for ids, what they decode to, and ids with special tokens."""
        found = list(zip(texts, case.client.ids_of_all(texts), strict=True))
        decoded = [(text, case.client.decode(ids)) for text, ids in found[-_DECODED:] if isinstance(ids, list)]
        allowed = {"allowed_special": "all", "disallowed_special": []} if case.client.offers("allowed_special") else {}
        special = [(text, case.client.ids(text, **allowed)) for text in specials]
        return [
            *(("ids", *one) for one in found),
            *(("text of its ids", *one) for one in decoded),
            *(("ids with special tokens", *one) for one in special),
        ]

    before = answers()
    with tempfile.TemporaryDirectory() as folder:
        for operation in ("save", "load"):
            answer = case.client.ask(operation, path=str(Path(folder) / "saved"))
            if isinstance(answer, Refusal):
                raise Fault("saving", f"{operation} failed with {answer}")
            after = answers()
            case.client.fresh()
            for (what, text, expected), (_, _, got) in zip(before, after, strict=True):
                case.n_inputs += 1
                if expected != got and not (isinstance(expected, Refusal) and isinstance(got, Refusal)):
                    raise Fault(
                        "saving", f"after {operation} it gives other {what}", text=text, expected=expected, got=got
                    )
