"""What the interface does around an implementation's hooks, and what it does not do to ordinary text."""

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from every_form import every_form
from random_models import BYTES

import impls
from impls import Model, Tokenizer
from impls.plugin import wrap

ORDINARY = impls.train("priority", ["abab b a ab"], impls.TrainingSpec(vocab_size=259)).model
PLAIN = Model(tokens=BYTES)
SPECIAL = Model(tokens=BYTES, special_tokens={"<s>": 256, "<s>+": 257})
ADDED = Model(tokens=BYTES, special_tokens={"<s>": 256}, added_tokens={"<a>": 258})
NFC = Model(tokens=BYTES, normalization="nfc")


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


CASES: list[tuple[Model, str, dict[str, Any], list[int]]] = [
    (PLAIN, "é\u0301", {}, [*"é\u0301".encode()]),
    (NFC, "e\u0301", {}, [*"é".encode()]),
    (SPECIAL, "a<s>+b<s>", {"allowed_special": "all"}, [97, 257, 98, 256]),
    (SPECIAL, "a<s>+", {"allowed_special": {"<s>"}, "disallowed_special": ()}, [97, 256, 43]),
    (ADDED, "a<a><s>", {"disallowed_special": ()}, [97, 258, *b"<s>"]),
    (ADDED, "\ud83d<a>", {"disallowed_special": ()}, [*"\ufffd".encode(), 258]),
    (SPECIAL, "a\ud83d", {}, [97, *"\ufffd".encode()]),
    (SPECIAL, "\ud83d\udc4d", {}, [*"👍".encode()]),
    (SPECIAL, "\udc4d\ud83d b", {}, [*"\ufffd\ufffd b".encode()]),
]
every_kind = pytest.mark.parametrize("kind", [Library, Careless])


@every_kind
@pytest.mark.parametrize(("model", "text", "special", "ids"), CASES)
def test_every_form_gives_the_same_ids(
    kind: type[Tokenizer], model: Model, text: str, special: dict[str, Any], ids: list[int]
) -> None:
    assert every_form(kind(model), [text, "", "b"], **special) == [ids, [], [98]]


def test_the_arrays_of_many_texts_are_joined_from_the_librarys_batches() -> None:
    library = Library(PLAIN)
    library.encode_ragged(["a", "b"], 2, disallowed_special=())
    assert library.calls == [(("a", "b"), 2)]
