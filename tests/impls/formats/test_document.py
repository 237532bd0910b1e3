"""A long tokenizer.json is parsed as any other: the same document, or the same error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from impls import InvalidModel
from impls.formats.files import parse_json
from impls.formats.tokenizer_json import document
from impls.formats.tokenizer_json.document import parse_document


@pytest.fixture(autouse=True)
def long_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_LONG", 1)


def content_of(vocab: str, merges: str, **others: Any) -> bytes:
    more = "".join(f"{json.dumps(name)}: {json.dumps(value)}, " for name, value in others.items())
    return f'{{{more}"model": {{"vocab": {vocab}, "merges": {merges}}}}}'.encode()


VOCABULARIES = [
    '{"a": 0, "b" : 1, "ab":2}',
    '{"\\":": 0, "\\\\":1, "\\\\\\"" :2, ":": 3, "\\u0061\\\\": 4}',
    '{"é\\n": 0, "\\ud83d\\ude00": 7, " \\": 1": 2}',
    "{}",
]


@pytest.mark.parametrize("vocab", VOCABULARIES)
@pytest.mark.parametrize("merges", ['["a b", "c d"]', '[["a", "b"], ["é", "\\""]]', '["a b", ["c", "d"]]', "[]"])
def test_the_document_is_that_of_the_parser_of_any_json(
    vocab: str, merges: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = content_of(vocab, merges, version="1.0", added_tokens=[{"id": 1, "content": "<s>"}])
    found, expected = parse_document(content), parse_json(content)
    assert json.dumps(found) == json.dumps(expected)


def test_long_parts_are_not_parsed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bytes] = []
    monkeypatch.setattr(document, "parse_json", lambda content: given.append(content) or parse_json(content))
    parse_document(content_of(VOCABULARIES[1], '["a b"]'))
    assert given == [b'{"model": {"vocab": null, "merges": null}}']


@pytest.mark.parametrize(
    "content",
    [
        content_of('{"a": 0, "b": 1, "a": 2}', '["a b"]'),
        content_of('{"a": 0, "\\u0061": 1}', '["a b"]'),
        content_of('{"a": 0}', '["a b"]')[:-1] + b', "model": {"vocab": {"a": 1}, "merges": []}}',
        content_of('{"a": 0}', '["a b"], "vocab": {"c": 1}'),
        content_of('{"a": 0}', '["a b"]')[:-9],
        content_of('{"a": 0}', '["a b"]').replace(b"a b", b"a \xff"),
    ],
)
def test_an_error_is_that_of_the_parser_of_any_json(content: bytes) -> None:
    with pytest.raises(InvalidModel) as expected:
        parse_json(content)
    with pytest.raises(InvalidModel) as raised:
        parse_document(content)
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize(
    "content",
    [
        content_of('{"a": "x"}', '["a b"]'),
        content_of('{"a": 1.0}', '["a b"]'),
        content_of('{"a": 1e3, "b": 1180591620717411303424}', '["a b"]'),
        content_of('{"a": true}', '["a b"]'),
        content_of('{"a": 0}', '[["a", "b", "c"]]'),
        content_of('{"\\ud800": 0}', '["a b"]'),
        content_of("[1]", "null"),
    ],
)
def test_other_values_are_left_to_whoever_reads_the_document(content: bytes) -> None:
    assert repr(parse_document(content)) == repr(parse_json(content))
