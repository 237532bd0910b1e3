"""What the interface does around an implementation's hooks, and what it does not do to ordinary text."""

import copy
import pickle
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import impls
from impls import Model, SpecialToken, Tokenizer
from impls.operations.batches import joined
from impls.plugin import wrap

ORDINARY = impls.train("priority", ["abab b a ab"], impls.TrainingSpec(vocab_size=259)).model
BYTES = tuple(bytes([byte]) for byte in range(256))
PLAIN = Model(tokens=BYTES)
SPECIAL = Model(tokens=BYTES, special_tokens={"<s>": 256, "<s>+": 257})
ADDED = Model(tokens=BYTES, special_tokens={"<s>": 256}, added_tokens={"<a>": 258})
NFC = Model(tokens=BYTES, normalization="nfc")
SURROGATES = ["a\ud83d", "\ud83d\udc4d", "\udc4d\ud83d b"]


class Library(Tokenizer):
    """Answers byte values, as a library does that refuses surrogates and has calls of its own for each form."""

    name = "library"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.calls: list[Any] = []

    def encode_normalized(self, text: str) -> list[int]:
        self.calls.append(text)
        return list(text.encode())

    def encode_normalized_array(self, text: str) -> np.ndarray:
        self.calls.append((text, "array"))
        return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        self.calls.append((tuple(texts), threads))
        return [list(text.encode()) for text in texts]


class Careless(Tokenizer):
    """Does not raise for surrogates; so it must never see one."""

    name = "careless"

    def encode_normalized(self, text: str) -> list[int]:
        assert not any("\ud800" <= character <= "\udfff" for character in text)
        return list(text.encode())


