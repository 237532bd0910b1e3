"""Are the ids those of the reference on every kind of text, do texts come back, are values plain?"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain, pairwise

from harness.conform import questions
from harness.conform import transitions as pattern
from harness.conform.case import Case
from harness.conform.checks.asking import ask_all
from harness.conform.checks.over_texts import over_texts, texts_for
from harness.conform.digests import CALLS
from harness.conform.verdicts import Fault, NotAsked
from harness.conform.wording import expression
from harness.generators.texts import long_texts
from harness.process.session import Failed
from impls.core.text.text import special_matcher

CODES: Collection[int] = range(questions.N_CODE_POINTS)


def ids(case: Case) -> str:
    """Check hard, sample and random texts, and texts of the model's tokens."""
    return ask_all(case, texts_for(case), ("encode",))


def round_trip(case: Case) -> str:
    """Check `decode(encode(text)) == text`, also for lone surrogates where the reference restores them."""
    return over_texts(case, [*texts_for(case), "a\ud83d", "\ud83d\udc4d", "\udfff\ud800x"], case.judge_round_trip)


def code_points(case: Case) -> str:
    """Check every code point within a text (between letters, digits, after a space), at both its ends, and alone."""
    remarks = [ask_all(case, questions.within(CODES), CALLS[:-1])]
    if not case.client.offers("encode_each"):  # a request each
        return "not asked: each code point first, last and alone, since the target has no encode_each"
    remarks.append(ask_all(case, questions.at_both_ends(CODES), ("encode",)))
    remarks.append(ask_all(case, questions.alone(CODES), ("encode", "count", "encode_batch")))
    return "; ".join(filter(None, remarks))


def transitions(case: Case) -> str:
    """Check every transition of the pattern's automaton, at the start, in the middle and at the end of a text."""
    texts = dict.fromkeys(pattern.transitions(case.reference.model))
    if case.client.offers("pieces"):
        for text in list(texts)[:: max(1, len(texts) // 500)]:
            expected, got = case.reference.pieces(text), case.client.ask("pieces", text=text)
            case.n_inputs += 1
            if got != expected:
                reason = "its method `pieces` cuts this text differently"
                raise Fault("pieces", reason, text=text, expected=_listed(expected), got=_listed(got))
    return ask_all(case, texts)


def lengths(case: Case) -> str:
    """Check single pieces of every length class, merged as late as can be, and texts of every length."""
    calls = ("encode", "decode", "count", "encode_array", "encode_batch")
    model, seed = case.reference.model, case.seed
    texts = chain(questions.lengths(seed), long_texts(model, seed).values())
    remarks = [ask_all(case, questions.pieces(model, seed), calls), ask_all(case, _plain(case, texts), calls)]
    return "; ".join(dict.fromkeys(filter(None, remarks)))


def spellings(case: Case) -> str:
    """Check other spellings of characters, line ends and marks, in texts of a few to a million characters."""
    return ask_all(case, _plain(case, questions.spellings(case.seed)))


def _listed(pieces: list[str] | Failed) -> str:
    return str(pieces) if isinstance(pieces, Failed) else " | ".join(map(expression, pieces))


def _plain(case: Case, texts: Iterable[str]) -> Iterable[str]:
    """Leave out texts that hold a special token."""
    specials = case.reference.model.whole_token_ids
    special = special_matcher(frozenset(specials)) if specials else None
    return (text for text in texts if special is None or special.search(text) is None)


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
            if isinstance(faults, Failed)
            else "; ".join(faults)
        )
        wanted = "a list of ints, the caller's own"
        return Fault("values", reason, text=some[0], after=some[1:], expected=wanted, got=reason)

    if (fault := fault_of(tuple(texts))) is not None:
        case.n_inputs += len(texts)
        few = sorted(texts, key=len)[:_N_ALONE]
        raise case.smallest_fault(tuple(texts), fault_of, fault, [*((text,) for text in few), *pairwise(few)])
    case.n_inputs += sum(not isinstance(answer, Failed) for answer in case.client.ids_of_all(texts))
    if not case.n_inputs:
        raise NotAsked(f"encode refuses all of {len(texts):,} texts")
