"""Are the answers of the declared types, and do they belong to the caller?"""

from __future__ import annotations

from itertools import pairwise

from harness.conform.case import Case
from harness.conform.checks.over_texts import texts_for
from harness.conform.reference import Refusal
from harness.conform.verdicts import Fault

_TEXTS = 60
_TRIED = 10


def python_values(case: Case) -> None:
    """Check types of ids and texts, lists that change later, arguments that are changed, state that is shared."""
    texts = [text for text in texts_for(case, _TEXTS) if text]
    # The ids 0 and 1 equal False and True: asked for by the texts of these tokens.
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

    case.n_inputs += len(texts)
    if (fault := fault_of(tuple(texts))) is not None:
        few = sorted(texts, key=len)[:_TRIED]
        raise case.smallest_fault(tuple(texts), fault_of, fault, [*((text,) for text in few), *pairwise(few)])
