"""What a difference is: its class, its shape (by which repetitions are recognised), and its record."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import regex

from harness.check.classes import Relation
from harness.check.fuzz.alphabets import is_newer
from harness.check.fuzz.questions import Answer, Call, Failure, ids_of
from harness.records import Counterexample, Difference, Disagreement, Text
from impls.core.model.model import Model
from impls.formats.own import read, write

STAND_INS = ("字", "a", "A", "1", "€", ".", "\u0301", "\u2003", "𐐷", "𝟘", "👍", "\U000f0000")
"""Old characters of the classes that patterns know (letters with and without case, digit, symbols, mark, space), and
some of four bytes in UTF-8, as newer characters have."""
_KINDS = {kind: regex.compile(rf"\p{{{kind}}}") for kind in ("L", "M", "N", "P", "S", "Z", "C")}
_LONGEST_SHAPE = 8
_KEPT = "'\n\r\t "


@dataclass(frozen=True, slots=True)
class Found:
    """A text that two sides encode differently."""

    a: str
    b: str
    model_name: str
    model: Model | None
    """The model itself where it is our own."""
    text: str
    answer_a: Answer
    answer_b: Answer
    call: Call
    allow_special: bool
    origin: str
    repeatable: bool = True

    @property
    def failed(self) -> bool:
        """Whether one side did not encode the text at all."""
        return isinstance(self.answer_a, Failure) or isinstance(self.answer_b, Failure)


def shape(text: str) -> str:
    """Return a text as the classes of its characters, a run of one class as one: `a1's` and `bc22's` are both `LN'L`.

    `n` is a character newer than Unicode 16; white space and the apostrophe are kept. The shape of a text that
    changes class often is only the set of its classes.
    """
    kinds = [_kind(character) for character in text]
    runs = [kind for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] != kind]
    return "".join(runs) if len(runs) <= _LONGEST_SHAPE else f"long: {''.join(sorted(set(runs)))}"


def _kind(character: str) -> str:
    if character in _KEPT:
        return character
    if is_newer(character):
        return "n"
    return next((kind for kind, expression in _KINDS.items() if expression.match(character)), "C")


def classify(found: Found, relation: Relation, agree: Callable[[str], bool]) -> Difference:
    """Classify a difference; `agree(text)` says whether the sides agree on another text.

    It is due to Unicode versions when the text has characters newer than Unicode 16 and the sides agree once any
    older character replaces them.
    """
    if not found.repeatable:
        return "not repeatable"
    if found.failed:
        return "failure"
    if not relation.must_agree:
        return "expected to differ"
    if (
        found.call != "decode"
        and any(map(is_newer, found.text))
        and all(agree(_replaced(found.text, old)) for old in STAND_INS)
    ):
        return "unicode version"
    return "fault"


def _replaced(text: str, stand_in: str) -> str:
    return "".join(stand_in if is_newer(character) else character for character in text)


def record_of(found: Found, difference: Difference, relation: Relation, versions: Mapping[str, str]) -> Disagreement:
    """Return the record of a difference."""
    failures = {
        name: f"{answer.kind}: {answer.message}" if isinstance(answer, Failure) else f"decode: {_decoded(answer)!a}"
        for name, answer in ((found.a, found.answer_a), (found.b, found.answer_b))
        if isinstance(answer, Failure) or found.call == "decode"
    }
    if found.call == "decode":
        text = "" if isinstance(found.answer_a, Failure) else _decoded(found.answer_a)
        example = Counterexample(Text.of(text), [ord(i) for i in found.text], None, reference=found.a)
    else:
        ids = ids_of(found.answer_a), ids_of(found.answer_b)
        example = Counterexample(Text.of(found.text), *ids, reference=found.a)
    return Disagreement(
        a=found.a,
        b=found.b,
        model=found.model_name,
        own_model=None if found.model is None else json.loads(write(found.model)),
        counterexample=example,
        failures=failures,
        call=found.call,
        allow_special=found.allow_special,
        difference=difference,
        agreement_class=relation.agreement_class,
        conditions=relation.conditions,
        shape=shape(example.text.text),
        versions=dict(versions),
        found=found.origin,
    )


def _decoded(answer: bytes) -> str:
    return answer.decode("utf-8", "surrogatepass")


def key_of(record: Disagreement) -> tuple[object, ...]:
    """Return what two records of one kind of difference have in common."""
    own = record.own_model
    n_merges = 0 if own is None else len(own.get("merges") or ()) or len(own["tokens"])
    failures = tuple(sorted((name, failure.partition(":")[0]) for name, failure in record.failures.items()))
    model = record.model if own is None else f"{own.get('merge_rule')} {own.get('alphabet')} {n_merges}"
    shape = "" if record.call == "decode" else record.shape
    return (record.a, record.b, model, record.difference, shape, record.allow_special, failures)


def table_rows(records: Sequence[Disagreement]) -> list[list[object]]:
    """Return the rows of a table: sides, model, class, stage, text, ids of both."""
    return [
        [
            f"{record.a}, {record.b}",
            record.model or describe_merges(record),
            record.difference,
            record.stage,
            describe_input(record),
            _describe_answer(record.counterexample.expected, record.failures.get(record.a)),
            _describe_answer(record.counterexample.got, record.failures.get(record.b)),
        ]
        for record in records
    ]


def describe_input(record: Disagreement) -> str:
    """Describe what was asked, on one line."""
    if record.call == "decode":
        return f"decode({record.counterexample.expected})"
    return f"'{record.counterexample.text.escaped}'" + (" on threads" if record.call == "encode_threads" else "")


def _describe_answer(ids: list[int] | None, failure: str | None) -> str:
    if failure is not None:
        return failure[:60]
    shown = " ".join(map(str, (ids or [])[:12]))
    return f"{shown} …" if len(ids or []) > 12 else shown


def own_model(record: Disagreement) -> Model:
    """Return the model stored in a record. Raises `InvalidModel`."""
    return read(json.dumps(record.own_model).encode())


def describe_merges(record: Disagreement) -> str:
    """Describe an own model on one line: its merges as `a+b`, and the tokens no merge makes."""
    if record.own_model is None:
        return ""
    model = own_model(record)
    shown = [(_name(model, left), _name(model, right)) for left, right in model.merges]
    made = {model.tokens[i] for i in model.merge_results}
    alone = [
        token for token in model.tokens if token is not None and token not in made and len(token.decode("latin-1")) > 1
    ]
    if model.alphabet == "chars":
        alone = [token for token in alone if len(token.decode()) > 1]
    parts = [f"{left}+{right}" for left, right in shown] + [
        f"[{token.decode('utf-8', 'backslashreplace')}]" for token in alone
    ]
    return f"{model.merge_rule}: {' '.join(parts) or 'no merges'}"


def _name(model: Model, i: int) -> str:
    return (model.tokens[i] or b"").decode("utf-8", "backslashreplace")
