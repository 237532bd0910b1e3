"""The smallest text on which an implementation is wrong, searched in a fresh process around the first difference."""

from __future__ import annotations

from harness.common_prefix import common_prefix_length
from harness.judge import Encoded, Judgement, judge
from harness.measure import worker
from harness.measure.materials import Materials
from harness.measure.references import opens
from harness.minimize import Budget, smallest_text
from harness.outcome import Outcome
from harness.process.session import Answer
from harness.records import Counterexample, Text
from impls import BPEError, Tokenizer, get

SHRINK_SECONDS = 5.0
MOST_IDS_SHOWN = 200
_CHARACTERS_SHOWN, _IDS_SHOWN = 64, 20
"""What is shown of a difference that is not seen again, from its beginning on."""
_MOST_CHARACTERS = 10_000
"""Of a smallest text that has more, a record keeps the beginning: its workload names the whole text."""


def of_mismatch(
    materials: Materials, implementation: str, model: str, answer: Encoded, judgement: Judgement, reference: str
) -> Counterexample:
    """Return the smallest counterexample around a wrong answer; the place as it was met, if it is not seen again."""
    text, expected, got = answer.text, judgement.expected, list(map(int, answer.ids))
    n_equal = 0 if expected is None else common_prefix_length(expected, got)
    token_bytes = materials.models[model].bytes_by_id()
    n_bytes = sum(len(token_bytes.get(i, b"")) for i in got[:n_equal])
    place = len(text.encode("utf-8", "surrogatepass")[:n_bytes].decode("utf-8", "ignore"))
    name = materials.references.name_for(model)
    if name:
        with materials.session() as session:
            if opens(session, implementation, materials.model_file(model)):
                shrunk = session.call(shrink, text, place, name, seconds=4 * SHRINK_SECONDS)
                if isinstance(shrunk, Answer) and shrunk.value is not None:
                    smallest: Counterexample = shrunk.value
                    return smallest
    shown, note = Text.of(text[place : place + _CHARACTERS_SHOWN]), "not reproduced in a fresh process"
    if expected is None:
        return Counterexample(shown, None, None, note=note)
    first, second = (ids[n_equal : n_equal + _IDS_SHOWN] for ids in (expected, got))
    return Counterexample(shown, first, second, reference, f"as it occurred inside the timed text; {note}")


def shrink(text: str, place: int, reference_name: str) -> Counterexample | None:
    """Return the smallest text whose ids differ or do not decode to it, of the implementation that this process holds.

    The difference was met at the character `place`; None if it is not found within the time.
    """
    tokenizer = worker.held()
    reference = get(reference_name)(tokenizer.model)

    def differs(text: str) -> bool:
        got, wanted = _answer(tokenizer, text), _answer(reference, text)
        if isinstance(got, str) or isinstance(wanted, str):
            return got != wanted
        encoded = Encoded.by(tokenizer, text, got)
        return judge([encoded], [wanted], tokenizer.model, exact=tokenizer.exact).outcome is Outcome.MISMATCH

    text = smallest_text(text, differs, Budget(max_seconds=SHRINK_SECONDS), [place])
    if not differs(text):
        return None
    got, expected = _answer(tokenizer, text), _answer(reference, text)
    notes = [f"{name} {value}" for name, value in (("got", got), ("expected", expected)) if isinstance(value, str)]
    if got == expected:
        notes.append("the ids are right, but do not decode as they must")
    if len(text) > _MOST_CHARACTERS:
        notes.append(f"the first {_CHARACTERS_SHOWN} of {len(text):,} characters; no shorter text showed it")
        text = text[:_CHARACTERS_SHOWN]
    return Counterexample(
        text=Text.of(text),
        expected=expected[:MOST_IDS_SHOWN] if isinstance(expected, list) else None,
        got=got[:MOST_IDS_SHOWN] if isinstance(got, list) else None,
        reference=reference.name,
        note="; ".join(notes),
    )


def _answer(tokenizer: Tokenizer, text: str) -> list[int] | str:
    """Return the ids of a text, or the error that encoding it raises."""
    try:
        return [int(i) for i in tokenizer.encode(text, disallowed_special=())]
    except (BPEError, ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
