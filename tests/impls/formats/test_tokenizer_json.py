"""tokenizer.json: read as Hugging Face's library reads it; what cannot be followed is refused by the field's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from wrong_files import edited, problem

from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER
from impls.formats import load

Document = dict[str, Any]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


STEPS = ("pre_tokenizer", "pretokenizers")


def split(pattern: str, behavior: str = "Isolated") -> Document:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def document() -> Document:
    letters = [BYTE_TO_CHARACTER[byte] for byte in range(256)]
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": 258, "content": "<end>", "special": True},
            {"id": 259, "content": "<tool>", "special": False, "lstrip": False},
        ],
        "normalizer": None,
        "pre_tokenizer": dict(BYTE_LEVEL),
        "model": {
            "type": "BPE",
            "vocab": {letter: i for i, letter in enumerate(letters)} | {"ab": 256, "Ġab": 257, "<end>": 258},
            "merges": ["a b", ["Ġ", "ab"]],
        },
    }


def test_tokenizer_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()))
    model = load(tmp_path / "tokenizer.json")
    assert model.tokens[256:] == (b"ab", b" ab")
    assert model.merges == ((97, 98), (32, 256))
    assert (dict(model.special_tokens), dict(model.added_tokens)) == ({"<end>": 258}, {"<tool>": 259})
    assert (model.pattern, model.normalization, model.alphabet) == ((), None, "bytes")


UNREADABLE: list[tuple[tuple[Any, ...], Any, str]] = [
    (("model",), None, "Expected `object`, got `null` - at `$.model`"),
    (("model", "type"), "Unigram", "model.type: 'Unigram' is not byte pair encoding"),
    (("model", "end_of_word_suffix"), "</w>", "256 bytes have no token at the end of a word"),
    (("model", "continuing_subword_prefix"), "##", "continuing_subword_prefix: '##' inside words is not supported"),
    (("model", "vocab"), [], "model.vocab: an object"),
    (("model", "vocab", "ab"), "x", "model.vocab: the token 'ab' has the id 'x'"),
    (("model", "vocab", "ab"), -1, "model.vocab: the token 'ab' has the id -1"),
    (("model", "vocab", "ab"), 97, "the tokens b'a' and b'ab' have the same id 97"),
    (("model", "vocab", ""), 400, "the token with id 400 is empty"),
    (("model", "vocab", "日"), 400, r"the token '\u65e5' (id 400) holds '\u65e5', which is not mapped to a byte"),
    (("model", "vocab", " "), 400, "the token ' ' (id 400) holds ' ', which is not mapped to a byte"),
    (("model", "merges"), None, "model.merges: a list"),
    (("model", "merges", 0), "ab", "model.merges[0]: two tokens with a space between are expected"),
    (("model", "merges", 0), ["a", "b", "c"], "length 2, got 3 - at `$.model.merges[0]`"),
    (("model", "merges", 0), "b a", "model.merges: merge 0 ('b' 'a'): 'ba' is not in the vocabulary"),
    (("normalizer",), {"type": "Replace", "pattern": {"Regex": "a*"}, "content": "b"}, "may match the empty text"),
    (("normalizer",), {"type": "Replace", "pattern": {"Regex": "("}, "content": ""}, "normalizer.pattern: "),
    (("normalizer",), {"type": "Replace", "pattern": "a"}, "normalizer: Replace needs one String or Regex"),
    (("normalizer",), {"type": "Replace", "pattern": {"Regex": "a" * 20_001}, "content": ""}, "20001 characters; "),
    (("pre_tokenizer", "type"), "UnicodeScripts", "pre_tokenizer.type: 'UnicodeScripts' is not support"),
    (("pre_tokenizer",), {"type": "CharDelimiterSplit", "delimiter": "ab"}, "one character is expected"),
    (STEPS, [{"type": "Digits"}, BYTE_LEVEL | {"add_prefix_space": True}], "[1].add_prefix_space: a space put before"),
    (STEPS, [BYTE_LEVEL, split("a+|[^a]")], "pre_tokenizer.pretokenizers[1]: a step after ByteLevel"),
    (STEPS, [split("a", "Merged"), BYTE_LEVEL], "behavior: 'Merged' is not one of: Removed"),
    (STEPS, [split("("), BYTE_LEVEL], "pre_tokenizer.pretokenizers[0].pattern: "),
    (STEPS, [split(r"\p{N}{1,3}+"), BYTE_LEVEL], "means something else in Oniguruma than here"),
    (STEPS, [split("b(?i)a"), BYTE_LEVEL], "global flags not at the start"),
    (STEPS, [{"type": "Digits"}] * 17, "pre_tokenizer.pretokenizers: a list of up to 16 steps is expected"),
    (STEPS, [{"type": "Split", "pattern": "a"}, BYTE_LEVEL], "one Regex or String is expected"),
    (("added_tokens", 0, "id"), "1", "Expected `int`, got `str` - at `$.added_tokens[0].id`"),
    (("added_tokens", 0, "id"), 300, "'<end>' has id 300 here and id 258 in model.vocab"),
    (("added_tokens", 1, "content"), "<end>", "added_tokens[1]: '<end>' occurs twice"),
    (("added_tokens", 1, "id"), 97, "has the id 97 of the token b'a'"),
]


@pytest.mark.parametrize(("path", "value", "wrong"), UNREADABLE)
def test_what_is_wrong_or_not_followed_is_named(path: tuple[Any, ...], value: Any, wrong: str, tmp_path: Path) -> None:
    given = document() | ({"pre_tokenizer": {"type": "Sequence"}} if path == STEPS else {})
    assert wrong in problem(tmp_path / "tokenizer.json", edited(given, path, value))
