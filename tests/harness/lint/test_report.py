"""Duplicates of a vocabulary."""

from __future__ import annotations

from harness.lint.reach import duplicates


def test_duplicates_are_by_form_and_leave_case_and_white_space_alone() -> None:
    texts = ["é", "e\u0301", "E\u0301", " é", "ﬁ", "fi", "\u00a0", " ", "K", "\u212a"]
    tokens = {i: text.encode() for i, text in enumerate(texts)} | {99: b"\xc3"}
    assert duplicates(tokens, "NFC") == [(0, 1), (8, 9)]
    assert duplicates(tokens, "NFKC") == [(0, 1), (4, 5), (6, 7), (8, 9)]
