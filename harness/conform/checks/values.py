"""Are the answers of the declared types, and do they belong to the caller?"""

from __future__ import annotations

from itertools import pairwise

from harness.conform.case import Case
from harness.conform.checks.over_texts import texts_for
from harness.conform.reference import Refusal
from harness.conform.verdicts import Fault

_TEXTS = 60


def python_values(case: Case) -> None:
    """Check types of ids and texts, lists that change later, and arguments that are changed."""
    texts = [text for text in texts_for(case, _TEXTS) if text]
    # The ids 0 and 1 equal False and True: asked for by the texts of these tokens.
    texts += [token.decode("utf-8", "ignore") for i in (0, 1) if (token := case.reference.bytes_by_id.get(i))]
    case.n_inputs += len(texts)
    faults = case.client.ask("python_values", texts=texts)
    case.client.fresh()
    if isinstance(faults, Refusal):
        raise Fault("values", f"looking at its values ends in {faults}")
    if not faults:
        return
    reason = "; ".join(faults)
    few = sorted(texts, key=len)[:20]
    # The shortest text, or two if it takes two, that show a fault.
    for shown in ((text,) for text in few), pairwise(few):
        for first, *others in shown:
            if case.client.ask("python_values", texts=[first, *others]):
                case.client.fresh()
                wanted = "a list of ints, the caller's own"
                raise Fault("values", reason, text=first, after=tuple(others), expected=wanted, got=reason)
    case.client.fresh()
    raise Fault("values", reason)
