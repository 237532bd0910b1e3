"""A tokenizer.json read as columns by kernels gives the model that the reader of any document gives, or none."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from tokenizer_files import tokenizer_file

import impls
from impls import Model
from impls.core import kernels
from impls.formats import parse_cache
from impls.formats.files import parse_json
from impls.formats.tokenizer_json import columns
from impls.formats.tokenizer_json.reader import read_with_notes


def read(document: Any) -> tuple[Model, list[parse_cache.Note]]:
    model, notes = read_with_notes(document)
    return model, [(type(note).__name__, str(note)) for note in notes]


def is_read_alike(content: bytes) -> bool:
    """Return whether columns give a model, which must be that of the reader."""
    packed = columns.read_columns(content, read)
    if packed is not None:
        model, notes = read(parse_json(content))
        assert bytes(packed.content) == bytes(model.packed(notes).content), content
    return packed is not None


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    impls.get("compiled")  # brings the kernels
    monkeypatch.setattr(parse_cache, "LEAST_BYTES", 0)


DAMAGES = ('"', ",", "{", "]", "\\", "\\u0020", "\\u00e9", "\\ud800", "0", ".5", "e1", "-", " ", "a", "\udcff", "")


def test_random_files_whole_and_damaged_give_the_model_of_the_reader_or_none(fuzz: int) -> None:
    n_read = 0
    for seed in range(100 * fuzz):
        rng = Random(seed)
        text = json.dumps(tokenizer_file(rng), ensure_ascii=False, indent=rng.choice((None, 1)))
        n_read += is_read_alike(text.encode())
        for _ in range(8):
            at = rng.randrange(text.index('"vocab"'), len(text))
            damaged = text[:at] + rng.choice(DAMAGES) + text[at + rng.randrange(2) :]
            is_read_alike(damaged.encode("utf-8", "surrogateescape"))
    assert n_read > 30 * fuzz


OTHERS = b"".join(b'"%d": %d, ' % (i, i) for i in range(1000))
WHOLE = b'{"model": {"vocab": {%b"a": 1000, "b": 1001, "ab": 1002}, "merges": ["a b"]}}' % OTHERS
TOKENS = b'"ab": "2"|"ab": 2.0|"ab": 1180591620717411303424|"ab": true|"ab": 1|"ab": -2|"ac": 1002'
TOKENS += b'|"ab": 1002, "a": 1003|"ab": 1002, "\\ud800": 1003|"ab": 1002, "\xff": 1003'
MERGES = b'{"a": 0}|["a", "b", "ab"]|"a b ab"|"ab"|"a "|"a  b"|["a", ""]|"a b"], "vocab": {"c": 1}, "x": [1'


def test_odd_files_are_left_to_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = [WHOLE.replace(b'"ab": 1002', tokens) for tokens in TOKENS.split(b"|")]
    odd += [WHOLE.replace(b'"a b"', merges) for merges in MERGES.split(b"|")]
    odd += [WHOLE[:-1], WHOLE[:-1] + b', "decoder": "\xff"}']
    assert is_read_alike(WHOLE)
    assert [content for content in odd if is_read_alike(content)] == []
    monkeypatch.setattr(kernels, "native", None)
    assert not is_read_alike(WHOLE)
