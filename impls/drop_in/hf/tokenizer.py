"""`Tokenizer` and `DecodeStream`: the public classes of Hugging Face's `tokenizers` over any implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from impls import registry
from impls.core.arguments import unsigned, wrong_type
from impls.core.errors import InvalidFile, Missing
from impls.drop_in.hf.added_tokens import AddedToken
from impls.drop_in.hf.arguments import Texts, batch_input, flag, id_list, items, sequence_input, text
from impls.drop_in.hf.configured import CHANGING, Configured
from impls.drop_in.hf.encoding import Encoding
from impls.drop_in.hf.not_provided import refuse
from impls.drop_in.hf.parts import given_document
from impls.drop_in.hf.pipeline import Pipeline, read_document, read_file
from impls.drop_in.hf.training import given_texts, learned, lines_of
from impls.formats import load
from impls.formats.files import read_bytes, write_atomically
from impls.formats.tokenizer_json.writer import write_compact
from impls.interface import Tokenizer as Implementation
from impls.operations.streaming import StreamDecoder

_UNNAMED = Path("tokenizer.json")


class Tokenizer(Configured):
    """A tokenizer with the interface of the library, over the ids of `implementation`."""

    __slots__ = ()
    find_on_hub: ClassVar[Callable[[str, str, str | None], Path] | None] = None
    """Returns the file of a model of the hub; set by `bpebench`."""

    def __init__(self, model: Any, *, implementation: str = "compiled") -> None:
        """Use a loaded implementation, or make one of a `models.BPE` of the library, which may be untrained.

        Raise `Unsupported` if tokenizer.json cannot hold its model, and `InvalidModel` for a model of another kind.
        """
        if isinstance(model, Pipeline):  # by the methods below
            self.pipeline = model
        elif isinstance(model, Implementation):
            self.pipeline = Pipeline.of(model, write_compact(model.model))
        else:
            document = given_document("model", "a tokenizer of bpebench, or a models.BPE", "get_trainer", model)
            self.pipeline = read_document({"model": document}, registry.get(implementation))

    def __getattr__(self, name: str) -> Any:
        refuse("Tokenizer", name)

    @property
    def implementation(self) -> Implementation:
        """Return the implementation that computes the ids."""
        return self.pipeline.implementation

    # --- reading and writing ----------------------------------------------------------------------------------

    @staticmethod
    def from_str(json: str, *, implementation: str = "compiled") -> Tokenizer:
        """Return a tokenizer from the content of a tokenizer.json; raise `InvalidFile` naming what is not supported."""
        return Tokenizer(read_file(text("json", json).encode(), _UNNAMED, implementation))

    @staticmethod
    def from_buffer(buffer: bytes, *, implementation: str = "compiled") -> Tokenizer:
        """Return a tokenizer from the bytes of a tokenizer.json; raise `InvalidFile` naming what is not supported."""
        if not isinstance(buffer, bytes):
            raise wrong_type("buffer", "bytes", buffer)
        return Tokenizer(read_file(buffer, _UNNAMED, implementation))

    @staticmethod
    def from_file(path: str, *, implementation: str = "compiled") -> Tokenizer:
        """Return a tokenizer from a tokenizer.json; raise `InvalidFile` naming what is not supported."""
        file = Path(path if isinstance(path, Path) else text("path", path))
        return Tokenizer(read_file(read_bytes(file), file, implementation))

    @staticmethod
    def from_pretrained(
        identifier: str, revision: str = "main", token: str | None = None, *, implementation: str = "compiled"
    ) -> Tokenizer:
        """Return the tokenizer of a model OWNER/NAME of the hub, downloaded or from the cache.

        Raise an error that says why there is none; `token` is needed for models that require an account.
        """
        if Tokenizer.find_on_hub is None:
            raise Missing("from_pretrained", "bpebench")
        file = Tokenizer.find_on_hub(text("identifier", identifier), text("revision", revision), token)
        if file.name == "tokenizer.json":
            return Tokenizer.from_file(str(file), implementation=implementation)
        return Tokenizer(registry.load(implementation, load(file)))

    def train_from_iterator(self, iterator: Any, trainer: Any = None, length: int | None = None) -> None:
        """Learn the vocabulary from an iterator of texts, or of lists of texts, as a `BpeTrainer` of the library says.

        Raise `Unsupported` naming a setting that our trainers cannot follow. `length` is not used.
        """
        self._read_again(**learned(self.pipeline, given_texts(iterator), trainer))

    def train(self, files: list[str], trainer: Any = None) -> None:
        """Learn the vocabulary from the lines of files; see `train_from_iterator`."""
        self._read_again(**learned(self.pipeline, lines_of(files), trainer))

    def to_str(self, pretty: bool = False) -> str:
        """Return the content of an equivalent tokenizer.json."""
        content = msgspec.json.encode(self.pipeline.written)
        return (msgspec.json.format(content, indent=2) if flag("pretty", pretty) else content).decode()

    def save(self, path: str, pretty: bool = True) -> None:
        """Write a tokenizer.json, atomically; raise `InvalidFile` if the folder does not exist."""
        file = Path(path if isinstance(path, Path) else text("path", path))
        if not file.parent.is_dir():
            raise InvalidFile(str(file), "the folder does not exist; create it first")
        write_atomically(file, self.to_str(pretty).encode())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the implementation and the tokenizer.json; `encode_special_tokens` is kept."""
        return _restored, (self.implementation, self.to_str(), self.encode_special_tokens)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        """Return a copy that shares all of it, since nothing of it ever changes."""
        return Tokenizer(self.pipeline)

    __copy__ = __deepcopy__

    def __repr__(self) -> str:
        return f"Tokenizer({self.implementation.name}, {self.get_vocab_size()} tokens)"

    # --- encoding and decoding --------------------------------------------------------------------------------

    def encode(
        self, sequence: Texts, pair: Texts | None = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Return the tokens of a text, or of a pair: truncated, post-processed, padded.

        With `is_pretokenized` a text is a list of words. Raise TypeError for anything else, and for a lone surrogate.
        """
        words = flag("is_pretokenized", is_pretokenized)
        first, second = sequence_input(sequence, words), None if pair is None else sequence_input(pair, words)
        return self.pipeline.encode(first, second, flag("add_special_tokens", add_special_tokens))

    def encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return `encode` of each item, a text or a pair of texts, padded together."""
        return self._encode_batch(input, is_pretokenized, add_special_tokens, fast=False)

    def encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return `encode_batch` without the texts, words and offsets of tokens: quicker where only ids are needed."""
        return self._encode_batch(input, is_pretokenized, add_special_tokens, fast=True)

    def _encode_batch(self, given: Sequence[Any], words: bool, adds: bool, fast: bool) -> list[Encoding]:
        words, adds = flag("is_pretokenized", words), flag("add_special_tokens", adds)
        inputs = [batch_input(item, words) for item in items("input", given)]
        pipeline = self.pipeline
        encodings = [pipeline.encode(sequence, pair, adds, fast=fast) for sequence, pair in inputs]
        if pipeline.padding is not None:
            pipeline.padding.fill(encodings)
        return encodings

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return an encoding, or a pair, truncated, with special tokens, and padded."""
        for name, given in (("encoding", encoding), ("pair", pair)):
            if not isinstance(given, Encoding) and (given is not None or name == "encoding"):
                raise wrong_type(name, "an Encoding", given)
        second = None if pair is None else pair.copy()
        return self.pipeline.finished(encoding.copy(), second, flag("add_special_tokens", add_special_tokens))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids; like the library, ignore ids without a token."""
        return self.pipeline.decode(id_list("ids", ids), flag("skip_special_tokens", skip_special_tokens))

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Return `decode` of each list of ids."""
        pipeline, skips = self.pipeline, flag("skip_special_tokens", skip_special_tokens)
        return [pipeline.decode(id_list("ids", ids), skips) for ids in items("sequences", sequences)]

    # --- the vocabulary ---------------------------------------------------------------------------------------

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or None."""
        added = self.pipeline.added
        return added.ids.get(text("token", token), added.vocab.get(token))

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id, or None."""
        return self.pipeline.name_of(unsigned("id", id, 32))

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return all tokens and their ids as in the file: for a model over bytes in printable characters."""
        added = self.pipeline.added
        return {**added.vocab, **(added.ids if flag("with_added_tokens", with_added_tokens) else {})}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens."""
        added = self.pipeline.added
        others = added.ids if flag("with_added_tokens", with_added_tokens) else ()
        return len(added.vocab) + sum(name not in added.vocab for name in others)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Return the added tokens by id."""
        return {i: AddedToken.of(token, False) for i, token in self.pipeline.added.by_id.items()}

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens that are found in every text, and return how many are new or changed."""
        return self._add(tokens, False)

    def add_special_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens like `add_tokens`; `decode` leaves these out."""
        return self._add(tokens, True)

    def _add(self, tokens: list[str | AddedToken], special: bool) -> int:
        if not isinstance(tokens, list):
            raise wrong_type("tokens", "a list of str and AddedToken", tokens)
        with CHANGING:
            added, n_added = self.pipeline.added.with_([AddedToken.of(token, special) for token in tokens])
            self._change(added=added)
        return n_added


def _restored(implementation: Implementation, content: str, as_text: bool) -> Tokenizer:
    return Tokenizer(replace(Pipeline.of(implementation, content.encode()), encode_special_tokens=as_text))


class DecodeStream:
    """The text of ids that arrive one after another, each character as soon as it is certain.

    `ids` precede the stream, and their text is not returned. The library's class decodes all recent ids again at each
    step, and returns nothing while the result ends in U+FFFD, so that replaced bytes come late, and text of a prompt
    may be repeated. Here the joined parts are a prefix of the text of all ids.
    """

    __slots__ = ("_decoder", "_ids", "_pipeline", "_shown", "_skips")

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool | None = False) -> None:
        """Begin a stream; raise TypeError or OverflowError for wrong arguments."""
        self._ids = [] if ids is None else id_list("ids", ids)
        self._skips = bool(skip_special_tokens) and flag("skip_special_tokens", skip_special_tokens)
        self._pipeline: Pipeline | None = None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> DecodeStream:
        return DecodeStream(self._ids, self._skips)

    __copy__ = __deepcopy__

    def step(self, tokenizer: Tokenizer, id: int | Sequence[int]) -> str | None:
        """Return the text that becomes certain with one id or several, or None; ids without a token are ignored."""
        try:
            ids = id_list("id", [id] if isinstance(id, int) else id)
        except OverflowError as error:
            raise TypeError(str(error)) from None
        if not isinstance(tokenizer, Tokenizer):
            raise wrong_type("tokenizer", "a bpebench.hf.Tokenizer", tokenizer)
        pipeline = tokenizer.pipeline
        if pipeline is not self._pipeline:
            self._pipeline, self._shown = pipeline, ""
            rules, steps = pipeline.stream_rules, pipeline.stream_rules.decoder
            streams = steps is None or steps.by_token or steps.joins_bytes
            self._decoder = StreamDecoder(rules, skip_special=self._skips) if streams else None
            self._push(pipeline, self._ids)
        self._ids += ids
        return self._push(pipeline, ids) or None

    def _push(self, pipeline: Pipeline, ids: Sequence[int]) -> str:
        if self._decoder is not None:
            return self._decoder.push(i for i in ids if pipeline.name_of(i) is not None)
        text = pipeline.decode(self._ids, self._skips).rstrip("\ufffd")
        shown = self._shown
        if not text.startswith(shown):
            return ""
        self._shown = text
        return text.removeprefix(shown)
