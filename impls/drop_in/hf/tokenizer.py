"""`Tokenizer`: the public class of Hugging Face's `tokenizers` over any implementation of the suite."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from impls import registry
from impls.core.arguments import unsigned, wrong_type
from impls.core.errors import InvalidFile, InvalidModel, Missing
from impls.core.streaming import StreamRules
from impls.drop_in.hf.added_tokens import AddedToken, AddedTokens, read_entries
from impls.drop_in.hf.arguments import Texts, batch_input, flag, id_list, items, sequence_input, text
from impls.drop_in.hf.decoders import Decoder, read_decoder, stream_rules
from impls.drop_in.hf.encoding import Encoding
from impls.drop_in.hf.settings import Settings
from impls.drop_in.hf.texts import TextEncoder
from impls.formats import load
from impls.formats.files import naming, parse_json, read_bytes, without_collecting, write_atomically
from impls.formats.tokenizer_json import read, write_compact
from impls.formats.vocabulary import check_ids
from impls.interface import Tokenizer as Implementation

_UNNAMED = Path("tokenizer.json")


@dataclass(frozen=True)
class BPE:
    """The settings of the model, with the names they have in `tokenizers.models.BPE`."""

    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False


class Tokenizer(Settings):
    """A tokenizer with the interface of the library, over the ids of `implementation`."""

    find_on_hub: ClassVar[Callable[[str, str, str | None], Path] | None] = None
    """Returns the file of a model of the hub; set by `bpebench`."""

    def __init__(self, implementation: Implementation) -> None:
        """Use a loaded implementation; raise `Unsupported` if tokenizer.json cannot hold its model."""
        if not isinstance(implementation, Implementation):
            raise wrong_type("implementation", "a tokenizer of the suite", implementation)
        self._take(implementation, json.loads(write_compact(implementation.model)))

    def _take(self, implementation: Implementation, document: dict[str, Any]) -> None:
        self._read_settings(document)
        self._implementation, self._document = implementation, document
        self._vocab: dict[str, int] = document["model"]["vocab"]
        self._names = {i: name for name, i in self._vocab.items()}
        self._encoder = TextEncoder(implementation, self._names, document.get("pre_tokenizer"))
        self._added = AddedTokens(self._vocab, self._encoder.normal)
        self._added.add(read_entries(document.get("added_tokens")))
        self._decoder = read_decoder(document.get("decoder"))
        self._stream_rules: tuple[StreamRules | None] | None = None

    # --- reading and writing ----------------------------------------------------------------------------------

    @staticmethod
    def from_str(json: str, *, implementation: str = "compiled") -> Tokenizer:
        """Return a tokenizer from the content of a tokenizer.json; raise `InvalidFile` naming what is not supported."""
        return _read(text("json", json).encode(), _UNNAMED, implementation)

    @staticmethod
    def from_file(path: str, *, implementation: str = "compiled") -> Tokenizer:
        """Return a tokenizer from a tokenizer.json; raise `InvalidFile` naming what is not supported."""
        file = Path(path if isinstance(path, Path) else text("path", path))
        return _read(read_bytes(file), file, implementation)

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

    def to_str(self, pretty: bool = False) -> str:
        """Return the content of an equivalent tokenizer.json."""
        content = msgspec.json.encode(self._document | self._settings | {"added_tokens": self._added.document})
        return (msgspec.json.format(content, indent=2) if flag("pretty", pretty) else content).decode()

    def save(self, path: str, pretty: bool = True) -> None:
        """Write a tokenizer.json, atomically; raise `InvalidFile` if the folder does not exist."""
        file = Path(path if isinstance(path, Path) else text("path", path))
        if not file.parent.is_dir():
            raise InvalidFile(str(file), "there is no such folder to write it to; make it first")
        write_atomically(file, self.to_str(pretty).encode())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the implementation and the tokenizer.json; `encode_special_tokens` is kept."""
        return _restored, (self._implementation, self.to_str(), self._encode_special_tokens)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        """Return a copy that shares immutable parts, above all the implementation."""
        copied = object.__new__(Tokenizer)
        copied.__dict__.update(self.__dict__, _added=self._added.copy())
        return copied

    __copy__ = __deepcopy__

    def __repr__(self) -> str:
        return f"Tokenizer({self._implementation.name}, {self.get_vocab_size()} tokens)"

    # --- encoding ---------------------------------------------------------------------------------------------

    def encode(
        self, sequence: Texts, pair: Texts | None = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Return the tokens of a text, or of a pair: truncated, post-processed, padded.

        With `is_pretokenized` a text is a list of words. Raise TypeError for anything else, and for a lone surrogate.
        """
        words = flag("is_pretokenized", is_pretokenized)
        first, second = sequence_input(sequence, words), None if pair is None else sequence_input(pair, words)
        return self._encode(first, second, flag("add_special_tokens", add_special_tokens))

    def encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return `encode` of each item, a text or a pair of texts, padded together."""
        words, adds = flag("is_pretokenized", is_pretokenized), flag("add_special_tokens", add_special_tokens)
        given = [batch_input(item, words) for item in items("input", input)]
        encodings = [self._encode(first, second, adds) for first, second in given]
        if self._padding is not None:
            self._padding.fill(encodings)
        return encodings

    def _encode(self, sequence: Texts, pair: Texts | None, adds: bool) -> Encoding:
        first = self._sequence(sequence, 0)
        second = None if pair is None else self._sequence(pair, 1)
        return self._finished(first, second, adds)

    def _sequence(self, sequence: Texts, type_id: int) -> Encoding:
        """Return the tokens of a text, or of its words, which are merged with the offsets of each word."""
        texts: list[tuple[str, int | None]] = [(word, k) for k, word in enumerate(sequence)]
        if isinstance(sequence, str):
            texts = [(sequence, None)]
        as_text = self._encode_special_tokens
        parts = [
            self._encoder.encode(part, self._added, as_text=as_text, type_id=type_id, word=word) for part, word in texts
        ]
        return parts[0] if isinstance(sequence, str) else Encoding.merge(parts, False)

    # --- decoding ---------------------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids; like the library, ignore ids without a token."""
        skips = flag("skip_special_tokens", skip_special_tokens)
        names = filter(None, map(self.id_to_token, id_list("ids", ids)))
        tokens = [name for name in names if not (skips and self._added.is_special(name))]
        return " ".join(tokens) if self._decoder is None else self._decoder.decode(tokens)

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Return `decode` of each list of ids."""
        return [self.decode(ids, skip_special_tokens) for ids in items("sequences", sequences)]

    @property
    def stream_rules(self) -> StreamRules | None:
        """Return the rules for `DecodeStream`; None if the decoder cannot decode a stream."""
        if self._stream_rules is None:
            special = {i for i, name in self._added.names.items() if self._added.is_special(name)}
            self._stream_rules = (stream_rules(self._names | self._added.names, special, self._decoder),)
        return self._stream_rules[0]

    # --- the vocabulary ---------------------------------------------------------------------------------------

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or None."""
        return self._added.ids.get(text("token", token), self._vocab.get(token))

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id, or None."""
        return self._added.names.get(unsigned("id", id, 32), self._names.get(id))

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return all tokens and their ids as in the file: for a model over bytes in printable characters."""
        return {**self._vocab, **(self._added.ids if flag("with_added_tokens", with_added_tokens) else {})}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens."""
        others = self._added.ids.keys() - self._vocab.keys() if flag("with_added_tokens", with_added_tokens) else ()
        return len(self._vocab) + len(others)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Return the added tokens by id."""
        return {i: AddedToken.of(token, False) for i, token in self._added.by_id.items()}

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens that are found in every text, and return how many are new or changed."""
        return self._add(tokens, False)

    def add_special_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens like `add_tokens`; `decode` leaves these out."""
        return self._add(tokens, True)

    def _add(self, tokens: list[str | AddedToken], special: bool) -> int:
        if not isinstance(tokens, list):
            raise wrong_type("tokens", "a list of str and AddedToken", tokens)
        self._stream_rules = None
        return self._added.add([AddedToken.of(token, special) for token in tokens])

    # --- parts and settings -----------------------------------------------------------------------------------

    @property
    def implementation(self) -> Implementation:
        """Return the implementation that computes the ids."""
        return self._implementation

    @property
    def model(self) -> BPE:
        """Return the settings of the model, which cannot be changed."""
        given = self._document["model"]
        return BPE(**{name: given[name] for name in BPE.__dataclass_fields__ if given.get(name) is not None})

    @property
    def decoder(self) -> Decoder | None:
        """Return the decoder, which makes a text of tokens."""
        return self._decoder


def _read(content: bytes, path: Path, implementation: str) -> Tokenizer:
    """Return a tokenizer from the content of a tokenizer.json."""
    with naming(path), without_collecting():
        document = parse_json(content)
        bpe = document.get("model") if isinstance(document, dict) else None
        if not isinstance(bpe, dict):
            raise InvalidModel("model: an object is expected; this is no tokenizer.json")
        vocab = check_ids(bpe.get("vocab"), "model.vocab")
        added = AddedTokens(vocab)
        added.add(read_entries(document.get("added_tokens")))
        # Added tokens are found here and not by the model, which only needs to know which entries of its vocabulary
        # they are.
        listed = [(name, i) for name, i in added.ids.items() if name in vocab or name == bpe.get("unk_token")]
        known = [{"content": name, "id": i, "special": added.is_special(name)} for name, i in listed]
        model = read({**document, "added_tokens": known, "post_processor": None}, str(path))
        tokenizer = object.__new__(Tokenizer)
        tokenizer._take(registry.load(implementation, model), document)
    return tokenizer


def _restored(implementation: Implementation, content: str, encode_special_tokens: bool) -> Tokenizer:
    tokenizer = object.__new__(Tokenizer)
    tokenizer._take(implementation, json.loads(content))
    tokenizer._encode_special_tokens = encode_special_tokens
    return tokenizer
