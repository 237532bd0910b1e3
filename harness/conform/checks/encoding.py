"""Are the ids those of the reference on every kind of text, do ids decode to their text, are values plain?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain, pairwise

import regex

from harness.conform import questions
from harness.conform import transitions as pattern
from harness.conform.case import Case
from harness.conform.checks.asking import ask_all
from harness.conform.checks.derived import Call, fault_of
from harness.conform.checks.over_texts import over, past_64k, texts_for, without
from harness.conform.digests import CALLS
from harness.conform.verdicts import Fault, Stage
from harness.conform.wording import expression
from harness.generators.texts import long_texts
from harness.process.session import Failed

CODES: Sequence[int] = range(questions.N_CODE_POINTS)
_EVERY_CODE_AT, _EVERY_NTH = 2e5, 10
"""Characters a second; of code points without a character, a slower target is asked every tenth."""
_WITHOUT_CHARACTER = regex.compile(r"[\p{Cn}\p{Co}]")


def ids(case: Case) -> None:
    """Check hard, sample and random texts, and texts of the model's tokens."""
    ask_all(case, texts_for(case), ("encode",))


def round_trip(case: Case) -> None:
    """Check `decode(encode(text)) == text`, also for lone surrogates where the reference restores them."""
    texts = [*texts_for(case), "a\ud83d", "\ud83d\udc4d", "\udfff\ud800x"]
    ask_all(case, texts, ("decode",))
    lost = [text for text in texts if case.reference.back(text) != text]
    case.excused += map(expression, lost[:20])
    if lost:
        case.remarks.append(f"neither the target nor the reference restores {len(lost):,} of {len(texts):,} texts")


def code_points(case: Case) -> None:
    """Check every code point within a text (between letters, digits, after a space), at both its ends, and alone."""
    codes = CODES
    if 0 < case.client.characters_per_second < _EVERY_CODE_AT:
        codes = [code for code in codes if not code % _EVERY_NTH or not _WITHOUT_CHARACTER.match(chr(code))]
        case.remarks.append(f"only every {_EVERY_NTH}th unassigned or private code point, since the target is slow")
    ask_all(case, questions.within(codes), CALLS[:-1])
    if case.client.offers("encode_each") or case.client.offers("digests"):
        ask_all(case, questions.at_both_ends(codes), ("encode",))
        ask_all(case, map(chr, codes), ("encode", "count", "encode_batch"))
    else:  # one request for each
        case.remarks.append("not asked: each code point first, last and alone, since the target has no encode_each")


def transitions(case: Case) -> None:
    """Check every transition of the pattern's automaton, at the start, in the middle and at the end of a text."""
    texts = list(dict.fromkeys(pattern.transitions(case.reference.model)))
    if case.client.offers("pieces"):
        over(case, texts[:: max(1, len(texts) // 500)], partial(fault_of, case, Call("pieces")))
    ask_all(case, texts)


def lengths(case: Case) -> None:
    """Check single pieces of every length class, merged as late as can be, and texts of every length."""
    calls = ("encode", "decode", "count", "encode_array", "encode_batch")
    model, seed = case.reference.model, case.seed
    ask_all(case, questions.pieces(model, seed), calls)
    long = case.quick(long_texts(model, seed))
    ask_all(case, without(model.whole_token_ids, chain(questions.lengths(seed), long)), calls)


def spellings(case: Case) -> None:
    """Check other spellings of characters, line ends and marks, in texts of a few to a million characters."""
    ask_all(case, without(case.reference.model.whole_token_ids, questions.spellings(case.seed)))


_N_CALLS = 30
"""About how often `values` encodes each text."""
_FEW = 10


def python_values(case: Case) -> None:
    """Check types of ids and texts, lists that change later, arguments that are changed, state that is shared."""
    texts = [text for text in texts_for(case, 60) if text]
    # The ids 0 and 1 equal False and True; encode the texts of these tokens to test for that.
    texts += [token.decode("utf-8", "ignore") for i in (0, 1) if (token := case.reference.bytes_by_id.get(i))]
    long = [text for text in past_64k(case)[:1] if case.affordable(_N_CALLS * len(text))]
    if not long:
        case.remarks.append("not asked: a text of more than 65,536 characters, since the target is slow")
    texts += long
    texts = case.affordable_part(texts, _N_CALLS)

    def fault_of_values(some: tuple[str, ...]) -> Fault | None:
        faults = case.client.ask("python_values", texts=list(some))
        case.client.fresh()
        if not faults:
            return None
        reason = f"checking types and lists failed: {faults}" if isinstance(faults, Failed) else "; ".join(faults)
        stage: Stage = "bad input" if reason.startswith("after ") else "values"
        return Fault(stage, reason, text=some[0], after=some[1:], expected="a list of ints, the caller's own")

    few = sorted(texts, key=len)[:_FEW]
    for some in (few, texts):  # a target with little time answers the few
        if (fault := fault_of_values(tuple(some))) is not None:
            case.n_inputs += len(some)
            simpler = [*((text,) for text in few), *pairwise(few)]
            raise case.smallest_fault(tuple(some), fault_of_values, fault, simpler)
        case.n_inputs = sum(number is not None for number in case.client.digests(some)["encode"])
