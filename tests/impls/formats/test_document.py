"""A long tokenizer.json is parsed as any other: the same document, or the same error."""

from __future__ import annotations

import itertools
import json

import pytest
from refusals import refused

from impls import InvalidModel
from impls.formats.files import parse_json
from impls.formats.tokenizer_json import document
from impls.formats.tokenizer_json.document import parse_document


def content_of(vocab: str, merges: str) -> bytes:
    return f'{{"added_tokens": [{{"content": "<s>"}}], "model": {{"vocab": {vocab}, "merges": {merges}}}}}'.encode()


WHOLE = content_of('{"a": 0}', '["a b"]')


KEYS = ('{"a": 0, "\\":" : 1, "\\\\\\"":2, ":": 3, "\\u0061\\\\": 4}', '{"é\\n": 0, "\\ud83d\\ude00": 7}')
MERGES = ('["a b", "c d"]', '[["a", "b"], ["é", "\\""]]', '["a b", ["c", "d"]]', "[]")
ODD_VOCABULARIES = (
    '{"a": 0, "b": 1, "a": 2}', '{"a": 0, "\\u0061": 1}', '{"a": "x"}', '{"a": 1.0}', '{"a": 1e3}',
    '{"a": 1180591620717411303424}', '{"a": true}', '{"\\ud800": 0}',
)  # fmt: skip
ODD_MERGES = ('["a b"], "vocab": {"c": 1}', '[{"a": 0, "a": 1}]', '[["a", "b", "c"]]')


@pytest.mark.parametrize(
    "content",
    [
        *itertools.starmap(content_of, itertools.product(KEYS, MERGES)),
        *(content_of(vocab, '["a b"]') for vocab in ODD_VOCABULARIES),
        *(content_of('{"a": 0}', merges) for merges in ODD_MERGES),
        WHOLE[:-1] + b', "model": {"vocab": {"a": 1}, "merges": []}}',
        content_of("{}", "[]")[:-1] + b', "decoder": {}, "normalizer": []}',
        *(WHOLE[:-1] + b', "decoder": ' + decoder + b"}" for decoder in (b'"\xff"', b'{"a": 0}')),
        *(WHOLE[:-9], WHOLE.replace(b"a b", b"a \xff"), content_of("[1]", "null")),
    ],
)
def test_the_document_or_error_is_that_of_the_parser_of_any_json(content: bytes) -> None:
    try:
        expected = parse_json(content)
    except InvalidModel as error:
        raised = refused(InvalidModel, None, parse_document, content)
        assert str(raised) == str(error)  # noqa: PT017
    else:
        assert json.dumps(parse_document(content)) == json.dumps(expected)


def test_both_lists_are_parsed_once_unless_a_key_may_be_there_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bytes] = []
    monkeypatch.setattr(document, "parse_json", lambda content: given.append(content) or parse_json(content))
    assert parse_document(WHOLE) == parse_json(WHOLE)
    colons = content_of('{":": 0, "a": 1}', '["a :", [":", "a"]]')
    assert parse_document(colons)["model"]["merges"] == ["a :", (":", "a")]
    assert given == [content_of("null", "null")] * 2
    escaped = content_of('{"\\u003a": 0, "a": 1, "a": 2}', '["a b"]')
    refused(InvalidModel, "twice", parse_document, escaped)
    assert given[2:] == [escaped]
