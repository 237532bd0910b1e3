"""The judge: what is right, wrong, and not known to be right."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.judge import LOST, MISREAD, Encoded, judge, judge_counts, judge_merges
from harness.outcome import Outcome
from impls import Model, Tokenizer

BYTES = Model(tokens=(*(bytes([byte]) for byte in range(256)), b"ab"), merges=((97, 98),))


class Right(Tokenizer):
    name = "right"

    def encode_normalized(self, text: str) -> list[int]:
        return list(text.encode())


class RemembersTexts(Right):
    """Decodes every list of ids to the text it encoded last."""

    def encode_normalized(self, text: str) -> list[int]:
        self.last = text
        return super().encode_normalized(text)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        return self.last


def by(kind: type[Tokenizer], text: str) -> Encoded:
    tokenizer = kind(BYTES)
    return Encoded.by(tokenizer, text, tokenizer.encode(text))


def test_ids_are_right_if_they_are_those_of_the_reference() -> None:
    answers = [Encoded("é", list("é".encode())), Encoded("x", [120])]
    assert judge(answers, [[195, 169], [120]], BYTES).outcome is Outcome.RIGHT
    wrong = judge(answers, [[195, 169], [121]], BYTES)
    assert (wrong.outcome, wrong.number, wrong.expected) == (Outcome.MISMATCH, 1, [121])
    assert judge(answers[:1], [[195, 169], [120]], BYTES).reason == "1 answers to 2 texts"


def test_right_ids_that_do_not_decode_are_wrong() -> None:
    assert judge([Encoded("x", [120], "y")], [[120]], BYTES).reason == LOST
    assert judge([Encoded("x", [120], "x", "x")], [[120]], BYTES).reason == MISREAD
    assert judge([by(RemembersTexts, "abc")], None, BYTES, exact=False).reason == MISREAD
    assert judge([by(Right, "abc")], None, BYTES, exact=False).outcome is Outcome.RIGHT


def test_what_nothing_confirms_is_unverified() -> None:
    assert judge([by(Right, "abc")], None, BYTES).outcome is Outcome.UNVERIFIED
    assert judge([Encoded("abc", [97, 98, 99])], None, BYTES, exact=False).outcome is Outcome.UNVERIFIED
    assert judge([Encoded("ab", [256])], [[97, 98]], BYTES, exact=False).outcome is Outcome.RIGHT


def test_ids_outside_the_model_are_told() -> None:
    assert "not ids of the model" in judge([Encoded("a", [999], "a", "a")], None, BYTES, exact=False).reason


def test_counts_and_merges() -> None:
    assert judge_counts([1, 2], [[5], [5, 6]]).outcome is Outcome.RIGHT
    assert judge_counts([1, 3], [[5], [5, 6]])[:3] == (
        Outcome.MISMATCH, "counts 3 tokens where the reference has 2", 1,
    )  # fmt: skip
    assert judge_counts([1], None).outcome is Outcome.UNVERIFIED
    assert judge_counts([3], [[5]], exact=False).outcome is Outcome.UNVERIFIED
    other = Model(tokens=(*BYTES.tokens[:256], b"ba"), merges=((98, 97),))
    assert judge_merges(BYTES, BYTES).outcome is Outcome.RIGHT
    assert judge_merges(other, BYTES).reason == "merge 0 joins (98, 97); the reference joins (97, 98)"
    assert judge_merges(Model(tokens=BYTES.tokens[:256]), BYTES).reason == "0 merges; the reference has 1"


@pytest.mark.parametrize("outcome", Outcome)
def test_what_did_not_run_is_no_fault_and_what_is_right_is_neither(outcome: Outcome) -> None:
    assert not (outcome.is_fault and outcome.did_not_run)
    assert outcome is not Outcome.RIGHT or not (outcome.is_fault or outcome.did_not_run or outcome.ends_process)
