"""The tokenizer behind every stand-in of a peer's library, and the ways such a library hands over and refuses."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import sentencepiece

import impls
from impls import Model, UnknownId
from impls.formats import load
from impls.peers import conversion


class PanicException(BaseException):
    """What a Rust library raises when it panics."""


def without_fillers(content: bytes) -> bytes:
    """A tokenizer.json without the tokens that only fill the gaps between ids."""
    document = json.loads(content)
    vocabulary = document["model"]["vocab"]
    document["model"]["vocab"] = {token: i for token, i in vocabulary.items() if " " not in token}
    return json.dumps(document).encode()


class Engine:
    """A library's tokenizer over what an adapter passed to it."""

    def __init__(self, content: bytes, pattern: str | None = None) -> None:
        if content[:1] == b"{":
            content = without_fillers(content)
        with conversion.file_of(content, "model") as path, warnings.catch_warnings():
            warnings.simplefilter("error")
            stages = None if pattern is None else [pattern]
            model = load(Path(path), pattern=stages)
        assert content[:1] != b"{" or not json.loads(content)["added_tokens"]
        self.model = model.with_(special_tokens={}, added_tokens={})
        self.tokenizer = impls.load("priority", self.model)

    @classmethod
    def of_file(cls, path: str, pattern: str | None = None) -> Engine:
        return cls(Path(path).read_bytes(), pattern)

    @classmethod
    def built_in(cls, model: Model) -> Engine:
        """The tokenizer of a library that brings this vocabulary along."""
        return cls(conversion.rank_file(model), model.pattern[0])

    def ids(self, text: str) -> list[int]:
        text.encode()
        return self.tokenizer.encode(text)

    def ids_of_bytes(self, data: bytes) -> list[int]:
        return self.tokenizer.encode_piece(data.decode("utf-8", "surrogateescape"))

    def count(self, text: str, *_: Any) -> int:
        return len(self.ids(text))

    def encoding(self, text: str, *_: Any) -> SimpleNamespace:
        return SimpleNamespace(ids=self.ids(text))

    def encodings(self, texts: list[str], *_: Any) -> list[SimpleNamespace]:
        return [SimpleNamespace(ids=ids) for ids in self.batch(texts)]

    def buffer(self, text: str) -> bytes:
        return self.flat([text])[0]

    def batch(self, texts: list[str]) -> list[list[int]]:
        assert type(texts) is list
        return [self.ids(text) for text in texts]

    def flat(self, texts: list[str]) -> tuple[bytes, bytes]:
        ids = self.batch(texts)
        ends = np.cumsum([0, *map(len, ids)], dtype=np.uint64)
        return np.array([i for some in ids for i in some], np.uint32).tobytes(), ends.tobytes()

    def data(self, ids: list[int]) -> bytes:
        assert type(ids) is list
        try:
            return self.tokenizer.decode_bytes(ids)
        except UnknownId as error:
            raise ValueError(str(error)) from None

    def careless_bytes(self, ids: list[int]) -> bytes:
        return b"".join(token for i in ids if (token := self.model.tokens[i]) is not None)

    def careless_text(self, ids: list[int]) -> str | None:
        known = [self.model.tokens[i] for i in ids if 0 <= i < len(self.model.tokens)]
        try:
            return b"".join(token for token in known if token is not None).decode()
        except UnicodeDecodeError:
            return None


class SentencePieceEngine(Engine):
    """A library's tokenizer over a SentencePiece model, answered by SentencePiece."""

    def __init__(self, content: bytes) -> None:
        self.tokenizer = sentencepiece.SentencePieceProcessor(model_proto=content)


def raising_type_error(call: Any) -> Any:
    def refusing(*given: Any) -> Any:
        try:
            return call(*given)
        except UnicodeEncodeError as error:
            raise TypeError(str(error)) from None

    return refusing


def panicking(call: Any) -> Any:
    def refusing(ids: list[int]) -> Any:
        try:
            return call(ids)
        except ValueError as error:
            raise PanicException(str(error)) from None

    return refusing


def arrays(buffers: tuple[bytes, bytes]) -> tuple[np.ndarray, np.ndarray]:
    return np.frombuffer(buffers[0], np.uint32), np.frombuffer(buffers[1], np.int64)


def awkward(ids: bytes, borders: bytes) -> SimpleNamespace:
    """An awkward array, of which only the buffers are used."""
    content = SimpleNamespace(data=np.frombuffer(ids, np.uint32))
    offsets = SimpleNamespace(data=np.frombuffer(borders, np.int64))
    return SimpleNamespace(layout=SimpleNamespace(content=content, offsets=offsets))
