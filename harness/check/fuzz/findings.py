"""Describe a difference: its class, its shape (by which repetitions are recognised), and its record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import regex

from harness.check.classes import Relation
from harness.check.fuzz.questions import Answer, Question, ids_of
from harness.generators.alphabets import is_newer
from harness.printable import readable
from harness.process.session import Failed
from harness.records import Counterexample, Difference, Disagreement, Text
from harness.report import wording
from harness.unicode_versions import with_older
from impls.core.model.model import Model
from impls.formats.own import read, write

_KINDS = {kind: regex.compile(rf"\p{{{kind}}}") for kind in ("L", "M", "N", "P", "S", "Z", "C")}
_LONGEST_SHAPE = 8
_KEPT = "'\n\r\t "


@dataclass(frozen=True, slots=True)
class DifferingText:
    """A text that two sides answered differently, and the question it was part of."""

    sides: tuple[str, str]
    question: Question
    """Holds the model itself if that is kept; its `texts` are not used."""
    text: str
    answers: tuple[Answer, Answer]
    origin: str
    repeatable: bool = True

    @property
    def failed(self) -> bool:
        """Return whether one side did not encode the text at all; minimising preserves that."""
        return any(isinstance(answer, Failed) for answer in self.answers)

    def with_model(self, model: Model | None) -> DifferingText:
        """Return a copy with the model itself in place of its name; unchanged if `model` is None."""
        return self if model is None else replace(self, question=replace(self.question, model=model))


def shape(text: str) -> str:
    """Return the classes of a text's characters, each run as one: `a1's` and `bc22's` are both `LN'L`.

    `n` is a character newer than Unicode 16; white space and the apostrophe are kept. For a text that changes class
    often, the shape is only the set of its classes.
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


def classify(case: DifferingText, relation: Relation, agree: Callable[[str], bool]) -> Difference:
    """Classify a difference; `agree(text)` says whether the sides agree on another text.

    It is due to Unicode versions when the text has characters newer than Unicode 16 and the sides agree once any
    older character replaces them.
    """
    if not case.repeatable:
        return "not repeatable"
    if case.failed:
        return "failure"
    if not relation.must_agree:
        return "expected to differ"
    older = [] if case.question.call == "decode" else with_older(case.text)
    return "unicode version" if older and all(map(agree, older)) else "fault"


def record_of(
    case: DifferingText, difference: Difference, relation: Relation, versions: Mapping[str, str]
) -> Disagreement:
    """Return the record of a difference. Only the last part of a model's path is kept."""
    (a, b), question, (answer_a, answer_b) = case.sides, case.question, case.answers
    model = question.model
    failures = {}
    for name, answer in zip(case.sides, case.answers, strict=True):
        if isinstance(answer, Failed):
            failures[name] = str(answer)
        elif question.call == "decode":
            failures[name] = f"decode: {_decoded(answer)!a}"
    if question.call == "decode":
        text = "" if isinstance(answer_a, Failed) else _decoded(answer_a)
        example = Counterexample(Text.of(text), [ord(i) for i in case.text], None, reference=a)
    else:
        example = Counterexample(Text.of(case.text), ids_of(answer_a), ids_of(answer_b), reference=a)
    return Disagreement(
        a=a,
        b=b,
        model="" if isinstance(model, Model) else Path(model).name,
        own_model=json.loads(write(model)) if isinstance(model, Model) else None,
        counterexample=example,
        failures=failures,
        call=question.call,
        allow_special=question.allow_special,
        difference=difference,
        agreement_class=relation.agreement_class,
        conditions=relation.conditions,
        shape=shape(example.text.text),
        versions=dict(versions),
        found=case.origin,
    )


def _decoded(answer: bytes) -> str:
    return answer.decode("utf-8", "surrogatepass")


def key_of(record: Disagreement) -> tuple[object, ...]:
    """Return the key that two records of the same kind of difference share."""
    own = record.own_model
    n_merges = 0 if own is None else len(own.get("merges") or ()) or len(own["tokens"])
    failures = tuple(sorted((name, failure.partition(":")[0]) for name, failure in record.failures.items()))
    model = record.model if own is None else f"{own.get('merge_rule')} {own.get('alphabet')} {n_merges}"
    shape = "" if record.call == "decode" else record.shape
    return (record.a, record.b, model, record.difference, shape, record.allow_special, failures)


def table_rows(records: Sequence[Disagreement]) -> list[list[object]]:
    """Return the rows of a table: sides, model, class, stage, text, ids of both."""
    return [
        [f"{of.a}, {of.b}", of.model or describe_merges(of), of.difference, of.stage, describe_input(of), *_answers(of)]
        for of in records
    ]


def _answers(record: Disagreement) -> Iterator[str]:
    """Yield the ids of each side, or its failure."""
    example = record.counterexample
    for side, ids in ((record.a, example.expected), (record.b, example.got)):
        failure = record.failures.get(side)
        yield wording.ids(ids or []) if failure is None else failure[:60]


def describe_input(record: Disagreement) -> str:
    """Describe the input of a record on one line."""
    if record.call == "decode":
        return f"decode({record.counterexample.expected})"
    return f"'{record.counterexample.text.escaped}'" + (" on threads" if record.call == "encode_threads" else "")


def own_model(record: Disagreement) -> Model:
    """Return the model stored in a record. Raises `InvalidModel`."""
    return read(json.dumps(record.own_model).encode())


def describe_merges(record: Disagreement) -> str:
    """Describe a stored model on one line: its merges as `a+b`, and the tokens that no merge makes."""
    if record.own_model is None:
        return ""
    model = own_model(record)
    results = {model.tokens[i] for i in model.merge_results}
    several = [token for token in model.tokens if len(token or b"") > 1 and token not in results]
    if model.alphabet == "chars":
        several = [token for token in several if len((token or b"").decode()) > 1]
    shown = [readable(token or b"") for token in model.tokens]
    parts = [f"{shown[left]}+{shown[right]}" for left, right in model.merges]
    parts += [f"[{readable(token or b'')}]" for token in several]
    return f"{model.merge_rule}: {' '.join(parts) or 'no merges'}"