@pytest.mark.parametrize("name", impls.default_names())
@pytest.mark.parametrize("special", [{}, {"disallowed_special": ()}, {"allowed_special": "all"}])
def test_a_batch_may_be_any_iterable_but_one_text(name: str, special: dict[str, Any]) -> None:
    tokenizer = impls.load(name, ORDINARY)
    texts = ["ab", "", "b a"]
    ids = [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_batch(iter(texts), 1, **special) == ids
    assert tokenizer.encode_batch((text for text in texts), **special) == ids
    values, offsets = tokenizer.encode_ragged(iter(texts), **special)
    assert [values[a:b].tolist() for a, b in pairwise(offsets)] == ids
    for call in (tokenizer.encode_batch, tokenizer.encode_ragged):
        with pytest.raises(TypeError, match="several texts, not one str"):
            call("ab", **special)


@pytest.mark.parametrize("name", impls.default_names())
def test_a_tokenizer_goes_to_another_process_and_is_copied(name: str) -> None:
    tokenizer = impls.load(name, ORDINARY)
    for again in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
        assert type(again) is type(tokenizer)
        assert again.encode("abab b") == tokenizer.encode("abab b")
        assert again.model.digest == ORDINARY.digest


def test_a_plugin_goes_to_another_process() -> None:
    tokenizer = wrap("mine", Library)(ORDINARY)
    again = pickle.loads(pickle.dumps(tokenizer))
    assert (again.name, again.encode("ab")) == ("mine", [97, 98])


def test_ordinary_text_reaches_the_library_as_the_very_object_it_was_given() -> None:
    for model in (PLAIN, SPECIAL):
        library = Library(model)
        text = "".join(["<s> h", "é"])
        assert library.encode(text, disallowed_special=()) == list(text.encode())
        assert library.encode_array(text, disallowed_special=()).tolist() == list(text.encode())
        assert library.encode_batch([text], 3, disallowed_special=()) == [list(text.encode())]
        assert library.calls[0] is text
        assert library.calls[1][0] is text
        assert library.calls[2] == ((text,), 3)


@pytest.mark.parametrize("kind", [Library, Careless])
@pytest.mark.parametrize("text", SURROGATES)
def test_surrogates_are_repaired_in_every_form(kind: type[Tokenizer], text: str) -> None:
    tokenizer = kind(SPECIAL)
    expected = list(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode())
    for _ in range(2):
        assert tokenizer.encode(text) == expected
        assert tokenizer.encode_array(text).tolist() == expected
        assert tokenizer.encode_batch([text, "b"], 1) == [expected, [98]]


@pytest.mark.parametrize("kind", [Library, Careless])
def test_special_tokens_are_cut_out_in_every_form(kind: type[Tokenizer]) -> None:
    tokenizer = kind(SPECIAL)
    assert tokenizer.encode("a<s>+b<s>", allowed_special="all") == [97, 257, 98, 256]
    assert tokenizer.encode_array("a<s>+", allowed_special={"<s>"}, disallowed_special=()).tolist() == [97, 256, 43]
    assert tokenizer.encode_batch(["a<s>", "b"], 2, allowed_special={"<s>"}) == [[97, 256], [98]]
    for call in (tokenizer.encode, tokenizer.encode_array, lambda text: tokenizer.encode_batch(["b", text])):
        with pytest.raises(SpecialToken) as raised:
            call("ab<s>+")
        assert (raised.value.name, raised.value.offset) == ("<s>+", 2)


@pytest.mark.parametrize("kind", [Library, Careless])
def test_added_tokens_are_cut_out_even_where_nothing_is_allowed(kind: type[Tokenizer]) -> None:
    tokenizer = kind(ADDED)
    expected = [97, 258, *b"<s>"]
    assert tokenizer.encode("a<a><s>", disallowed_special=()) == expected
    assert tokenizer.encode_array("a<a><s>", disallowed_special=()).tolist() == expected
    assert tokenizer.encode_batch(["a<a><s>", "\ud83d<a>"], 1, disallowed_special=()) == [
        expected,
        [*"\ufffd".encode(), 258],
    ]


@pytest.mark.parametrize("kind", [Library, Careless])
def test_text_is_normalised_in_every_form(kind: type[Tokenizer]) -> None:
    tokenizer = kind(NFC)
    expected = list("é".encode())
    assert tokenizer.encode("e\u0301") == expected
    assert tokenizer.encode_array("e\u0301").tolist() == expected
    assert tokenizer.encode_batch(["e\u0301"]) == [expected]


class Flat(Library):
    """Has a call for many texts that gives one array."""

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        self.calls.append((tuple(texts), threads, "ragged"))
        return joined([list(text.encode()) for text in texts])


@pytest.mark.parametrize("kind", [Library, Careless, Flat])
@pytest.mark.parametrize("threads", [1, 2, None])
def test_ragged_arrays_hold_what_a_batch_lists(kind: type[Tokenizer], threads: int | None) -> None:
    for model in (PLAIN, SPECIAL, ADDED, NFC):
        for texts in ([], [""], ["a", "", "é\u0301"], ["a\ud83d", "<a>", "b"]):
            tokenizer = kind(model)
            ids, offsets = tokenizer.encode_ragged(texts, threads)
            assert (ids.dtype, offsets.dtype) == (np.uint32, np.int64)
            assert len(offsets) == len(texts) + 1
            rows = [ids[start:end].tolist() for start, end in pairwise(offsets)]
            assert rows == tokenizer.encode_batch(texts, threads)


def test_ragged_arrays_keep_to_what_is_special() -> None:
    for tokenizer in (Library(SPECIAL), Careless(SPECIAL), Flat(SPECIAL)):
        ids, offsets = tokenizer.encode_ragged(["a<s>", "b"], 2, allowed_special={"<s>"})
        assert (ids.tolist(), offsets.tolist()) == ([97, 256, 98], [0, 2, 3])
        with pytest.raises(SpecialToken):
            tokenizer.encode_ragged(["b", "ab<s>"])
        with pytest.raises(ValueError, match="at least 1"):
            tokenizer.encode_ragged(["b"], 0)


def test_a_library_s_own_ragged_arrays_are_asked_for_and_else_its_arrays_and_else_its_batches() -> None:
    texts = ["a", "b"]
    flat, library = Flat(PLAIN), Library(PLAIN)
    flat.encode_ragged(texts, 2, disallowed_special=())
    assert flat.calls == [(("a", "b"), 2, "ragged")]
    library.encode_ragged(texts, 1, disallowed_special=())
    assert library.calls == [("a", "array"), ("b", "array")]

    class Lists(Library):
        encode_normalized_array = Tokenizer.encode_normalized_array

    lists = Lists(PLAIN)
    lists.encode_ragged(texts, 3, disallowed_special=())
    assert lists.calls == [(("a", "b"), 3)]
