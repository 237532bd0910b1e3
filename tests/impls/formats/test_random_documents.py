"""Random files hold every kind of step, flag and merge, and nearly all of them are read by the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import tokenizers
from tokenizer_files import PARTS, file_texts, tokenizer_file

SEEDS = range(1_000)


def test_the_library_encodes_the_texts_of_nearly_every_file() -> None:
    n_encoded = 0
    for seed in SEEDS[:300]:
        document = tokenizer_file(Random(seed))
        with suppress(BaseException):  # a panic of the library
            library = tokenizers.Tokenizer.from_str(json.dumps(document))
            n_encoded += len([library.encode(text) for text in file_texts(document, Random(seed), 10)])
    assert n_encoded > 2_900


def test_a_seed_gives_the_same_file_and_texts_again() -> None:
    assert tokenizer_file(Random(5)) == tokenizer_file(Random(5)) != tokenizer_file(Random(6))
    document = tokenizer_file(Random(5))
    assert file_texts(document, Random(5), 9) == file_texts(document, Random(5), 9)


def test_every_kind_of_step_behavior_and_flag_occurs() -> None:
    seen = {json.dumps(fact) for seed in SEEDS for fact in _facts(tokenizer_file(Random(seed)))}
    steps = "NFC NFD NFKC NFKD Lowercase StripAccents Nmt Strip Prepend Replace ByteLevel Split Whitespace Digits"
    steps += " WhitespaceSplit BertPreTokenizer Punctuation CharDelimiterSplit Metaspace"
    wanted = [["type", kind] for kind in steps.split()]
    wanted += [["behavior", behavior] for behavior in PARTS["behaviors"]]
    flags = "invert single_word lstrip rstrip normalized special fuse_unk byte_fallback ignore_merges use_regex"
    wanted += [[flag, value] for flag in flags.split() for value in (False, True)]
    wanted += [["end_of_word_suffix", "</w>"], ["unk_token", "<unk>"]]
    assert [fact for fact in wanted if json.dumps(fact) not in seen] == []
    models = [tokenizer_file(Random(seed))["model"] for seed in SEEDS[:300]]
    kinds = {(model["end_of_word_suffix"], bool(model["merges"])) for model in models}
    assert len(kinds) == 4, "words and others, with merges and without"


def _facts(value: Any) -> Iterator[list[Any]]:
    """Yield [key, value] of every plain entry of a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _facts(inner) if isinstance(inner, dict | list) else [[key, inner]]
    elif isinstance(value, list):
        for inner in value:
            yield from _facts(inner)
