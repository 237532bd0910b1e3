"""`bpebench` in the place of the module tiktoken: what tiktoken's tests and minbpe's ask of it, in our own words."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from refusals import refused

import bpebench

pytestmark = pytest.mark.corpus

NAMES = ["r50k_base", "cl100k_base"]
ENCODINGS: list[Callable[[], Any]] = [partial(bpebench.get_encoding, name) for name in NAMES]
every = pytest.mark.parametrize("make", ENCODINGS, ids=NAMES)


@pytest.fixture
def tiktoken(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setitem(sys.modules, "tiktoken", bpebench)
    import tiktoken

    return tiktoken


def test_named_encodings_are_tiktokens(tiktoken: ModuleType, theirs: Any) -> None:
    assert tiktoken.list_encoding_names() == theirs.list_encoding_names()
    assert tiktoken.get_encoding(encoding_name="gpt2").name == tiktoken.encoding_for_model(model_name="gpt2").name
    for name in theirs.list_encoding_names():
        ours, other = bpebench.get_encoding(name), theirs.get_encoding(name)
        for fact in ("name", "n_vocab", "max_token_value", "eot_token", "special_tokens_set", "_pat_str"):
            assert getattr(ours, fact) == getattr(other, fact), (name, fact)
        assert (ours._mergeable_ranks, ours._special_tokens) == (other._mergeable_ranks, other._special_tokens)
        assert repr(ours) == repr(other)
        assert ours.token_byte_values() == other.token_byte_values()
        assert ours.encode("hello world, çay") == other.encode("hello world, çay")
        for i in ours._special_tokens.values():
            assert ours.decode([i]) == other.decode([i])
            assert ours.is_special_token(i)


def test_names_of_models_are_tiktokens(theirs: Any) -> None:
    from tiktoken import model

    names = [*model.MODEL_TO_ENCODING, *(start + end for start in model.MODEL_PREFIX_TO_ENCODING for end in ("", "x1"))]
    for name in names:
        assert bpebench.encoding_name_for_model(name) == theirs.encoding_name_for_model(name)
    for wrong in ("", "gpt", "x", "GPT-4", "gpt-4o ", None, 5, b"gpt-4", ["gpt-4"], 1.5):
        with pytest.raises(Exception) as expected:  # noqa: PT011
            theirs.encoding_name_for_model(wrong)
        refused(expected.type, None, bpebench.encoding_name_for_model, wrong)
        refused(expected.type, None, bpebench.encoding_for_model, wrong)
    for wrong in ("no such", "", None, 5, ["gpt2"], "/etc/passwd"):
        refused(ValueError, "encoding", bpebench.get_encoding, wrong)


@every
def test_each_token_is_encoded_to_itself_alone(make: Callable[[], Any]) -> None:
    encoding = make()
    for i in range(0, 10_000, 7):
        data = encoding.decode_single_token_bytes(i)
        assert encoding.encode_single_token(data) == i
        assert encoding._encode_single_piece(data) == [i]
    for text, i in encoding._special_tokens.items():
        assert encoding.encode_single_token(text) == encoding.encode_single_token(text.encode()) == i
        assert encoding.decode_single_token_bytes(i) == text.encode()


@pytest.mark.parametrize("character", ["a", " ", "\n"])
def test_more_completions_than_can_be_encoded_are_refused_at_once(character: str, tiktoken: ModuleType) -> None:
    encoding = tiktoken.get_encoding("cl100k_base")
    with pytest.raises(ValueError, match=r"the last 1,500,000 bytes of the text may change.* at most 100,000,000"):
        encoding.encode_with_unstable(character * 1_500_000)
    stable, completions = encoding.encode_with_unstable("0" * 150_000)  # three digits are a piece
    assert len(stable) == 49_999
    assert [931] in completions


def test_encodings_are_pickled_and_copied(tiktoken: ModuleType) -> None:
    named = tiktoken.get_encoding("r50k_base")
    own = tiktoken.Encoding(
        name="mine", pat_str=named._pat_str, mergeable_ranks=named._mergeable_ranks, special_tokens={"<|own|>": 100_000}
    )
    assert len(pickle.dumps(named)) < 200
    for encoding, special in ((named, "<|endoftext|>"), (own, "<|own|>")):
        for again in (pickle.loads(pickle.dumps(encoding)), copy.copy(encoding), copy.deepcopy(encoding)):
            assert again.name == encoding.name
            assert again.encode("hello world") == [31373, 995]
            assert again.encode(special, allowed_special="all") == [encoding._special_tokens[special]]
            assert again._mergeable_ranks == encoding._mergeable_ranks
            assert again.tokenizer.name == encoding.tokenizer.name
    pure = tiktoken.get_encoding("r50k_base", implementation="priority")
    assert pickle.loads(pickle.dumps(pure)) is pure
    assert pure.tokenizer.name == "priority"
