"""The smallest text on which an implementation is wrong, searched in a fresh process around the first difference."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.judge import Encoded, Judgement, ModelDecoder, ids_difference, judge
from harness.measure import worker
from harness.measure.workloads import Workload
from harness.minimize import Budget, smallest_sequence
from harness.outcome import Outcome
from harness.process.session import Answer
from harness.records import Counterexample, Text
from impls import BPEError, Tokenizer, get

if TYPE_CHECKING:
    from harness.measure.materials import Materials

SHRINK_SECONDS = 5.0
MOST_IDS_SHOWN = 200


def of_mismatch(
    materials: Materials,
    implementation: str,
    workload: Workload,
    text: bytes,
    judgement: Judgement,
    got: list[int],
    reference: str,
) -> Counterexample:
    """Return the smallest counterexample around a wrong answer; the place as it was seen, if it is not seen again."""
    if judgement.expected is None:
        lines = text.splitlines(keepends=True)
        candidates: tuple[bytes, ...] = (*sorted(lines, key=len)[:1000], text)
        seen = Counterexample(_text(min(candidates, key=len)[:1000]), None, None)
    else:
        token_bytes = materials.models[workload.model].bytes_by_id()
        difference = ids_difference(text, judgement.expected, got, token_bytes)
        candidates = difference.windows
        shown = _text(candidates[0] if candidates else text[:1000])
        expected, other = difference.expected[:MOST_IDS_SHOWN], difference.got[:MOST_IDS_SHOWN]
        seen = Counterexample(shown, expected, other, reference, "as met inside the timed text")
    name = materials.references.name_for(workload.model)
    if name:
        with materials.session() as session:
            model = materials.model_file(workload.model)
            opened = session.call(
                worker.open_implementation, implementation, model, (), False, seconds=worker.OPEN_SECONDS
            )
            if isinstance(opened, Answer):
                shrunk = session.call(shrink, candidates, name, seconds=4 * SHRINK_SECONDS)
                if isinstance(shrunk, Answer) and shrunk.value is not None:
                    smallest: Counterexample = shrunk.value
                    return smallest
    note = "; ".join(part for part in (seen.note, "not seen again in a fresh process") if part)
    return Counterexample(seen.text, seen.expected, seen.got, seen.reference, note)


def _text(content: bytes) -> Text:
    return Text.of(content.decode("utf-8", "replace"))


def shrink(candidates: tuple[bytes, ...], reference_name: str) -> Counterexample | None:
    """Return the smallest text whose ids differ or do not decode to it, of the implementation that this process holds.

    None if there is none within the time.
    """
    tokenizer = worker.held()
    reference, decoder = get(reference_name)(tokenizer.model), ModelDecoder(tokenizer.model)

    def differs(text: str) -> bool:
        got, wanted = _answer(tokenizer, text), _answer(reference, text)
        if isinstance(got, str) or isinstance(wanted, str):
            return got != wanted
        encoded = Encoded.by(tokenizer, text, got, decoder)
        return judge([encoded], [wanted], tokenizer.model, exact=tokenizer.exact).outcome is Outcome.MISMATCH

    budget = Budget(sys.maxsize, SHRINK_SECONDS)
    for content in candidates:
        text = content.decode("utf-8", "surrogatepass")
        if budget.exhausted:
            return None
        if not differs(text):
            continue
        text = smallest_sequence(text, lambda shorter: bool(shorter) and differs(shorter), budget)
        got, expected = _answer(tokenizer, text), _answer(reference, text)
        notes = [f"{name} {value}" for name, value in (("got", got), ("expected", expected)) if isinstance(value, str)]
        if got == expected:
            notes.append("the ids are right and do not decode as they must")
        return Counterexample(
            text=Text.of(text),
            expected=expected[:MOST_IDS_SHOWN] if isinstance(expected, list) else None,
            got=got[:MOST_IDS_SHOWN] if isinstance(got, list) else None,
            reference=reference.name,
            note="; ".join(notes),
        )
    return None


def _answer(tokenizer: Tokenizer, text: str) -> list[int] | str:
    """Return the ids of a text, or the error that encoding it raises."""
    try:
        return [int(i) for i in tokenizer.encode(text, disallowed_special=())]
    except (BPEError, ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
