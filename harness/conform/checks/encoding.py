"""Are the ids the reference's, do texts come back, are pieces independent of each other, is every character covered?"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from harness.conform import texts as material
from harness.conform.case import Case, Judgement, has_surrogate
from harness.conform.checks.over_texts import over_texts
from harness.conform.checks.sizes import past_64k
from harness.conform.reference import Answer, Refused
from harness.conform.verdicts import Counterexample, Verdict
from harness.conform.wording import expression
from impls.core.text.text import repair_surrogates, special_matcher

N_RANDOM_TEXTS = 1_500
N_MODEL_TEXTS = 1_500


@lru_cache(maxsize=2)
def _general(seed: int) -> tuple[str, ...]:
    return (
        *material.hard_texts(),
        *material.sample_texts(),
        *material.random_texts(seed, N_RANDOM_TEXTS),
    )


def texts_for(case: Case) -> list[str]:
    """Hard texts, the samples, random ones, texts of the model's own tokens; no special token. The shortest first."""
    texts = [*_general(case.seed), *material.model_texts(case.reference.model, case.seed, N_MODEL_TEXTS)]
    specials = case.reference.model.special_tokens
    if specials:
        special = special_matcher(frozenset(specials))
        texts = [text for text in texts if special.search(text) is None]
    return sorted(texts, key=len)


def ids(case: Case) -> Verdict:
    """The reference's ids, on all kinds of texts."""
    return over_texts(case, texts_for(case), case.agrees)


def round_trip(case: Case) -> Verdict:
    """`decode(encode(text)) == text`, lone surrogates too where the reference gives them back."""
    return over_texts(case, [*texts_for(case), "a\ud83d", "\ud83d\udc4d", "\udfff\ud800x"], case.comes_back)


def bytes_come_back(case: Case) -> Verdict:
    """`decode_bytes(encode(text))` is the UTF-8 of the text."""
    if not case.subject.offers("decode_bytes"):
        return Verdict(status="not offered", reason="it has no decode_bytes")

    def judge(text: str, answer: Answer) -> Judgement:
        if isinstance(answer, Refused):
            return case.agrees(text, answer)
        if _bytes(case, answer) == repair_surrogates(text).encode():
            return "right"
        reference = case.reference.ids(text)
        lossy = case.reference.model.lossy is not None
        return "excused" if lossy and reference == answer else "wrong"

    verdict = over_texts(case, [*texts_for(case)[::4], "a\ud83d", *past_64k(case)], judge)
    if verdict.status == "failed" and verdict.counterexample is not None and verdict.counterexample.text is not None:
        text = verdict.counterexample.text.text
        answer = case.subject.ids(text)
        if not isinstance(answer, Refused) and answer == case.reference.ids(text):
            got = _bytes(case, answer)
            verdict.stage = "decode"
            verdict.reason = f"the ids are right, but their bytes are {got!r}"
            verdict.counterexample = Counterexample.of(
                text, ids=answer, expected=repr(repair_surrogates(text).encode()), got=repr(got)
            )
    return verdict


def _bytes(case: Case, answer: list[int]) -> bytes | Refused:
    got = case.subject.ask("decode_bytes", ids=answer)
    return got if isinstance(got, bytes | Refused) else Refused("protocol", f"no bytes: {got!r:.60}")


def concatenation(case: Case) -> Verdict:
    """The ids of a text are those of its pieces, cut by the model's pattern, one after the other."""
    if case.subject.offers("pieces"):
        verdict = _same_pieces(case)
        if verdict.status == "failed":
            return verdict
    alone: dict[str, Answer] = {}

    def joined(text: str) -> list[int] | None:
        ids: list[int] = []
        for piece in case.reference.pieces(text):
            if piece not in alone:
                alone[piece] = case.subject.ids(piece)
            answer = alone[piece]
            if isinstance(answer, Refused):
                return None
            ids += answer
        return ids

    def judge(text: str, answer: Answer) -> Judgement:
        if isinstance(answer, Refused):
            return case.agrees(text, answer)
        if joined(text) in (answer, None):
            return "right"
        return "excused" if _reference_is_no_sum(case, text) else "wrong"

    chosen = [text for text in texts_for(case)[::2] if not has_surrogate(text)]
    distinct = dict.fromkeys(piece for text in chosen for piece in case.reference.pieces(text))
    alone.update(zip(distinct, case.subject.ids_of_all(list(distinct)), strict=True))
    verdict = over_texts(case, chosen, judge)
    return _of_a_piece(case, verdict) or verdict


def _of_a_piece(case: Case, verdict: Verdict) -> Verdict | None:
    """Where the whole text is right and one of its pieces is not, the fault is that of the piece."""
    example = verdict.counterexample
    if verdict.status != "failed" or example is None or example.text is None:
        return None
    text = example.text.text
    if case.agrees(text, case.subject.ids(text)) == "wrong":
        return None
    for piece in case.reference.pieces(text):
        answer = case.subject.ids(piece)
        if case.agrees(piece, answer) == "wrong":
            located, smaller = case.explain(piece, answer, case.agrees)
            verdict.stage, verdict.reason, verdict.counterexample = located.stage, located.reason, smaller
            return verdict
    return None


def _reference_is_no_sum(case: Case, text: str) -> bool:
    whole = case.reference.ids(text)
    parts = [case.reference.ids(piece) for piece in case.reference.pieces(text)]
    return isinstance(whole, Refused) or whole != [i for part in parts if not isinstance(part, Refused) for i in part]


def _same_pieces(case: Case) -> Verdict:
    chosen = [text for text in texts_for(case)[::4] if not has_surrogate(text)]
    for text in chosen:
        expected, got = case.reference.pieces(text), case.subject.ask("pieces", text=text)
        if got != expected:
            return Verdict(
                status="failed", stage="pieces", reason="it says itself that it cuts this text otherwise",
                counterexample=Counterexample.of(text, expected=_listed(expected), got=_listed(got)), n_failed=1,
            )  # fmt: skip
    return Verdict(status="passed", n_inputs=len(chosen))


def _listed(pieces: object) -> str:
    return " | ".join(expression(str(piece)) for piece in pieces) if isinstance(pieces, list) else str(pieces)


def coverage(case: Case) -> Verdict:
    """Every code point behind a letter: the ids of the reference, and nothing is dropped."""

    def judge(text: str, answer: Answer) -> Judgement:
        agreed = case.agrees(text, answer)
        return case.comes_back(text, answer) if agreed == "right" else agreed

    blocks = list(material.every_character())
    return over_texts(case, blocks, judge)


def long_texts(case: Case) -> Verdict:
    """The ids of the reference, and the text back, where lengths pass 64 K and 1 MB."""

    def judge(text: str, answer: Answer) -> Judgement:
        agreed = case.agrees(text, answer)
        return case.comes_back(text, answer) if agreed == "right" else agreed

    chosen = material.long_texts(case.seed)
    fitting = [(how, text) for how, text in chosen if case.can_ask(text)]
    if not fitting:
        return Verdict(status="not asked", reason="the target or the reference is too slow for texts so long")
    verdict = over_texts(case, [text for _, text in fitting], judge)
    if verdict.status != "failed" and len(fitting) < len(chosen):
        left_out = "; ".join(how for how, _ in islice((c for c in chosen if c not in fitting), 3))
        verdict.reason = "; ".join(filter(None, [verdict.reason, f"too slow for {left_out}"]))
    return verdict
