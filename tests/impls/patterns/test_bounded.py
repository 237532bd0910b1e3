"""A pattern with catastrophic backtracking is refused, or times out with an error naming it, everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from random_models import BYTES
from refusals import refused

import impls
from impls import InvalidPattern, Model
from impls.core.errors import LibraryFailed
from impls.core.pattern.automaton import compile_pattern
from impls.core.pattern.syntax import NotExpressible
from impls.core.text.normalization import normalizer
from impls.core.text.patterns import MAX_EXPANDED, NAMED, check_size
from impls.production.libraries import is_too_slow

NESTED = r"(?:(?:a{0,1000}){0,1000}){0,1000}b|[\s\S]"
WRITTEN_OUT = r"(?:(?:(?:ab){1000}){1000}){1000}|[\s\S]"
MANY_WAYS = "(?:" + "|".join("a" * length for length in range(1, 150)) + r")*b|[\s\S]"
TEXT = "a" * 60 + "!"
OWN = ("naive", "greedy", "compiled")

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("pattern", [NESTED, WRITTEN_OUT, NESTED.replace("{0,", "{"), NESTED.replace("0,1000", ",999")])
def test_repetitions_inside_repetitions_are_refused_when_a_model_is_made(pattern: str) -> None:
    with pytest.raises(InvalidPattern, match=r"^the pattern '\(\?:\(\?:.* repeats up to \d+ .*; at most 100000"):
        Model(tokens=BYTES, pattern=(pattern,))


@pytest.mark.parametrize("pattern", [NESTED, WRITTEN_OUT, "(?:" * 400 + "a" + ")" * 400], ids=["high", "long", "deep"])
@pytest.mark.parametrize("place", ["pre_tokenizer", "normalizer"])
def test_a_file_with_such_a_pattern_is_refused_by_its_place_in_it(tmp_path: Path, pattern: str, place: str) -> None:
    with pytest.raises(impls.InvalidFile, match=f"{place}.*pattern.*(repeats up to|nested)"):
        Model.load(file_with(tmp_path, place, pattern))


def file_with(folder: Path, place: str, pattern: str) -> Path:
    steps = {
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
        "normalizer": {"type": "Replace", "pattern": {"Regex": pattern}, "content": "x"},
    }
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    (folder / "tokenizer.json").write_text(json.dumps({"model": model, place: steps[place]}))
    return folder / "tokenizer.json"


def test_a_file_with_a_pattern_that_short_texts_match_in_too_many_ways_is_refused(tmp_path: Path) -> None:
    with pytest.raises(impls.InvalidFile, match=r"pre_tokenizer\.pattern: the pattern takes too long on some texts"):
        Model.load(file_with(tmp_path, "pre_tokenizer", r"(?:\w+\s?)+\.\w|[\s\S]"))


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("a{5}(?:b{3}c){7}x", 5 + 4 * 7 + 1),
        ("(?=ab{9}){3}", 30),
        ("(?i:a{2}|b{3}){4}", 20),
        (r"[a{3}\]]{4}|b{2}", 6),
        ("a{,7}b{2,}", 9),
        (r"\(a{3}\)", 5),
    ],
)
def test_the_size_counts_characters_once_repetitions_are_written_out(pattern: str, size: int) -> None:
    factor = MAX_EXPANDED // size + 1
    refused(InvalidPattern, f"repeats up to {size * factor} characters", check_size, f"(?:{pattern}){{{factor}}}")
    check_size(f"(?:{pattern}){{{factor - 1}}}")


@pytest.mark.parametrize("name", OWN)
def test_a_text_matched_in_too_many_ways_is_given_up_by_pattern(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impls.core.text.patterns.LEAST_SECONDS", 0.2)
    tokenizer = impls.load(name, Model(tokens=BYTES, pattern=(MANY_WAYS,)))
    assert tokenizer.encode("aab!") == [*b"aab!"]
    calls = (tokenizer.encode, tokenizer.encode_array, lambda text: tokenizer.encode_batch([text, text]))
    for encode in (*calls, tokenizer.model.splitter.spans):
        refused(InvalidPattern, r"^the pattern '\(\?:a\|aa\|aaa.* takes more than .* of 61 char", encode, TEXT)


@pytest.mark.parametrize("name", ["tiktoken", "tokenizers"])
@pytest.mark.parametrize("pattern", [MANY_WAYS, r"(?:\w+\s?)+\.\w|[\s\S]"])
def test_a_library_is_not_given_a_pattern_that_takes_for_ever(name: str, pattern: str) -> None:
    with pytest.raises(impls.Unsupported, match=rf"^{name}: .* may never finish under the pattern '\(\?:"):
        impls.load(name, Model(tokens=BYTES, pattern=(pattern,)))


def test_ordinary_patterns_are_given_to_the_libraries() -> None:
    ordinary = [stage for stages in NAMED.values() for stage in stages]
    ordinary += [r"\w+|[^\w\s]+|\s+", r"[a-z]+(?:-[a-z]+)*|[\s\S]", r"\"[^\"]*\"|[\s\S]", r"\S+|\s+", r"(?:\r?\n)+|.+"]
    assert [stage for stage in ordinary if is_too_slow(stage)] == []


def test_a_panic_is_an_error_by_pattern(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # On a slow machine the trial of the pattern takes too long, and the library is not given it.
    monkeypatch.setattr("impls.production.libraries.is_too_slow", lambda stage: False)
    tokenizer = impls.load("tokenizers", Model(tokens=BYTES, pattern=(r"a*a*a*a*a*a*b|[\s\S]",)))
    with pytest.raises(LibraryFailed, match=r"^tokenizers: the library panicked: .*; the pattern is 'a\*a\*") as failed:
        tokenizer.encode_batch([TEXT, TEXT])
    capfd.readouterr()
    assert failed.value.panicked
    assert tokenizer.encode("b") == [98]


def test_a_replacement_of_a_normaliser_is_bounded_in_the_same_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(impls.InvalidModel, match="repeats up to 1000000002 characters"):
        normalizer(f"replace-regex({json.dumps(NESTED)},{json.dumps('x')})")
    monkeypatch.setattr("impls.core.text.patterns.LEAST_SECONDS", 0.2)
    normalize = normalizer(f"replace-regex({json.dumps(MANY_WAYS.replace('[', '!|['))},{json.dumps('x')})")
    assert normalize("aab!") == "xx"
    refused(InvalidPattern, "takes more than", normalize, TEXT)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("".join(f"{chr(0x4E00 + at)}?+" for at in range(900)) + r"b|[\s\S]", "63 character classes"),
        ("".join(f"{chr(0x4E00 + at)}?+" for at in range(50)) + "x?y?" * 1000 + r"b|[\s\S]", "this large"),
        ("(?:" * 400 + "a" + ")" * 400, "nested this deeply"),
        ("x?y?" * 200 + r"b|[\s\S]", "takes long to make"),  # 403 states
    ],
)
def test_an_automaton_that_would_take_long_is_not_made(pattern: str, reason: str) -> None:
    refused(NotExpressible, reason, compile_pattern, pattern)
