"""Are the ids ints and those of the reference, do texts come back, are pieces independent, is every character there?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from harness.conform.case import Case, Judgement, has_surrogate
from harness.conform.checks.over_texts import over, over_texts, past_64k, texts_for
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import Fault, NotAsked, NotCompared
from harness.conform.wording import expression
from harness.generators import texts as material
from impls.core.text.text import repair_surrogates


def ids(case: Case) -> str:
    """Check for the reference's ids on all kinds of texts."""
    return over_texts(case, texts_for(case), case.agrees)


def round_trip(case: Case) -> str:
    """Check `decode(encode(text)) == text`, also for lone surrogates where the reference restores them."""
    return over_texts(case, [*texts_for(case), "a\ud83d", "\ud83d\udc4d", "\udfff\ud800x"], case.judge_round_trip)


def bytes_come_back(case: Case) -> str:
    """Check that `decode_bytes` of the right ids of a text is its UTF-8; by a lossy model, what the reference gives."""

    def fault_of(text: str) -> Fault | None:
        ids, utf8 = case.reference.ids(text), repair_surrogates(text).encode()
        if isinstance(ids, Refusal):
            raise NotCompared
        wanted = utf8 if case.reference.model.lossy is None else case.reference.decode_bytes(ids)
        if isinstance(wanted, Refusal):
            raise NotCompared
        if (got := case.client.ask("decode_bytes", ids=ids)) != wanted:
            shown = got if isinstance(got, Refusal) else repr(got)
            reason = f"decode_bytes of the right ids of the text gives {shown}"
            return Fault("decode", reason, text=text, ids=ids, expected=wanted, got=got)
        case.excused += [expression(text)] if got != utf8 else []
        return None

    return over(case, [*texts_for(case)[::4], "a\ud83d", *past_64k(case)], fault_of)


def concatenation(case: Case) -> str:
    """Check that the ids of a text are those of its pieces by the model's pattern, concatenated."""
    texts = [text for text in texts_for(case) if not has_surrogate(text)]
    if case.client.offers("pieces"):
        for text in texts[::4]:
            expected, got = case.reference.pieces(text), case.client.ask("pieces", text=text)
            if got != expected:
                reason = "its method `pieces` cuts this text differently"
                raise Fault("pieces", reason, text=text, expected=_listed(expected), got=_listed(got))
    distinct = list(dict.fromkeys(piece for text in texts[::2] for piece in case.reference.pieces(text)))
    alone = dict(zip(distinct, case.client.ids_of_all(distinct), strict=True))

    def ids_alone(piece: str) -> Answer:
        if piece not in alone:  # of a smaller text
            alone[piece] = case.client.ids(piece)
        return alone[piece]

    def judge(text: str, answer: Answer) -> Judgement:
        if isinstance(answer, Refusal):
            return case.agrees(text, answer)
        pieces = case.reference.pieces(text)
        if _joined(map(ids_alone, pieces)) == answer:
            return "right"
        wanted = _joined(map(case.reference.ids, pieces))
        if wanted is None:
            return "unjudged"
        return "wrong" if case.reference.ids(text) == wanted else "excused"

    try:
        return over_texts(case, texts[::2], judge)
    except Fault as fault:
        raise _of_a_piece(case, fault) from None


def _joined(answers: Iterable[Answer]) -> list[int] | None:
    """Return the concatenated ids of several answers, or None if one is a refusal."""
    found: list[int] = []
    for answer in answers:
        if isinstance(answer, Refusal):
            return None
        found += answer
    return found


def _of_a_piece(case: Case, fault: Fault) -> Fault:
    """Return the fault of a wrong piece if the whole text is right; else `fault`."""
    text = fault.text
    if text is None or case.agrees(text, case.client.ids(text)) == "wrong":
        return fault
    for piece in case.reference.pieces(text):
        answer = case.client.ids(piece)
        if case.agrees(piece, answer) == "wrong":
            of_piece = case.explain(piece, answer, case.agrees)
            of_piece.n_failed = fault.n_failed
            return of_piece
    return fault


def _listed(pieces: list[str] | Refusal) -> str:
    return str(pieces) if isinstance(pieces, Refusal) else " | ".join(map(expression, pieces))


def coverage(case: Case) -> str:
    """Check every code point after a letter: the ids of the reference, and nothing dropped."""
    return over_texts(case, list(material.every_character()), case.judge_ids_and_round_trip)


def long_texts(case: Case) -> str:
    """Check the ids and the round trip of texts longer than 64 K and 1 MB."""
    chosen = material.long_texts(case.reference.model, case.seed)
    for name in case.reference.model.special_tokens:
        chosen = {how: text.replace(name, "") for how, text in chosen.items()}
    fitting = {how: text for how, text in chosen.items() if case.can_ask(text)}
    if not fitting:
        raise NotAsked("the target or the reference is too slow for texts of this length")
    remark = over_texts(case, list(fitting.values()), case.judge_ids_and_round_trip)
    left_out = "; ".join([how for how in chosen if how not in fitting][:3])
    return "; ".join(filter(None, [remark, f"too slow for {left_out}" if left_out else ""]))


_N_LOOKED_AT = 60
_N_ALONE = 10


def python_values(case: Case) -> None:
    """Check types of ids and texts, lists that change later, arguments that are changed, state that is shared."""
    texts = [text for text in texts_for(case, _N_LOOKED_AT) if text]
    # The ids 0 and 1 equal False and True; encode the texts of these tokens to test for that.
    texts += [token.decode("utf-8", "ignore") for i in (0, 1) if (token := case.reference.bytes_by_id.get(i))]

    def fault_of(some: tuple[str, ...]) -> Fault | None:
        faults = case.client.ask("python_values", texts=list(some))
        case.client.fresh()
        if not faults:
            return None
        reason = (
            f"the calls that look at types and lists end in {faults}"
            if isinstance(faults, Refusal)
            else "; ".join(faults)
        )
        wanted = "a list of ints, the caller's own"
        return Fault("values", reason, text=some[0], after=some[1:], expected=wanted, got=reason)

    if (fault := fault_of(tuple(texts))) is not None:
        case.n_inputs += len(texts)
        few = sorted(texts, key=len)[:_N_ALONE]
        raise case.smallest_fault(tuple(texts), fault_of, fault, [*((text,) for text in few), *pairwise(few)])
    case.n_inputs += sum(not isinstance(answer, Refusal) for answer in case.client.ids_of_all(texts))
    if not case.n_inputs:
        raise NotAsked(f"encode refuses all of {len(texts):,} texts")
