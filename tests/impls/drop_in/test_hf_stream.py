"""DecodeStream: the text of all ids, piece by piece, and where the library's own is late, repeats a text or fails."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from hf_calls import BYTE_LEVEL, MARKS_FILE, both
from refusals import refused
from tokenizer_json_shapes import FALL_BACK, MARKS_REMOVED, Document, a_file, added, metaspace, replace, texts
from tokenizers.decoders import DecodeStream as LibraryStream

from impls.drop_in import hf

DOCUMENTS: dict[str, Document] = {
    "bytes": a_file("bytes", added_tokens=added("bytes"), decoder=BYTE_LEVEL),
    "marks": MARKS_FILE,
    "marks, no prefix": a_file("chars", FALL_BACK, decoder={"type": "Sequence", "decoders": MARKS_REMOVED[:3]}),
    "none": a_file("chars"),
    "Metaspace": a_file("chars", decoder=metaspace("always")),
}


def steps(stream: Any, tokenizer: Any, ids: list[int]) -> list[Any]:
    """What each step returns; an exception ends them."""
    answers: list[Any] = []
    for i in ids:
        try:
            answers.append(stream.step(tokenizer, i))
        except Exception as error:
            return [*answers, error]
    return answers


def joined(parts: list[Any]) -> str:
    return "".join(part for part in parts if part is not None)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_parts_of_a_text_are_those_of_the_library(name: str) -> None:
    ours, theirs = both(DOCUMENTS[name])
    for text in texts():
        for skips in (False, True):
            ids = theirs.encode(text).ids
            expected = steps(LibraryStream(skip_special_tokens=skips), theirs, ids)
            if any(isinstance(part, Exception) for part in expected) or "\ufffd" in theirs.decode(ids):
                continue
            assert steps(hf.DecodeStream(skip_special_tokens=skips), ours, ids) == expected, text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_parts_of_any_ids_begin_their_text(name: str, fuzz: int) -> None:
    """A run of byte tokens without text is U+FFFD as a whole for the library; a stream cannot take back its start."""
    ours, theirs = both(DOCUMENTS[name])
    rng = Random(name)
    size = ours.get_vocab_size()
    n_compared = n_late = 0
    for _ in range(1_000 * fuzz):
        ids = [rng.randrange(size + 2) if rng.random() < 0.5 else rng.randrange(256) for _ in range(rng.randrange(7))]
        skips = rng.random() < 0.5
        whole = ours.decode(ids, skip_special_tokens=skips)
        assert whole == theirs.decode(ids, skip_special_tokens=skips)
        if name.startswith("marks") and "\ufffd" in whole:
            continue
        streamed = joined(steps(hf.DecodeStream(skip_special_tokens=skips), ours, ids))
        assert whole.startswith(streamed)
        assert set(whole[len(streamed) :]) <= {"\ufffd"}
        late = steps(LibraryStream(skip_special_tokens=skips), theirs, ids)
        if not any(isinstance(part, Exception) for part in late):
            assert streamed.startswith(joined(late))
            n_late += streamed != joined(late)
        n_compared += 1
    assert n_compared > 300
    assert (n_late > 0) == (name == "bytes")


def ids_of(tokenizer: Any, *tokens: str) -> list[int]:
    return [tokenizer.token_to_id(token) for token in tokens]


def test_the_text_of_a_prompt_does_not_come_again() -> None:
    """The library repeats a prompt that ends within a character."""
    ours, theirs = both(DOCUMENTS["bytes"])
    prompt, ids = ids_of(theirs, "a", "Ã"), ids_of(theirs, "§", "b")
    assert steps(hf.DecodeStream(prompt), ours, ids) == ["ç", "b"]
    assert steps(LibraryStream(prompt), theirs, ids) == ["aç", "b"]


def test_of_a_decoder_that_rewrites_the_joined_text_what_was_given_stays() -> None:
    steps_of_file = [{"type": "Fuse"}, replace("ab", "x")]
    ours, theirs = both(a_file("chars", decoder={"type": "Sequence", "decoders": steps_of_file}))
    ids = ids_of(theirs, "t", "h", "a", "c")
    stream = hf.DecodeStream()
    assert steps(stream, ours, ids) == steps(LibraryStream(), theirs, ids) == ["t", "h", "a", "c"]
    assert stream.step(ours, ids_of(theirs, "a")) == copy.copy(stream).step(ours, ids_of(theirs, "a")) == "a"
    assert steps(stream, ours, ids_of(theirs, "b", "c")) == [None, None]


def test_several_ids_a_copy_and_another_tokenizer() -> None:
    ours, theirs = both(DOCUMENTS["bytes"])
    other, _ = both(DOCUMENTS["bytes"])
    ids = ids_of(theirs, "a", "Ã")
    stream, library = hf.DecodeStream(), LibraryStream()
    assert stream.step(ours, ids) == "a"
    assert library.step(theirs, ids) is None
    for copied in (copy.copy(stream), copy.deepcopy(stream)):
        assert copied.step(other, ids_of(theirs, "§")) == "ç"
    assert stream.step(ours, ids_of(theirs, "§", "b")) == "çb"
    assert library.step(theirs, ids_of(theirs, "§", "b")) == "açb"
    ours.add_special_tokens(["<new>"])
    skipping, later = hf.DecodeStream(skip_special_tokens=True), hf.DecodeStream()
    assert skipping.step(ours, ours.token_to_id("<new>")) is None
    assert later.step(ours, ours.token_to_id("<new>")) == "<new>"


@pytest.mark.parametrize("odd", [-1, "a", None, 1 << 32, 1.5, ["a"], [-1]])
def test_wrong_ids_raise_what_the_library_raises(odd: Any) -> None:
    ours, theirs = both(DOCUMENTS["bytes"])
    for stream, tokenizer in ((hf.DecodeStream(), ours), (LibraryStream(), theirs)):
        refused(TypeError, None, stream.step, tokenizer, odd)
    refused(TypeError, None, hf.DecodeStream().step, theirs, 1)
    for kind in (hf.DecodeStream, LibraryStream):
        refused(OverflowError, None, kind, [-1])
        refused(TypeError, None, kind, skip_special_tokens=1)
