"""Are the answers of the declared types, and do they belong to the caller?"""

from __future__ import annotations

from itertools import pairwise

from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.reference import Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput

_TEXTS = 60


def python_values(case: Case) -> CheckVerdict:
    """Check types of ids and texts, lists that change later, and arguments that are changed."""
    if not case.client.offers("python_values"):
        return CheckVerdict(status="not offered", reason="types are only tested on a Python object")
    texts = [text for text in texts_for(case) if text]
    texts = texts[:: max(1, len(texts) // _TEXTS)]
    # The ids 0 and 1 equal False and True: asked for by the texts of these tokens.
    texts += [token.decode("utf-8", "ignore") for i in (0, 1) if (token := case.reference.bytes_by_id.get(i))]
    faults = case.client.ask("python_values", texts=texts)
    case.client.fresh()
    if isinstance(faults, Refusal):
        reason, example = f"looking at its values ends in {faults}", None
    elif faults:
        reason, example = "; ".join(faults), _smallest(case, texts, "; ".join(faults))
        case.client.fresh()
    else:
        return CheckVerdict(status="passed", n_inputs=len(texts))
    return CheckVerdict(
        status="failed", stage="values", reason=reason, counterexample=example, n_inputs=len(texts), n_failed=1
    )


def _smallest(case: Case, texts: list[str], reason: str) -> FailingInput | None:
    """Return the shortest text, or two if it takes two, that show a fault."""
    few = sorted(texts, key=len)[:20]
    for first, *others in [[text] for text in few] + [list(pair) for pair in pairwise(few)]:
        if case.client.ask("python_values", texts=[first, *others]):
            return FailingInput.of(first, after=tuple(others), expected="a list of ints, the caller's own", got=reason)
    return None
