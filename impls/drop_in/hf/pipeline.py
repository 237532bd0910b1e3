"""`Pipeline`: all that a tokenizer is at one moment, from a text to its tokens and back.

    "a déjà"  ->  pieces "a", " déjà"  ->  "a", " d" "éj" "à"  ->  offsets (0, 1), (1, 3) (3, 5) (5, 6)

It is immutable: a tokenizer that is changed gets another one, so that a call, once begun, is done by the settings that
it began with. The ids are those of an implementation of the suite. A piece is a word, and so is an added token. The
tokens of a piece are consecutive, so their bytes determine which of its characters each of them covers, and
`core.text.tracing` says where these are in the original text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from impls import registry
from impls.core.errors import InvalidModel, Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE
from impls.core.text.decoder_steps import SPACES, token_decoder
from impls.core.text.tracing import Traced
from impls.drop_in.hf.added_tokens import AddedTokens, read_entries
from impls.drop_in.hf.arguments import Texts
from impls.drop_in.hf.encoding import Encoding, Padding, Span
from impls.drop_in.hf.parts import Decoder, Normalizer, PreTokenizer
from impls.drop_in.hf.post_processing import PostProcessor, read_processor
from impls.drop_in.hf.truncation import Truncation
from impls.formats.files import checked_content, naming, parse_json, without_collecting
from impls.formats.tokenizer_json.decoder_steps import read_decoder
from impls.formats.tokenizer_json.reader import check_kind, read, read_content
from impls.formats.vocabulary import check_ids
from impls.interface import Tokenizer as Implementation
from impls.operations.offsets import spans_in_text
from impls.operations.stream_rules import StreamRules, rules_of_decoder

_PARTS = ("added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")
_LENGTHS: list[Any] = [("truncation", Truncation | None, None), ("padding", Padding | None, None)]
_FIELDS: list[Any] = [("version", Any, "1.0"), *_LENGTHS, *((name, Any, None) for name in _PARTS)]
_File: Any = msgspec.defstruct("_File", [*_FIELDS, ("model", dict[str, msgspec.Raw])], kw_only=True)


@dataclass(frozen=True)
class Pipeline:
    """The steps and settings of a tokenizer."""

    document: dict[str, Any]
    """The tokenizer.json that was read, its merges as they are written; the fields below may differ from it."""
    implementation: Implementation
    names: Mapping[int, str]
    """The tokens of its ids; without any, before training, only added tokens are tokens, and all other text is dropped,
    as in the library."""
    normalizer: Normalizer | None
    pre_tokenizer: PreTokenizer | None
    added: AddedTokens
    decoder: Decoder | None
    post_processor: PostProcessor | None
    truncation: Truncation | None
    padding: Padding | None
    encode_special_tokens: bool = False

    @staticmethod
    def of(implementation: Implementation, content: bytes) -> Pipeline:
        """Return the pipeline of a valid tokenizer.json, for whose model there is an implementation.

        Raise `InvalidModel` or `Unsupported` naming what is not supported.
        """
        rules = implementation.model.sentencepiece
        if rules is not None and (rules.looks_up or rules.user_defined_ids):
            why = "its SentencePiece file normalises, or cuts pieces out, as no tokenizer.json does"
            raise Unsupported(implementation.name, why)
        try:
            file = msgspec.json.decode(content, type=_File)
            model = {name: raw if name == "merges" else msgspec.json.decode(raw) for name, raw in file.model.items()}
        except (msgspec.MsgspecError, UnicodeError) as error:  # what the other parser accepts
            raise InvalidModel(str(error)) from None
        document = msgspec.structs.asdict(file) | {"model": model}
        vocab: dict[str, int] = model["vocab"]
        normalizer = Normalizer.read(document["normalizer"])
        normal = str if normalizer is None else normalizer.normalize_str
        return Pipeline(
            document=document,
            implementation=implementation,
            names={i: name for name, i in vocab.items()},
            normalizer=normalizer,
            pre_tokenizer=PreTokenizer.read(document["pre_tokenizer"]),
            added=AddedTokens(vocab, normal).with_(read_entries(document["added_tokens"]))[0],
            decoder=Decoder.read(document["decoder"]),
            post_processor=read_processor(document["post_processor"]),
            truncation=file.truncation,
            padding=file.padding,
        )

    @property
    def written(self) -> dict[str, Any]:
        """Return the content of an equivalent tokenizer.json, for msgspec to encode."""
        model = self.document["model"]
        return self.document | {
            "model": model | {"merges": msgspec.json.decode(model.get("merges", b"[]"))},
            "truncation": self.truncation,
            "padding": self.padding,
            "added_tokens": self.added.document,
            "post_processor": self.post_processor,
            "decoder": None if self.decoder is None else self.decoder.document,
        }

    @cached_property
    def stream_rules(self) -> StreamRules:
        """Return how `DecodeStream` decodes ids one by one: by character as in the library, so that a wrong byte does
        not replace those before it."""
        special = {i for i, name in self.added.names.items() if name in self.added.specials}
        steps = token_decoder(SPACES) if self.decoder is None else self.decoder.steps
        rules = rules_of_decoder(steps, {**self.names, **self.added.names}, special)
        return replace(rules, decoder=None) if rules.byte_ids is not None else rules

    def name_of(self, i: int) -> str | None:
        """Return the token of an id, or None."""
        return self.added.names.get(i, self.names.get(i))

    def encode(self, sequence: Texts, pair: Texts | None, adds: bool, *, fast: bool = False) -> Encoding:
        """Return the tokens of a text, or of a pair; `fast` leaves out all but the ids, as `encode_batch_fast` does."""
        first = self._sequence(sequence, 0, fast)
        return self.finished(first, None if pair is None else self._sequence(pair, 1, fast), adds)

    def _sequence(self, sequence: Texts, type_id: int, fast: bool) -> Encoding:
        """Return the tokens of a text, or of its words, which are merged with the offsets of each word."""
        if fast:  # as in the library, which does not tell the texts of a pair apart
            words = [sequence] if isinstance(sequence, str) else sequence
            ids = [i for word in words for _, _, ids in self._parts(word) for i in ids]
            return Encoding.of(ids, 0, [""] * len(ids), special=0, attention=1)
        if isinstance(sequence, str):
            return self._encoded(sequence, type_id)
        return Encoding.merge([self._encoded(word, type_id, k) for k, word in enumerate(sequence)], False)

    def _encoded(self, text: str, type_id: int, word: int | None = None) -> Encoding:
        """Return the tokens of a text; `word` is the word of all, if given."""
        rows: list[tuple[int, str, Span, int]] = []
        n_words = 0
        for part, is_added, ids in self._parts(text):
            if is_added:
                rows.append((ids[0], part.text, (part.starts[0], part.ends[-1]), n_words))
                n_words += 1
            elif self.names:
                rows += [
                    (i, self.names[i], (part.starts[start], part.ends[end - 1]), n_words + k)
                    for k, i, start, end in spans_in_text(self.implementation, part.text, ids)
                ]
                n_words = rows[-1][3] + 1 if rows else 0
            else:
                n_words += sum(1 for _ in self.implementation.model.splitter.spans(part.text))
        encoding = Encoding.of([row[0] for row in rows], type_id, [row[1] for row in rows], special=0, attention=1)
        encoding.offsets = [row[2] for row in rows]
        encoding.word_ids = [row[3] if word is None else word for row in rows]
        return encoding

    def _parts(self, text: str) -> Iterator[tuple[Traced, bool, Sequence[int]]]:
        """Yield the parts of a text as they are encoded, whether each is an added token, and its ids."""
        source, as_text = Traced.of(text), self.encode_special_tokens
        for part, i, start in self.added.cut(text, normalized=False, as_text=as_text):
            original = source.part(start, start + len(part))
            if i is not None:
                yield original, True, (i,)
                continue
            normal = original if self.normalizer is None else self.normalizer.normal(original, start == 0)
            for inner, k, at in self.added.cut(normal.text, normalized=True, as_text=as_text):
                token = normal.part(at, at + len(inner))
                if k is not None:
                    yield token, True, (k,)
                    continue
                if self.pre_tokenizer is not None:
                    token = self.pre_tokenizer.marked(token, first=token.starts[0] == 0)
                is_complete = len(inner) == len(normal.text)
                yield token, False, self._ids(token.text, part if is_complete else None) if self.names else ()

    def _ids(self, text: str, original: str | None) -> Sequence[int]:
        """Return the ids of a text without added tokens; `original` is the text before it was rewritten."""
        if not self.implementation.normalizes:
            return self.implementation.encode_normalized(text)
        if original is None:
            why = "rewrites texts itself, so tokens cannot be searched in rewritten text; take another implementation"
            raise Unsupported(self.implementation.name, why)
        return self.implementation.encode_normalized(original)

    def finished(self, first: Encoding, second: Encoding | None, adds: bool) -> Encoding:
        """Return an encoding, or a pair, truncated, with special tokens, and padded."""
        if self.truncation is not None:
            self.truncation.cut(first, second, self.n_added(second is not None) if adds else 0)
        encoding = first
        if self.post_processor is not None:
            encoding = self.post_processor.process(first, second, adds)
        elif second is not None:
            first.set_sequence_id(0)
            second.set_sequence_id(1)
            encoding = Encoding.merge([first, second], False)
        if self.padding is not None:
            self.padding.fill([encoding])
        return encoding

    def n_added(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds to a text, or to a pair."""
        return 0 if self.post_processor is None else self.post_processor.num_special_tokens_to_add(is_pair)

    def decode(self, ids: Sequence[int], skips: bool) -> str:
        """Return the text of ids; `skips` leaves special tokens out."""
        left_out = self.added.specials if skips else ()
        tokens = [name for name in map(self.name_of, ids) if name and name not in left_out]
        return " ".join(tokens) if self.decoder is None else self.decoder.decode(tokens)


