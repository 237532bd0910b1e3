"""From ids back to bytes, text and offsets; batches; the errors and what they carry."""

from __future__ import annotations

import codecs
import pickle
from bisect import bisect_right

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused

import impls
from impls import TrainingSpec, UnknownId
from impls.interface import Tokenizer

NAMES = ["naive", "greedy", "wordcount", "priority", "bytelevel", "backtracking", "compiled"]
TEXT = "çay, şeker 😀 çayı şekerli 😀 ısmarlayın"
MODEL = impls.get("naive").train_model([TEXT], TrainingSpec(vocab_size=280, special_tokens=("<é>",)))
TOKENIZER = impls.load("priority", MODEL)

ids_of_the_model = st.lists(st.integers(0, MODEL.vocab_size - 1), max_size=30)


def offsets_by_definition(tokens: list[bytes]) -> tuple[str, list[int]]:
    """Where each character starts: at an invalid run of bytes, or at a valid byte that continues nothing."""
    data = b"".join(tokens)
    bad: dict[int, int] = {}

    def record(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        bad[error.start] = error.end
        return "\ufffd", error.end

    codecs.register_error("record", record)
    text = data.decode("utf-8", "record")
    inside_bad = {at for start, end in bad.items() for at in range(start + 1, end)}
    starts = [at for at in range(len(data)) if at in bad or (at not in inside_bad and data[at] & 0xC0 != 0x80)]
    beginnings = [sum(map(len, tokens[:index])) for index in range(len(tokens))]
    return text, [bisect_right(starts, at) - 1 for at in beginnings]


@given(ids=ids_of_the_model)
@example(ids=[*"a😀b".encode()])
@example(ids=[0xE2, 0x82, 0x41])
def test_offsets_are_the_character_each_token_begins_in(ids: list[int]) -> None:
    tokens = [TOKENIZER.decode_bytes([i]) for i in ids]
    assert TOKENIZER.decode_with_offsets(ids) == offsets_by_definition(tokens)


@given(ids=ids_of_the_model)
def test_decoding_joins_the_bytes_and_replaces_what_is_no_utf8(ids: list[int]) -> None:
    by_id = MODEL.bytes_by_id()
    data = b"".join(by_id[i] for i in ids)
    for name in ("naive", "bytelevel"):
        tokenizer = impls.load(name, MODEL)
        assert tokenizer.decode_bytes(ids) == data
        assert tokenizer.decode(ids) == data.decode("utf-8", "replace")
        assert tokenizer.decode(ids, errors="ignore") == data.decode("utf-8", "ignore")


def test_errors_may_be_strict() -> None:
    refused(UnicodeDecodeError, None, TOKENIZER.decode, [0xFF], errors="strict")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [-1, MODEL.vocab_size, 10**30])
def test_an_unknown_id_is_named_with_its_position(name: str, wrong: int) -> None:
    tokenizer = impls.load(name, MODEL)
    for decode in (tokenizer.decode, tokenizer.decode_bytes, tokenizer.decode_with_offsets):
        caught = refused(UnknownId, f"unknown token id {wrong} at position 2", decode, [97, 98, wrong])
        assert (caught.id, caught.position) == (wrong, 2)


def test_with_an_unknown_token_unknown_ids_are_its_text() -> None:
    tokenizer = impls.load("naive", MODEL.with_(unknown="<unk>", unknown_id=281))
    assert tokenizer.decode([97, 9_999, 281]) == "a<unk><unk>"
    assert tokenizer.decode_with_offsets([97, 9_999, 98]) == ("a<unk>b", [0, 1, 6])


def test_what_an_implementation_does_not_do_it_says() -> None:
    class Silent(Tokenizer):
        name = "silent"

    refused(impls.Unsupported, "silent: does not encode single pieces", Silent(MODEL).encode, "a")
    refused(impls.Unsupported, "silent: does not train", Silent.train_model, ["a"], TrainingSpec(vocab_size=300))


@pytest.mark.parametrize(
    "error",
    [
        impls.Unsupported("naive", "because"),
        impls.Missing("x", "package"),
        impls.UnknownName("model", "x", ["y"]),
        impls.InvalidSpec("ties", "bad"),
        impls.InvalidFile("a.json", "line 3"),
        impls.SpecialToken("<s>", 4),
        impls.UnknownId(7, 1),
        impls.UnknownSymbol("ç", 2),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_pass_from_process_to_process_unchanged(error: impls.BPEError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))
