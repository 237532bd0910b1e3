"""`Pipeline`: all that a tokenizer is at one moment, from a text to its tokens and back.

It is immutable: a tokenizer that is changed gets another one, so that a call, once begun, is done by the settings that
it began with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from impls import registry
from impls.core.errors import InvalidModel
from impls.core.model import Model
from impls.core.text.decoder_steps import SPACES, token_decoder
from impls.drop_in.hf.added_tokens import AddedTokens, read_entries
from impls.drop_in.hf.arguments import Texts
from impls.drop_in.hf.encoding import Encoding
from impls.drop_in.hf.parts import LETTERS, Decoder, Normalizer, PreTokenizer
from impls.drop_in.hf.post_processing import PostProcessor, joined, read_processor
from impls.drop_in.hf.settings import Padding, Truncation
from impls.drop_in.hf.texts import TextEncoder
from impls.formats.files import checked_content, converted, naming, without_collecting
from impls.formats.tokenizer_json.decoder_steps import read_decoder
from impls.formats.tokenizer_json.document import parse_document
from impls.formats.tokenizer_json.reader import check_kind, read, read_content
from impls.formats.vocabulary import check_ids
from impls.interface import Tokenizer as Implementation
from impls.operations.stream_rules import StreamRules, rules_of_decoder

_PARTS = ("truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")
_FIELDS: list[Any] = [("version", Any, "1.0"), *((name, Any, None) for name in _PARTS)]
_File: Any = msgspec.defstruct("_File", [*_FIELDS, ("model", dict[str, msgspec.Raw])], kw_only=True)


class _Lengths(msgspec.Struct):
    truncation: Truncation | None = None
    padding: Padding | None = None


@dataclass(frozen=True)
class Pipeline:
    """The steps and settings of a tokenizer."""

    document: dict[str, Any]
    """The tokenizer.json that was read, its merges as they are written; the fields below may differ from it."""
    encoder: TextEncoder
    added: AddedTokens
    decoder: Decoder | None
    post_processor: PostProcessor | None
    truncation: Truncation | None
    padding: Padding | None
    encode_special_tokens: bool = False

    @staticmethod
    def of(implementation: Implementation, content: bytes) -> Pipeline:
        """Return the pipeline of a valid tokenizer.json, for whose model there is an implementation.

        Raise `InvalidModel` naming what is not supported.
        """
        try:
            file = msgspec.json.decode(content, type=_File)
            model = {name: raw if name == "merges" else msgspec.json.decode(raw) for name, raw in file.model.items()}
        except (msgspec.MsgspecError, UnicodeError) as error:  # what the other parser accepts
            raise InvalidModel(str(error)) from None
        document = msgspec.structs.asdict(file) | {"model": model}
        vocab: dict[str, int] = model["vocab"]
        normalizer = Normalizer.read(document.get("normalizer"))
        pre_tokenizer = PreTokenizer.read(document.get("pre_tokenizer"))
        encoder = TextEncoder(implementation, {i: name for name, i in vocab.items()}, normalizer, pre_tokenizer)
        added, _ = AddedTokens(vocab, encoder.normal).with_(read_entries(document.get("added_tokens")))
        decoder = Decoder.read(document.get("decoder"))
        processor = read_processor(document.get("post_processor"))
        lengths = converted(document, _Lengths)
        return Pipeline(document, encoder, added, decoder, processor, lengths.truncation, lengths.padding)

    @property
    def written(self) -> dict[str, Any]:
        """Return the content of an equivalent tokenizer.json."""
        model = self.document["model"]
        return self.document | {
            "model": model | {"merges": msgspec.json.decode(model.get("merges", b"[]"))},
            "truncation": msgspec.to_builtins(self.truncation),
            "padding": msgspec.to_builtins(self.padding),
            "added_tokens": self.added.document,
            "post_processor": msgspec.to_builtins(self.post_processor),
            "decoder": None if self.decoder is None else self.decoder.document,
        }

    @cached_property
    def stream_rules(self) -> StreamRules:
        """Return how `DecodeStream` decodes ids one by one: by character as in the library, so that a wrong byte does
        not replace those before it."""
        special = {i for i, name in self.added.names.items() if name in self.added.specials}
        steps = token_decoder(SPACES) if self.decoder is None else self.decoder.steps
        rules = rules_of_decoder(steps, {**self.encoder.names, **self.added.names}, special)
        return replace(rules, decoder=None) if rules.byte_ids is not None else rules

    def name_of(self, i: int) -> str | None:
        """Return the token of an id, or None."""
        return self.added.names.get(i, self.encoder.names.get(i))

    def encode(self, sequence: Texts, pair: Texts | None, adds: bool, *, fast: bool = False) -> Encoding:
        """Return the tokens of a text, or of a pair; `fast` leaves out all but the ids, as `encode_batch_fast` does."""
        first = self._sequence(sequence, 0, fast)
        return self.finished(first, None if pair is None else self._sequence(pair, 1, fast), adds)

    def _sequence(self, sequence: Texts, type_id: int, fast: bool) -> Encoding:
        """Return the tokens of a text, or of its words, which are merged with the offsets of each word."""
        as_text, is_text = self.encode_special_tokens, isinstance(sequence, str)
        words = [sequence] if isinstance(sequence, str) else sequence
        if fast:  # as in the library, which does not tell the texts of a pair apart
            ids = [i for word in words for i in self.encoder.ids(word, self.added, as_text=as_text)]
            return Encoding.of(ids, 0, [""] * len(ids), special=0, attention=1)
        parts = [
            self.encoder.encode(word, self.added, as_text=as_text, type_id=type_id, word=None if is_text else k)
            for k, word in enumerate(words)
        ]
        return parts[0] if is_text else Encoding.merge(parts, False)

    def finished(self, first: Encoding, second: Encoding | None, adds: bool) -> Encoding:
        """Return an encoding, or a pair, truncated, with special tokens, and padded."""
        if self.truncation is not None:
            self.truncation.cut(first, second, self.n_added(second is not None) if adds else 0)
        if self.post_processor is None:
            encoding = joined(first, second)
        else:
            encoding = self.post_processor.process(first, second, adds)
        if self.padding is not None:
            self.padding.fill([encoding])
        return encoding

    def n_added(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds to a text, or to a pair."""
        return 0 if self.post_processor is None else self.post_processor.num_special_tokens_to_add(is_pair)

    def decode(self, ids: Sequence[int], skips: bool) -> str:
        """Return the text of ids; `skips` leaves special tokens out."""
        names = filter(None, map(self.name_of, ids))
        tokens = [name for name in names if not (skips and name in self.added.specials)]
        return " ".join(tokens) if self.decoder is None else self.decoder.decode(tokens)


