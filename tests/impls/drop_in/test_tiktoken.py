"""`bpebench.Encoding` beside tiktoken's: the same answers and exceptions over random calls, right and wrong ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import tiktoken
from refusals import refused
from runnable import exact_over
from tiktoken_calls import METHODS, WORDS, Calls, agree, outcome

import bpebench
import impls
from impls import TrainingSpec
from impls.core.text.patterns import NAMED
from impls.drop_in.tiktoken import Encoding

SMALL = impls.train("naive", [f"{' '.join(WORDS)} {'hello world the cat' * 3}"], TrainingSpec(vocab_size=420)).model
SPECIALS = {"<s>": 500, "<s>more": 501, "</s>": 502, "<|endoftext|>": 600, "é!": 601}
PATTERNS = {
    "of a name": NAMED["cl100k-0.14"][0],
    "its own": r"\p{L}+|\s+|[^\s\p{L}]+",
    "that captures": r"(\w+)|(?P<rest>[^\w]|_)+",
    "that drops": r"[A-Za-z]+|[0-9]| ",
}


def irregular_ranks(seed: int) -> dict[bytes, int]:
    """Bytes in any order, then strings of a few letters, most of which no lower ranks make."""
    rng = random.Random(seed)
    ranks = {bytes([byte]): rank for rank, byte in enumerate(rng.sample(range(256), 256))}
    for _ in range(120):
        token = "".join(rng.choices("hello wrdç日 \n", k=rng.randint(2, 5))).encode()
        ranks.setdefault(token[: rng.choice((None, -1))], len(ranks))
    return ranks


def pair_of(ranks: dict[bytes, int], pattern: str, implementation: str) -> tuple[Any, Any]:
    parts: dict[str, Any] = {"pat_str": pattern, "mergeable_ranks": ranks, "special_tokens": SPECIALS}
    return tiktoken.Encoding("own", **parts), Encoding("own", **parts, implementation=implementation)


def compare(theirs: Any, ours: Any, numbers: range, left_out: str = "") -> Counter[tuple[str, str]]:
    """Assert that both answer every call alike, but of the method left out; return how many calls of each method had a
    value, or raised."""
    ids = sorted({*theirs._mergeable_ranks.values(), *theirs._special_tokens.values()})
    calls = Calls(theirs.token_byte_values(), ids, list(theirs._special_tokens)[:8])
    seen: Counter[tuple[str, str]] = Counter()
    for number in numbers:
        expected, got = outcome(theirs, calls.call(number)), outcome(ours, calls.call(number))
        assert agree(expected, got) or calls.call(number)[0] == left_out, (number, calls.call(number), expected, got)
        seen[calls.call(number)[0], expected[0]] += 1
    return seen


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("regular", [True, False])
def test_random_calls_of_own_encodings_are_answered_as_by_tiktoken(pattern: str, regular: bool, fuzz: int) -> None:
    ranks = dict(SMALL.id_by_token) if regular else irregular_ranks(3)
    # Of specials that begin alike tiktoken takes any.
    theirs, ours = pair_of(ranks, PATTERNS[pattern], "compiled")
    theirs, ours = (without(encoding, "<s>more") for encoding in (theirs, ours))
    # tiktoken takes what a group captures for the piece there.
    left_out = "_encode_only_native_bpe" if pattern == "that captures" else ""
    seen = compare(theirs, ours, range(600 * fuzz), left_out)
    asked = {(method, kind) for method in METHODS if method != left_out for kind in ("value", "raised")}
    assert len(asked - seen.keys()) <= 2, asked - seen.keys()


def without(encoding: Any, special: str) -> Any:
    specials = {text: i for text, i in encoding._special_tokens.items() if text != special}
    parts: dict[str, Any] = {"pat_str": encoding._pat_str, "mergeable_ranks": encoding._mergeable_ranks}
    return type(encoding)(encoding.name, **parts, special_tokens=specials)


def test_every_implementation_wears_it(fuzz: int) -> None:
    specials = {"<s>": 500, "<|endoftext|>": 600}
    parts: dict[str, Any] = {"pat_str": NAMED["gpt2"][0], "mergeable_ranks": dict(SMALL.id_by_token)}
    looked_up = SMALL.with_(merge_rule="concatenation", merges=(), merge_counts=None)
    for tokenizer in exact_over(looked_up):
        ours = Encoding("own", **parts, special_tokens=specials, implementation=tokenizer.name)
        assert ours.tokenizer.name == tokenizer.name
        compare(tiktoken.Encoding("own", **parts, special_tokens=specials), ours, range(10**6, 10**6 + 200 * fuzz))


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_harmony"])
def test_random_calls_of_named_encodings_are_answered_as_by_tiktoken(theirs: Any, name: str, fuzz: int) -> None:
    compare(theirs.get_encoding(name), bpebench.get_encoding(name), range(2 * 10**6, 2 * 10**6 + 300 * fuzz))


def test_a_special_token_may_have_the_id_of_another_or_of_a_token() -> None:
    ranks = dict(SMALL.id_by_token)
    for specials in ({"<a>": 700, "<b>": 700}, {"<a>": 97, "<b>": 701}):
        parts: dict[str, Any] = {"pat_str": r"\w+|\W", "mergeable_ranks": ranks, "special_tokens": specials}
        theirs, ours = tiktoken.Encoding("x", **parts), Encoding("x", **parts)
        for text in ("a<a>b<b><a>", "ab", "<b>\ud83d\ude00<a>\ud800"):
            for allowed in ("all", {"<a>"}, {"<b>", "<c>"}, set()):
                for options in ({}, {"disallowed_special": ()}):
                    call = ("encode", (text,), {"allowed_special": allowed, **options})
                    assert outcome(ours, call) == outcome(theirs, call) or outcome(theirs, call)[0] == "raised"
                    assert agree(outcome(theirs, call), outcome(ours, call))
                    batch = ("encode_batch", ([text, "a"],), {"allowed_special": allowed, **options})
                    assert agree(outcome(theirs, batch), outcome(ours, batch))
        assert ours.encode_single_token("<b>") == theirs.encode_single_token("<b>")
        assert ours.decode([97]) == theirs.decode([97]) == "a"


def test_of_specials_that_begin_at_one_place_the_longest_is_found() -> None:
    _, ours = pair_of(irregular_ranks(1), NAMED["o200k"][0], "compiled")
    assert ours.encode("<s>more", allowed_special="all") == [501]
    assert ours.encode("<s>mor", allowed_special="all", disallowed_special=())[0] == 500


PARTS: dict[str, Any] = {
    "pat_str": r"\w+|\W+", "mergeable_ranks": {bytes([byte]): byte for byte in range(256)}, "special_tokens": {},
}  # fmt: skip


def refused_by_both(**changes: Any) -> type[BaseException]:
    raised = []
    for made in (tiktoken.Encoding, Encoding):
        with pytest.raises(BaseException) as caught:  # noqa: PT011
            made("x", **PARTS | {"special_tokens": {"<s>": 300}} | changes)
        raised.append(caught.type)
    assert issubclass(raised[1], raised[0]), raised
    return raised[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"pat_str": "("}, {"pat_str": None}, {"mergeable_ranks": []}, {"mergeable_ranks": {}},
        {"mergeable_ranks": {"a": 1}}, {"mergeable_ranks": {b"a": -1}}, {"mergeable_ranks": {b"a": 2**32}},
        {"mergeable_ranks": {b"a": 1.0}}, {"mergeable_ranks": {b"a": "1"}}, {"special_tokens": None},
        {"special_tokens": {5: 300}}, {"special_tokens": {"\ud800": 300}}, {"special_tokens": {"<s>": 2**32}},
        {"explicit_n_vocab": 256}, {"explicit_n_vocab": 257}, {"explicit_n_vocab": "257"},
    ],
    ids=repr,
)  # fmt: skip
def test_an_encoding_is_refused_as_by_tiktoken(changes: dict[str, Any]) -> None:
    refused_by_both(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"mergeable_ranks": {b"a": 0, b"b": 1}}, {"mergeable_ranks": {b"a": 0, b"b": 0}},
        {"special_tokens": {"": 300}}, {"special_tokens": {"a": 300}},
    ],
    ids=repr,
)  # fmt: skip
def test_an_encoding_that_contradicts_itself_is_a_value_error(changes: dict[str, Any]) -> None:
    caught = refused(ValueError, r"^broken: ", Encoding, "broken", **PARTS | changes)
    assert isinstance(caught, bpebench.BPEError)


def test_errors_say_what_is_wrong() -> None:
    _, ours = pair_of(irregular_ranks(1), NAMED["gpt2"][0], "priority")
    wrong: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: ours.encode("a<s>b"), ValueError, "the special token '<s>' at character 1"),
        (
            lambda: ours.encode("a", allowed_special=["<s>"], disallowed_special=()),
            TypeError,
            "allowed_special must be",
        ),
        (lambda: ours.encode_single_token("hello world"), KeyError, "b'hello world' is not a token of own"),
        (lambda: ours.decode([97, -1]), OverflowError, r"tokens\[1\] must be from 0 to 4294967295, not -1"),
        (lambda: ours.decode({97}), TypeError, "tokens must be a sequence of whole numbers, not set"),
        (lambda: ours.decode([97, 10_000]), KeyError, "unknown token id 10000 at position 1"),
        (lambda: ours.decode_batch([[97]], num_threads=0), ValueError, "num_threads must be at least 1, not 0"),
        (lambda: ours.is_special_token("x"), AssertionError, "token must be an int, not 'x'"),
    ]
    for call, error, message in wrong:
        refused(error, message, call)
