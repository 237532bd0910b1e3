"""Wrong arguments and files given to `bpebench.hf`, and where the library panics or chooses by chance."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hf_calls import BYTE_LEVEL, both, differs, outcome, shown
from refusals import refused
from tables import rows_of
from tokenizer_json_shapes import a_file, added

from impls.core.errors import InvalidFile
from impls.drop_in import hf

ODD: list[Any] = [None, 1, -1, 1 << 70, 1.5, True, "a", b"a", "\ud800", [], ["a"], ("a", "b"), [1], [-1], ["a", 1], {}]
ODD += [np.array([1, 2]), np.int64(1), np.bool_(True), iter(["a"]), [["a"], ["b"]], [None], 1 << 33]


def calls_with(odd: Any) -> Iterator[Any]:
    yield from (lambda t, m=m: getattr(t, m)(odd) for m in ("decode", "decode_batch", "token_to_id", "id_to_token"))
    yield from (
        lambda t, m=m: getattr(t, m)(odd) for m in ("num_special_tokens_to_add", "from_str", "from_file", "save")
    )
    yield from (lambda t, m=m: getattr(t, m)(odd) for m in ("post_process", "get_vocab", "get_vocab_size", "to_str"))
    yield lambda t: shown(t.encode(odd))
    yield lambda t: shown(t.encode("a", odd))
    yield lambda t: shown(t.encode(odd, is_pretokenized=True))
    yield lambda t: shown(t.encode(["a"], odd, is_pretokenized=True))
    yield lambda t: shown(t.encode("a", is_pretokenized=odd))
    yield lambda t: shown(t.encode("a", add_special_tokens=odd))
    yield lambda t: [shown(e) for e in t.encode_batch(odd)]
    yield lambda t: [shown(e) for e in t.encode_batch(odd, is_pretokenized=True)]
    yield lambda t: [shown(e) for e in t.encode_batch([odd])]
    yield lambda t: [shown(e) for e in t.encode_batch([("a", odd), odd], is_pretokenized=True)]
    yield lambda t: t.decode([1], skip_special_tokens=odd)
    yield lambda t: setattr(t, "encode_special_tokens", odd)
    yield lambda t: setattr(t, "truncation", odd)
    yield lambda t: setattr(t, "padding", odd)
    yield lambda t: t.add_tokens(odd if isinstance(odd, str) else [odd])
    yield lambda t: t.add_special_tokens(odd)
    for option in ("stride", "strategy", "direction"):
        yield lambda t, o=option: (t.enable_truncation(4, **{o: odd}), t.truncation)
    yield lambda t: (t.enable_truncation(odd), t.truncation, t.no_truncation())
    for option in ("length", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token", "direction", "max_length"):
        yield lambda t, o=option: (t.enable_padding(**{o: odd}), t.padding, t.no_padding())
    one_place = (
        "token_to_chars", "token_to_word", "token_to_sequence", "set_sequence_id", "char_to_token", "char_to_word",
    )  # fmt: skip
    for method in (*one_place, "word_to_tokens", "word_to_chars", "truncate"):
        yield lambda t, m=method: getattr(t.encode("a b"), m)(odd)
    yield lambda t: shown(t.encode("a b").merge(odd))
    if not (isinstance(odd, int) and odd > 1 << 20):  # the library would abort the process
        yield lambda t: t.encode("a b").pad(odd)
    yield lambda t: t.encode("a b").char_to_token(0, odd)
    yield lambda t: t.encode("a b").truncate(2, odd)
    yield lambda t: t.encode("a b").truncate(2, 0, odd)
    for option in ("direction", "pad_id", "pad_type_id", "pad_token"):
        yield lambda t, o=option: t.encode("a b").pad(4, **{o: odd})


@pytest.mark.parametrize("k", range(len(ODD)))
def test_wrong_arguments_raise_what_the_library_raises(k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    odd = ODD[k]
    ours, theirs = both(a_file("bytes", added_tokens=added("bytes"), decoder=BYTE_LEVEL))
    for number, call in enumerate(calls_with(odd)):
        answer, expected = outcome(call, copy.deepcopy(ours)), outcome(call, copy.deepcopy(theirs))
        assert not differs(answer, expected), (number, answer, expected)


def panics(call: Any) -> bool:
    try:
        call()
    except BaseException as error:
        return type(error).__name__ == "PanicException"
    return False


def test_where_the_library_panics_there_is_an_exception_or_an_answer() -> None:
    ours, theirs = both(a_file("bytes", added_tokens=added("bytes")))
    assert panics(lambda: theirs.encode("qqq").truncate(2, stride=2))
    with pytest.raises(ValueError, match="stride must be smaller than max_length, 2 without the tokens added"):
        ours.encode("qqq").truncate(2, stride=2)
    for tokenizer, kind in ((ours, hf.AddedToken), (theirs, tokenizers.AddedToken)):
        tokenizer.add_tokens([kind("<r>", rstrip=True), kind("\u3000", lstrip=True)])
    assert panics(lambda: theirs.encode("<r>\u3000\u3000"))
    assert ours.encode("<r>\u3000\u3000a").tokens == ["<r>\u3000\u3000", "a"]
    strip = tokenizers.decoders.Strip(" ", 0, 2)
    assert panics(lambda: strip.decode([" "]))
    decoder = {"type": "Strip", "content": " ", "start": 0, "stop": 2}
    assert both(a_file("chars", decoder=decoder))[0].decoder.decode([" ", "a  "]) == "a"


def test_a_limit_below_the_tokens_added_is_none() -> None:
    """As in the library, whose subtraction wraps round."""
    ours, theirs = both(a_file("bytes", added_tokens=added("bytes")))
    for tokenizer in (ours, theirs):
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing("<m> $A <m>", None, [("<m>", 500)])
        tokenizer.enable_truncation(1)
    assert shown(ours.encode("abc")) == shown(theirs.encode("abc"))
    assert len(ours.encode("abc")) == 4


def test_of_tokens_with_one_normal_form_the_first_is_found() -> None:
    """The library finds any of them, as its hash tables have it."""
    for first, second in (("é", "e\u0301"), ("e\u0301", "é")):
        ours, _ = both(a_file("bytes", normalizer={"type": "NFC"}))
        ours.add_tokens([first, second])
        assert ours.encode("xé").ids[-1] == ours.token_to_id(first)


def test_unknown_options_are_ignored_with_a_warning() -> None:
    ours, _ = both(a_file("bytes"))
    for call in (
        lambda: ours.enable_padding(size=3),
        lambda: ours.enable_truncation(3, size=3),
        lambda: ours.encode("a").pad(3, size=3),
        lambda: hf.AddedToken("a", size=3),
    ):
        with pytest.warns(UserWarning, match="'size' is unknown"):
            call()


@pytest.mark.parametrize(("change", "problem"), rows_of(__file__, "hf_not_supported.tsv"))
def test_what_is_not_supported_is_refused_by_name(change: str, problem: str) -> None:
    caught = refused(InvalidFile, None, hf.Tokenizer.from_str, json.dumps(a_file("bytes") | json.loads(change)))
    assert problem in str(caught)
