"""What a piece of a pattern can hold: never refused where a piece holds it."""

from __future__ import annotations

import pytest

from harness.data import load_corpus
from harness.lint.proofs import Factors, _automaton
from impls.core.text.patterns import NAMED, Splitter


@pytest.mark.parametrize("name", [name for name, stages in NAMED.items() if stages])
def test_every_part_of_every_piece_can_be_held(name: str) -> None:
    read = [_automaton(stage) is not None for stage in NAMED[name]]
    assert all(read) or (name == "deepseek" and read == [True, True, False]), "a pattern that is not understood"
    factors, splitter = Factors(NAMED[name]), Splitter(NAMED[name])
    text = "\n".join(load_corpus("samples").documents())[:60_000] + " I'll I'LL 1234567\r\n\r\n  x\t\t don\u2019t 12,5"
    pieces = {piece for piece in splitter.split(text.encode(errors="ignore").decode()) if len(piece) < 40}
    assert len(pieces) > 200
    for piece in pieces:
        assert factors.can_be(piece), piece
        assert factors.can_hold(piece[1:]), piece
        assert factors.can_hold(piece[:-1]), piece


@pytest.mark.parametrize(
    ("pattern", "held", "not_held"),
    [
        (r" ?\p{L}+|\p{N}{1,3}|\s+", ["ab", " ab", "123", "\n "], ["1234", "a b", "a1", "  a"]),
        (r"(?i:'s|'ll)|\w+|\W", ["'S", "'lL", "ll"], ["'m", "''"]),
        (r"a(?!b)b|.", ["ab"], ["ba"]),
        (r"(?:ab){2}|[\s\S]", ["abab", "bab"], ["ababa"]),
        (r"x{3,}y?+|(?s:.)", ["xxxxx", "xy", "\n"], ["yx"]),
        (r"[^\]a-c]+\\\{|\x41\u0042", ["d\\{", "AB"], ["a\\{", "ab", "]"]),
    ],
)
def test_what_no_match_holds_is_refused(pattern: str, held: list[str], not_held: list[str]) -> None:
    factors = Factors([pattern])
    assert all(map(factors.can_hold, held))
    assert not any(map(factors.can_hold, not_held))


def test_a_part_of_a_match_is_no_piece_by_itself() -> None:
    factors = Factors([r"abc|\s"])
    assert factors.can_hold("bc")
    assert not factors.can_be("bc")
    assert factors.can_be("abc")


def test_all_stages_count_and_what_is_not_understood_refuses_nothing() -> None:
    assert not Factors([r"\d|\D+", r"\w+|\W+"]).can_hold("12")
    assert not Factors([r"\w+|\W+", r"\d|\D+"]).can_hold("a ")
    assert Factors([r"(?P>never)|(?(1)a|b)"]).can_hold("12")
    assert Factors([r"a{200}|b"]).can_hold("12")
    assert Factors([]).can_be("anything")