def read_file(content: bytes, path: Path, implementation: str) -> Pipeline:
    """Return the pipeline of the content of a tokenizer.json; raise `InvalidFile` naming what is not supported."""
    with naming(path), without_collecting():
        content, prepare = checked_content(content), registry.get(implementation)
        model = read_content(content, str(path), _of_model)
        return Pipeline.of(prepare(model), content)


def read_document(document: dict[str, Any], prepare: Callable[[Model], Implementation]) -> Pipeline:
    """Return the pipeline of a tokenizer.json like `read_file`; raise `InvalidModel`."""
    content = msgspec.json.encode(document)
    return Pipeline.of(prepare(read(_of_model(parse_json(content)), "tokenizer.json")), content)


def _of_model(document: Any) -> dict[str, Any]:
    """Return the part of a tokenizer.json that its model is read from.

    It has no added tokens outside the vocabulary: they are found here, not by the model, which only needs to know which
    entries of its vocabulary are not made of its symbols. One that may be bytes in printable characters (`İ` is 0x8E)
    is a token of the model, whatever its text. Before training only the parts are used, so that any vocabulary will do.
    """
    bpe = document.get("model") if isinstance(document, dict) else None
    if not isinstance(bpe, dict):
        raise InvalidModel("model: expected an object; this is not a tokenizer.json")
    check_kind(bpe.get("type", "BPE"))
    if bpe.get("vocab") == {}:
        prefix = bpe.get("continuing_subword_prefix")
        untrained = {"vocab": CHARACTER_TO_BYTE, "merges": list[str](), "continuing_subword_prefix": prefix}
        return {**document, "model": untrained, "added_tokens": [], "post_processor": None}
    read_decoder(document.get("decoder"))  # refuses what a model would warn of
    vocab = check_ids(bpe.get("vocab"), "model.vocab")
    added, _ = AddedTokens(vocab).with_(read_entries(document.get("added_tokens")))
    printed = {name for name in added.ids if not name.isascii() and CHARACTER_TO_BYTE.keys() >= set(name)}
    own = (added.ids.keys() & vocab.keys()) - printed
    listed = [(name, i) for name, i in added.ids.items() if name in own or name == bpe.get("unk_token")]
    known = [{"content": name, "id": i, "special": name in added.specials} for name, i in listed]
    return {**document, "added_tokens": known, "post_processor": None}
