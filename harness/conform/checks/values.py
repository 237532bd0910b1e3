"""Are the answers what the signature says: lists of ints, and the caller's own?"""

from __future__ import annotations

from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.reference import Refused
from harness.conform.verdicts import Counterexample, Verdict

_TEXTS = 60


def python_values(case: Case) -> Verdict:
    """Types of ids and texts; lists that change later; arguments that are changed."""
    if not case.subject.offers("python_values"):
        return Verdict(status="not offered", reason="types are only asked of a Python object")
    texts = [text for text in texts_for(case) if text]
    texts = texts[:: max(1, len(texts) // _TEXTS)]
    encoded = zip(texts, case.subject.ids_of_all(texts), strict=True)
    texts = [text for text, ids in encoded if not isinstance(ids, Refused)]
    # The ids 0 and 1 equal False and True: asked for by the texts of these tokens.
    texts += [token.decode("utf-8", "ignore") for i in (0, 1) if (token := case.reference.bytes_by_id.get(i))]
    faults = case.subject.ask("python_values", texts=texts)
    case.subject.fresh()
    if isinstance(faults, Refused):
        reason, shortest = f"looking at its values ends in {faults}", None
    elif faults:
        reason, shortest = "; ".join(faults), _shortest(case, texts)
        case.subject.fresh()
    else:
        return Verdict(status="passed", n_inputs=len(texts))
    example = None if shortest is None else Counterexample.of(shortest, expected="a list of ints", got=reason)
    return Verdict(
        status="failed", stage="values", reason=reason, counterexample=example, n_inputs=len(texts), n_failed=1
    )


def _shortest(case: Case, texts: list[str]) -> str | None:
    for text in sorted(texts, key=len)[:20]:
        if case.subject.ask("python_values", texts=[text]):
            return text
    return None
