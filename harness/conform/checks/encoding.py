"""Are the ids those of the reference, do texts come back, are pieces independent, is every character covered?"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from harness.conform import texts as material
from harness.conform.case import Case, Judgement, has_surrogate
from harness.conform.checks.over_texts import over_texts
from harness.conform.checks.sizes import past_64k
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput
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
    """Return hard, sample and random texts and texts of the model's tokens, without special tokens, shortest first."""
    texts = [*_general(case.seed), *material.model_texts(case.reference.model, case.seed, N_MODEL_TEXTS)]
    specials = case.reference.model.special_tokens
    if specials:
        special = special_matcher(frozenset(specials))
        texts = [text for text in texts if special.search(text) is None]
    return sorted(texts, key=len)


def ids(case: Case) -> CheckVerdict:
    """Check for the reference's ids on all kinds of texts."""
    return over_texts(case, texts_for(case), case.agrees)


def round_trip(case: Case) -> CheckVerdict:
    """Check `decode(encode(text)) == text`, also for lone surrogates where the reference restores them."""
    return over_texts(case, [*texts_for(case), "a\ud83d", "\ud83d\udc4d", "\udfff\ud800x"], case.comes_back)


def bytes_come_back(case: Case) -> CheckVerdict:
    """Check that `decode_bytes(encode(text))` is the UTF-8 of the text."""
    if not case.client.offers("decode_bytes"):
        return CheckVerdict(status="not offered", reason="it has no decode_bytes")

    def judge(text: str, answer: Answer) -> Judgement:
        if isinstance(answer, Refusal):
            return case.agrees(text, answer)
        if _bytes(case, answer) == repair_surrogates(text).encode():
            return "right"
        reference = case.reference.ids(text)
        lossy = case.reference.model.lossy is not None
        return "excused" if lossy and reference == answer else "wrong"

    verdict = over_texts(case, [*texts_for(case)[::4], "a\ud83d", *past_64k(case)], judge)
    if verdict.status == "failed" and verdict.counterexample is not None and verdict.counterexample.text is not None:
        text = verdict.counterexample.text.text
        answer = case.client.ids(text)
        if not isinstance(answer, Refusal) and answer == case.reference.ids(text):
            got = _bytes(case, answer)
            verdict.stage = "decode"
            verdict.reason = f"the ids are right, but their bytes are {got!r}"
            verdict.counterexample = FailingInput.of(
                text, ids=answer, expected=repr(repair_surrogates(text).encode()), got=repr(got)
            )
    return verdict


def _bytes(case: Case, answer: list[int]) -> bytes | Refusal:
    got = case.client.ask("decode_bytes", ids=answer)
    return got if isinstance(got, bytes | Refusal) else Refusal("protocol", f"not bytes: {got!r:.60}")


def concatenation(case: Case) -> CheckVerdict:
    """Check that the ids of a text are those of its pieces by the model's pattern, concatenated."""
    if case.client.offers("pieces"):
        verdict = _same_pieces(case)
        if verdict.status == "failed":
            return verdict
    alone: dict[str, Answer] = {}

    def joined(text: str) -> list[int] | None:
        ids: list[int] = []
        for piece in case.reference.pieces(text):
            if piece not in alone:
                alone[piece] = case.client.ids(piece)
            answer = alone[piece]
            if isinstance(answer, Refusal):
                return None
            ids += answer
        return ids

    def judge(text: str, answer: Answer) -> Judgement:
        if isinstance(answer, Refusal):
            return case.agrees(text, answer)
        if joined(text) in (answer, None):
            return "right"
        return "excused" if _reference_differs_from_pieces(case, text) else "wrong"

    chosen = [text for text in texts_for(case)[::2] if not has_surrogate(text)]
    distinct = dict.fromkeys(piece for text in chosen for piece in case.reference.pieces(text))
    alone.update(zip(distinct, case.client.ids_of_all(list(distinct)), strict=True))
    verdict = over_texts(case, chosen, judge)
    return _of_a_piece(case, verdict) or verdict


def _of_a_piece(case: Case, verdict: CheckVerdict) -> CheckVerdict | None:
    """Attribute the fault to a piece, where the whole text is right and one of its pieces is not."""
    example = verdict.counterexample
    if verdict.status != "failed" or example is None or example.text is None:
        return None
    text = example.text.text
    if case.agrees(text, case.client.ids(text)) == "wrong":
        return None
    for piece in case.reference.pieces(text):
        answer = case.client.ids(piece)
        if case.agrees(piece, answer) == "wrong":
            located, smaller = case.explain(piece, answer, case.agrees)
            verdict.stage, verdict.reason, verdict.counterexample = located.stage, located.reason, smaller
            return verdict
    return None


def _reference_differs_from_pieces(case: Case, text: str) -> bool:
    whole = case.reference.ids(text)
    parts = [case.reference.ids(piece) for piece in case.reference.pieces(text)]
    return isinstance(whole, Refusal) or whole != [i for part in parts if not isinstance(part, Refusal) for i in part]


def _same_pieces(case: Case) -> CheckVerdict:
    chosen = [text for text in texts_for(case)[::4] if not has_surrogate(text)]
    for text in chosen:
        expected, got = case.reference.pieces(text), case.client.ask("pieces", text=text)
        if got != expected:
            return CheckVerdict(
                status="failed", stage="pieces", reason="by its own account it cuts this text differently",
                counterexample=FailingInput.of(text, expected=_listed(expected), got=_listed(got)), n_failed=1,
            )  # fmt: skip
    return CheckVerdict(status="passed", n_inputs=len(chosen))


def _listed(pieces: object) -> str:
    return " | ".join(expression(str(piece)) for piece in pieces) if isinstance(pieces, list) else str(pieces)


def coverage(case: Case) -> CheckVerdict:
    """Check every code point after a letter: the ids of the reference, and nothing dropped."""

    def judge(text: str, answer: Answer) -> Judgement:
        agreed = case.agrees(text, answer)
        return case.comes_back(text, answer) if agreed == "right" else agreed

    blocks = list(material.every_character())
    return over_texts(case, blocks, judge)


def long_texts(case: Case) -> CheckVerdict:
    """Check the ids and the round trip of texts longer than 64 K and 1 MB."""

    def judge(text: str, answer: Answer) -> Judgement:
        agreed = case.agrees(text, answer)
        return case.comes_back(text, answer) if agreed == "right" else agreed

    chosen = material.long_texts(case.seed)
    fitting = [(how, text) for how, text in chosen if case.can_ask(text)]
    if not fitting:
        return CheckVerdict(
            status="not asked", reason="the target or the reference is too slow for texts of this length"
        )
    verdict = over_texts(case, [text for _, text in fitting], judge)
    if verdict.status != "failed" and len(fitting) < len(chosen):
        left_out = "; ".join(how for how, _ in islice((c for c in chosen if c not in fitting), 3))
        verdict.reason = "; ".join(filter(None, [verdict.reason, f"too slow for {left_out}"]))
    return verdict
