"""Split stages mean the same in Hugging Face's library as here, after reading and after writing."""

from __future__ import annotations

import json
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from tokenizers import Regex, Tokenizer
from tokenizers.normalizers import Replace

from impls import InvalidPattern
from impls.core.text.patterns import NAMED, Splitter
from impls.formats.tokenizer_json.oniguruma import from_oniguruma, leaves_nothing_out, to_oniguruma
from impls.formats.tokenizer_json.split_stages import read_stages, with_gaps, without_gaps, write_stages

DEEPSEEK = (
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
CHARACTERS = "abzA ğİı5½²_'’-!/$\n\r\t\u00a0\u3000\u0301\u200d中あア가😀\u0378"
texts = st.text(alphabet=CHARACTERS, max_size=25) | st.text(alphabet=st.characters(codec="utf-8"), max_size=15)


def their_pieces(pre_tokenizer: dict[str, Any] | None, text: str) -> list[str]:
    model = {"type": "BPE", "vocab": {}, "merges": []}
    document = {"version": "1.0", "added_tokens": [], "pre_tokenizer": pre_tokenizer, "model": model}
    steps = Tokenizer.from_str(json.dumps(document)).pre_tokenizer
    return [piece for piece, _ in steps.pre_tokenize_str(text)] if steps else [text] if text else []


@pytest.mark.parametrize(
    "stages",
    [
        *NAMED.values(),
        (r"\w+|\W+",),
        (r"[\w']+|[^\w']",),
        (r"(?i:abz)|[\s\S]",),
        (r"[^]a]+|[]a]",),
        (r"\s+|\S+", r"\p{N}|\P{N}+"),
    ],
)
@given(text=texts)
@settings(max_examples=25, deadline=None)
def test_written_stages_cut_the_same_pieces(stages: tuple[str, ...], text: str) -> None:
    assert their_pieces(write_stages(stages, byte_level=False), text) == Splitter(stages).split(text)


def split(pattern: str, kind: str = "Regex") -> dict[str, Any]:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": "Isolated", "invert": False}


@pytest.mark.parametrize(
    "steps",
    [
        [split(stage) for stage in DEEPSEEK],
        [split(r"\w+")],
        [split(r"[a-z]+")],
        [split(r"[^a-z]{1,2}")],
        [split(r"a{2,3}|b|\s(?=a)")],
        [split(r"[0-9][0-9][0-9]")],
        [split(".", "String"), split(" ", "String"), split("'a", "String")],
        [{"type": "Digits", "individual_digits": True}],
        [{"type": "Digits", "individual_digits": False}, split(NAMED["gpt2"][0])],
    ],
)
@given(text=texts)
@settings(max_examples=25, deadline=None)
def test_stages_that_are_read_cut_the_same_pieces(steps: list[dict[str, Any]], text: str) -> None:
    pre_tokenizer = {"type": "Sequence", "pretokenizers": steps}
    stages, byte_level = read_stages(pre_tokenizer)
    assert not byte_level
    assert Splitter(stages).split(text) == their_pieces(pre_tokenizer, text)
    again = write_stages(stages, byte_level=False)
    assert read_stages(again)[0] == stages
    assert their_pieces(again, text) == their_pieces(pre_tokenizer, text)


def test_gaps_get_a_class_where_the_pattern_is_one_and_a_look_ahead_otherwise() -> None:
    assert [with_gaps(stage) for stage in DEEPSEEK[:2]] == [
        r"\p{N}{1,3}|\P{N}+",
        r"[一-龥぀-ゟ゠-ヿ]+|[^一-龥぀-ゟ゠-ヿ]+",
    ]
    assert with_gaps("ab") == r"ab|(?:(?!ab)[\s\S])+"
    assert with_gaps("a{2}") == r"a{2}|(?:(?!a{2})[\s\S])+"
    for stage in (*DEEPSEEK, "ab", "[ab]", "[^ab]", "a{2}", r"\p{L}{2}"):
        assert without_gaps(with_gaps(stage)) == stage
    for name, stages in NAMED.items():
        if name not in ("deepseek", "superword"):  # which are written with their gaps
            assert tuple(map(without_gaps, stages)) == stages
    for stage in (*NAMED["deepseek"], *NAMED["superword"]):
        assert with_gaps(without_gaps(stage)) == stage


def test_whether_a_pattern_leaves_text_out_is_found_by_trial() -> None:
    assert all(leaves_nothing_out(stage) for stages in NAMED.values() for stage in stages)
    assert leaves_nothing_out(r"\S+|\s+")
    for stage in (*DEEPSEEK, r"\s+(?!\S)|\S+", r"\w+|\s+", r"a*", "[\\x00-\\u2fff]+"):
        assert not leaves_nothing_out(stage)


def test_the_patterns_tiktoken_ships_are_written_so_that_oniguruma_cuts_the_same() -> None:
    assert to_oniguruma(NAMED["gpt2-0.14"][0]) == NAMED["gpt2"][0]
    shipped = NAMED["cl100k-0.14"][0]
    assert "{1,3}+" not in to_oniguruma(shipped)
    assert from_oniguruma(to_oniguruma(shipped)) == shipped
    for name in ("gpt2", "cl100k", "o200k", "turkish", "turkish-s1"):
        assert to_oniguruma(NAMED[name][0]) == from_oniguruma(NAMED[name][0]) == NAMED[name][0]


@pytest.mark.parametrize(
    "expression",
    [
        r"\p{N}{1,3}+", r"a$", r"^a", r"\Aa", r"a\Z", r"\ba", r"\h", r"\R", r"[a[b]]", r"[a&&b]", r"[\W]",
        r"(?<n>a)", r"(?m:a)", r"(?s:.)", r"(?x: a)", r"(a)\1",
        r"\pL+", r"[\PL]", "a{e<2}", "a{i}", "a{,}b",
    ],
)  # fmt: skip
def test_what_the_dialects_read_differently_is_refused_both_ways(expression: str) -> None:
    refused(InvalidPattern, "no equivalent in Hugging Face's Oniguruma", to_oniguruma, expression)
    refused(InvalidPattern, "means something else in Oniguruma", from_oniguruma, expression)


def test_word_characters_are_spelled_out_as_each_dialect_knows_them() -> None:
    assert their_pieces(split(r"\w+"), "a²b\u200dc") == ["a²b", "\u200d", "c"]
    assert Splitter((r"\w+|\W+",)).split("a²b\u200dc") == ["a", "²", "b\u200dc"]
    assert their_pieces(write_stages((r"\w+|\W+",), byte_level=False), "a²b\u200dc") == ["a", "²", "b\u200dc"]


@pytest.mark.parametrize("written", [r"\w", r"[\w]", r"[^\w]", r"\W", r"\s", r"\S", r"[^\S]", r"\d", r"[\D]"])
def test_a_shorthand_has_the_same_characters_in_and_out_of_a_class(written: str) -> None:
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    assert regex.sub(from_oniguruma(written), "", every) == Replace(Regex(written), "").normalize_str(every)
