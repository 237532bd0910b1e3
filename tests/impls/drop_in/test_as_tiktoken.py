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
from hypothesis import given, settings
from hypothesis import strategies as st

import bpebench

pytestmark = pytest.mark.corpus

NAMES = ["r50k_base", "cl100k_base"]
ENCODINGS: list[Callable[[], Any]] = [partial(bpebench.get_encoding, name) for name in NAMES]
every = pytest.mark.parametrize("make", ENCODINGS, ids=NAMES)
few = settings(deadline=None, max_examples=60)


@pytest.fixture
def tiktoken(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setitem(sys.modules, "tiktoken", bpebench)
    import tiktoken

    return tiktoken


def test_the_module_has_the_names_of_tiktoken(tiktoken: ModuleType, theirs: Any) -> None:
    assert tiktoken is bpebench
    public = {name for name, found in vars(theirs).items() if not isinstance(found, ModuleType) and name[0] != "_"}
    assert public <= set(dir(tiktoken))
    assert tiktoken.list_encoding_names() == theirs.list_encoding_names()
    assert tiktoken.get_encoding(encoding_name="gpt2").name == tiktoken.encoding_for_model(model_name="gpt2").name
    members = {name for name in dir(theirs.Encoding) if name[0] != "_"} | {
        "_encode_bytes", "_encode_single_piece", "_encode_only_native_bpe",
    }  # fmt: skip
    assert members <= set(dir(tiktoken.Encoding))


def test_named_encodings_are_tiktokens(theirs: Any) -> None:
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

    names = [
        *model.MODEL_TO_ENCODING,
        *(start + end for start in model.MODEL_PREFIX_TO_ENCODING for end in ("", "x-1")),
    ]
    for name in names:
        assert bpebench.encoding_name_for_model(name) == theirs.encoding_name_for_model(name)
    for wrong in ("", "gpt", "x", "GPT-4", "gpt-4o ", None, 5, b"gpt-4", ["gpt-4"], 1.5):
        with pytest.raises(Exception) as expected:  # noqa: PT011
            theirs.encoding_name_for_model(wrong)
        with pytest.raises(expected.type):
            bpebench.encoding_name_for_model(wrong)
        with pytest.raises(expected.type):
            bpebench.encoding_for_model(wrong)
    for wrong in ("no such", "", None, 5, ["gpt2"], "/etc/passwd"):
        with pytest.raises(ValueError, match="encoding"):
            bpebench.get_encoding(wrong)


def test_known_ids_and_their_texts(tiktoken: ModuleType) -> None:
    for name, ids in (("gpt2", [31373, 995]), ("cl100k_base", [15339, 1917])):
        encoding = tiktoken.get_encoding(name)
        assert encoding.encode("hello world") == ids
        assert encoding.decode(ids) == "hello world"
        assert encoding.encode("hello <|endoftext|>", allowed_special="all")[-1] == encoding.eot_token
    zeros = [15, 405, 830, 2388, 20483]
    assert (
        [tiktoken.get_encoding("gpt2").encode("0" * n)[0] for n in range(1, 6)] == [15, 405, 830, 2388, 20483] == zeros
    )
    assert tiktoken.get_encoding("cl100k_base").encode("today\n \n") == [31213, 27907]
    assert tiktoken.get_encoding("cl100k_base").encode("") == []


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


@every
@pytest.mark.parametrize("character", ["^", "0", "a", "'s", " ", "\n"])
def test_long_repetitions_come_back(make: Callable[[], Any], character: str) -> None:
    for text in (character * 10_000, f" {character * 10_000}", f"{character * 10_000}\n"):
        assert make().decode(make().encode(text)) == text


@every
@few
@given(text=st.text())
def test_any_text_comes_back(make: Callable[[], Any], text: str) -> None:
    encoding = make()
    ids = encoding.encode_ordinary(text)
    assert encoding.decode(ids) == text
    assert encoding.encode(text, disallowed_special=()) == encoding._encode_only_native_bpe(text) == ids
    assert (
        encoding.encode_to_numpy(text, disallowed_special=()).tolist() == encoding._encode_bytes(text.encode()) == ids
    )
    assert b"".join(encoding.decode_tokens_bytes(ids)) == encoding.decode_bytes(ids) == text.encode()


@every
@few
@given(data=st.binary())
def test_any_bytes_come_back(make: Callable[[], Any], data: bytes) -> None:
    assert make().decode_bytes(make()._encode_bytes(data)) == data


@every
@few
@given(texts=st.lists(st.text(), max_size=5))
def test_a_batch_is_its_texts(make: Callable[[], Any], texts: list[str]) -> None:
    encoding = make()
    batch = encoding.encode_batch(texts, allowed_special="all")
    assert batch == [encoding.encode(text, allowed_special="all") for text in texts]
    assert encoding.encode_ordinary_batch(texts) == [encoding.encode_ordinary(text) for text in texts]
    assert encoding.decode_batch(batch) == texts
    assert encoding.decode_bytes_batch(batch, num_threads=2) == [text.encode() for text in texts]


@every
def test_surrogates_are_repaired(make: Callable[[], Any]) -> None:
    encoding = make()
    assert encoding.encode("\ud83d\udc4d") == encoding.encode("👍")
    assert encoding.encode("a\ud83d") == encoding.encode("a\ufffd")


@every
def test_special_tokens_are_an_error_a_token_or_text(make: Callable[[], Any]) -> None:
    encoding = make()
    text = "<|endoftext|> hello <|fim_prefix|>"
    specials = encoding.special_tokens_set
    with pytest.raises(ValueError, match="special token"):
        encoding.encode(text)
    with pytest.raises(ValueError, match="hello"):
        encoding.encode(text, allowed_special="all", disallowed_special={" hello"})
    ids = encoding.encode(text, allowed_special="all")
    assert [i for i in ids if encoding.is_special_token(i)] == [
        encoding._special_tokens[name] for name in ("<|endoftext|>", "<|fim_prefix|>") if name in specials
    ]
    as_text = encoding.encode(text, disallowed_special=())
    assert not any(map(encoding.is_special_token, as_text))
    assert encoding.decode(ids) == encoding.decode(as_text) == text
    only = encoding.encode(text, allowed_special={"<|endoftext|>"}, disallowed_special=())
    assert only[0] == encoding.eot_token
    assert sum(map(encoding.is_special_token, only)) == 1


@every
@few
@given(text=st.text(), n=st.integers(0, 30))
def test_offsets_are_where_the_text_before_ends(make: Callable[[], Any], text: str, n: int) -> None:
    encoding = make()
    ids = encoding.encode(text, allowed_special="all")
    found, offsets = encoding.decode_with_offsets(ids)
    assert found == text
    for k, offset in enumerate(offsets):
        assert offset == len(encoding.decode(ids[:k], errors="ignore"))


@every
@few
@given(text=st.text(st.characters(max_codepoint=0x2FF)))
def test_completions_continue_the_text(make: Callable[[], Any], text: str) -> None:
    encoding = make()
    stable, completions = encoding.encode_with_unstable(text, disallowed_special=())
    assert text.encode().startswith(encoding.decode_bytes(stable))
    assert all(encoding.decode_bytes(stable + ids).startswith(text.encode()) for ids in completions)
    ids = encoding.encode_ordinary(text)
    assert not text or ids[len(stable) :] in completions


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


def test_what_minbpe_asks_of_it(tiktoken: ModuleType) -> None:
    encoding = tiktoken.get_encoding("cl100k_base")
    ranks = encoding._mergeable_ranks
    shuffle = [ranks[bytes([byte])] for byte in range(256)]
    assert sorted(shuffle) == list(range(256))
    text = "\n<|endoftext|>Hello world this is one document\n<|endoftext|>And this is another document 안녕 😉"
    ids = encoding.encode(text, allowed_special="all")
    assert ids.count(100257) == 2
    assert b"".join(encoding.decode_single_token_bytes(i) for i in ids).decode() == text