def read_file(content: bytes, path: Path, implementation: str) -> Pipeline:
    """Return the pipeline of the content of a tokenizer.json; raise `InvalidFile` naming what is not supported."""
    with naming(path), without_collecting():
        content, prepare = checked_content(content), registry.get(implementation)
        model = read_content(content, str(path), lambda: _of_model(parse_document(content)))
        return Pipeline.of(prepare(model), content)


def read_document(document: dict[str, Any], prepare: Callable[[Model], Implementation]) -> Pipeline:
    """Return the pipeline of a tokenizer.json like `read_file`; raise `InvalidModel`."""
    content = msgspec.json.encode(document)
    return Pipeline.of(prepare(read(_of_model(parse_document(content)), "tokenizer.json")), content)


def _of_model(document: Any) -> dict[str, Any]:
    """Return the part of a tokenizer.json that its model is read from.

    It has no added tokens outside the vocabulary: they are found here, not by the model, which only needs to know which
    entries of its vocabulary they are. Before training only the parts are used, so that any vocabulary will do.
    """
    bpe = document.get("model") if isinstance(document, dict) else None
    if not isinstance(bpe, dict):
        raise InvalidModel("model: an object is expected; this is not a tokenizer.json")
    check_kind(bpe.get("type", "BPE"))
    if bpe.get("vocab") == {}:
        prefix = bpe.get("continuing_subword_prefix")
        untrained = {"vocab": LETTERS, "merges": list[str](), "continuing_subword_prefix": prefix}
        return {**document, "model": untrained, "added_tokens": [], "post_processor": None}
    read_decoder(document.get("decoder"))  # refuses what a model would warn of
    vocab = check_ids(bpe.get("vocab"), "model.vocab")
    added, _ = AddedTokens(vocab).with_(read_entries(document.get("added_tokens")))
    listed = [(name, i) for name, i in added.ids.items() if name in vocab or name == bpe.get("unk_token")]
    known = [{"content": name, "id": i, "special": name in added.specials} for name, i in listed]
    return {**document, "added_tokens": known, "post_processor": None}
