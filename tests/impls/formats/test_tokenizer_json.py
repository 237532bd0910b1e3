"""tokenizer.json: read as Hugging Face's library reads it; what cannot be followed is refused by the field's name."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from impls import InvalidFile
from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER
from impls.formats import load


def problem(path: Path) -> str:
    with pytest.raises(InvalidFile) as caught:
        load(path)
    assert caught.value.path == str(path)
    return caught.value.problem


Document = dict[str, Any]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False, kind: str = "Regex") -> Document:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def document() -> Document:
    letters = [BYTE_TO_CHARACTER[byte] for byte in range(256)]
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": 258, "content": "<end>", "special": True},
            {"id": 259, "content": "<tool>", "special": False, "lstrip": False},
        ],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "vocab": {letter: i for i, letter in enumerate(letters)} | {"ab": 256, "Ġab": 257, "<end>": 258},
            "merges": ["a b", ["Ġ", "ab"]],
        },
    }


def changed(*path: str | int, to: Any) -> Document:
    whole = at = deepcopy(document())
    for key in path[:-1]:
        at = at[key]  # type: ignore[index]
    at[path[-1]] = to  # type: ignore[index]
    return whole


def test_tokenizer_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()))
    model = load(tmp_path / "tokenizer.json")
    assert model.tokens[256:] == (b"ab", b" ab")
    assert model.merges == ((97, 98), (32, 256))
    assert (dict(model.special_tokens), dict(model.added_tokens)) == ({"<end>": 258}, {"<tool>": 259})
    assert (model.pattern, model.normalization, model.alphabet) == ((), None, "bytes")


def sequence(*steps: Document) -> Document:
    return changed("pre_tokenizer", to={"type": "Sequence", "pretokenizers": list(steps)})


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (changed("model", to=None), "Expected `object`, got `null` - at `$.model`"),
        (changed("model", "type", to="Unigram"), "model.type: 'Unigram' is not byte pair encoding"),
        (changed("model", "end_of_word_suffix", to="</w>"), "256 bytes have no token at the end of a word"),
        (
            changed("model", "continuing_subword_prefix", to="##"),
            "continuing_subword_prefix: '##' inside words is not supported",
        ),
        (changed("model", "vocab", to=[]), "model.vocab: an object"),
        (changed("model", "vocab", "ab", to="x"), "model.vocab: the token 'ab' has the id 'x'"),
        (changed("model", "vocab", "ab", to=-1), "model.vocab: the token 'ab' has the id -1"),
        (changed("model", "vocab", "ab", to=10**12), "model.vocab: the token 'ab' has the id 1000000000000"),
        (changed("model", "vocab", "ab", to=97), "the tokens b'a' and b'ab' have the same id 97"),
        (changed("model", "vocab", "", to=400), "the token with id 400 is empty"),
        (
            changed("model", "vocab", "日", to=400),
            "the token '\\u65e5' (id 400) holds '\\u65e5', which maps to no byte",
        ),
        (changed("model", "merges", to=None), "model.merges: a list"),
        (changed("model", "merges", 0, to="ab"), "model.merges[0]: two tokens with a space between are expected"),
        (changed("model", "merges", 0, to=["a", "b", "c"]), "length 2, got 3 - at `$.model.merges[0]`"),
        (changed("model", "merges", 0, to=[1, 2]), "Expected `str`, got `int` - at `$.model.merges[0][0]`"),
        (changed("model", "merges", 0, to="b a"), "model.merges: merge 0 ('b' 'a'): 'ba' is not in the vocabulary"),
        (changed("normalizer", to={"type": "BertNormalizer"}), "normalizer.type: 'BertNormalizer' is not supported"),
        (
            changed("normalizer", to={"type": "Replace", "pattern": {"Regex": "a*"}, "content": "b"}),
            "normalizer.pattern: it may match the empty text",
        ),
        (
            changed("normalizer", to={"type": "Replace", "pattern": {"Regex": "("}, "content": ""}),
            "normalizer.pattern: ",
        ),
        (
            changed("normalizer", to={"type": "Replace", "pattern": "a"}),
            "normalizer: Replace needs one String or Regex",
        ),
        (
            changed("normalizer", to={"type": "Sequence", "normalizers": [{"type": "Prepend"}]}),
            "normalizer.normalizers[0].type: 'Prepend' is not supported",
        ),
        (
            sequence({"type": "Digits"}, {**BYTE_LEVEL, "add_prefix_space": True}),
            "pre_tokenizer.pretokenizers[1].add_prefix_space: a space put before every piece",
        ),
        (changed("pre_tokenizer", "type", to="UnicodeScripts"), "pre_tokenizer.type: 'UnicodeScripts' is not support"),
        (changed("pre_tokenizer", to={"type": "CharDelimiterSplit", "delimiter": "ab"}), "one character is expected"),
        (sequence(BYTE_LEVEL, split("a+|[^a]")), "pre_tokenizer.pretokenizers[1]: a step after ByteLevel"),
        (sequence(split("a", "Merged"), BYTE_LEVEL), "behavior: 'Merged' is not one of: Removed"),
        (sequence(split("("), BYTE_LEVEL), "pre_tokenizer.pretokenizers[0].pattern: "),
        (sequence(split("a*"), BYTE_LEVEL), "may match the empty text as well as"),
        (sequence(split(r"\p{N}{1,3}+"), BYTE_LEVEL), "means something else in Oniguruma than here"),
        (sequence({"type": "Split", "pattern": "a"}, BYTE_LEVEL), "one Regex or String is expected"),
        (changed("added_tokens", to={}), "got `object` - at `$.added_tokens`"),
        (changed("added_tokens", 0, "id", to="1"), "Expected `int`, got `str` - at `$.added_tokens[0].id`"),
        (changed("added_tokens", 0, "id", to=300), "'<end>' has id 300 here and id 258 in model.vocab"),
        (changed("added_tokens", 1, "content", to="<end>"), "added_tokens[1]: '<end>' occurs twice"),
        (changed("added_tokens", 1, "id", to=97), "has the id 97 of the token b'a'"),
    ],
)
def test_what_tokenizer_json_says_wrong_or_we_cannot_follow_is_named(
    tmp_path: Path, change: Document, wrong: str
) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(change))
    assert wrong in problem(tmp_path / "tokenizer.json")
