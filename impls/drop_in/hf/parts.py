"""The parts of a tokenizer that are objects of their own: `Normalizer`, `PreTokenizer`, `Decoder`, and what all
parts share.

A part is its form in tokenizer.json. One of this module, or of the library's, may be set: both give that form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import msgspec

from impls.core.arguments import wrong_type
from impls.core.errors import InvalidModel
from impls.core.model import Model
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE, to_printable
from impls.core.text.decoder_steps import TokenDecoder, token_decoder
from impls.core.text.patterns import Splitter
from impls.core.text.tracing import Rewriting, Traced
from impls.drop_in.hf.arguments import items, text
from impls.drop_in.hf.encoding import Span
from impls.drop_in.hf.not_provided import NOT_PROVIDED, no_items, refuse
from impls.formats.tokenizer_json.decoder_steps import read_decoder
from impls.formats.tokenizer_json.document import BpeSettings
from impls.formats.tokenizer_json.reader import read_with_notes


class Part:
    """A step of tokenizer.json, immutable; its fields are attributes."""

    document: dict[str, Any]

    def __init__(self, document: dict[str, Any], **own: Any) -> None:
        self.__dict__.update(own, document=document)  # no attribute can be set

    @classmethod
    def read(cls, document: Any) -> Self | None:
        """Return the part in this form; raise `InvalidModel` naming the step that is not supported."""
        return None if document is None else cls(document)

    def __getattr__(self, name: str) -> Any:
        fields = {field: value for field, value in self.document.items() if field != "type"}
        if name in fields:
            return fields[name]
        if name in NOT_PROVIDED[type(self).__name__] or name.startswith("__"):
            refuse(type(self).__name__, name)
        raise AttributeError(f"{self.document['type']} has no {name!r}; it has {', '.join(fields) or 'no fields'}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set on a {type(self).__name__}; set another one on the tokenizer")

    __getitem__ = no_items

    def __getstate__(self) -> bytes:
        return msgspec.json.encode(self.document)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.document,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.document == self.document

    def __hash__(self) -> int:
        return hash(self.__getstate__())

    def __repr__(self) -> str:
        written = self.__getstate__().decode()
        return f"{type(self).__name__}({written if len(written) < 200 else written[:200] + '…'})"


class BPE(BpeSettings):
    """The settings of the model, with the names they have in `tokenizers.models.BPE`; they cannot be changed."""

    def __getattr__(self, name: str) -> Any:
        refuse("BPE", name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set; change it in a tokenizer.json and load that")


class Normalizer(Part):
    """The `normalizer` of tokenizer.json; raise `InvalidModel` naming the step that is not supported."""

    normal: Callable[[Traced, bool], Traced]
    """Returns a part of a text in normal form; the flag says whether it begins the text."""

    def __init__(self, document: dict[str, Any]) -> None:
        model = _model_with("normalizer", document)
        rewriting = Rewriting(model.normalization_steps, model.charsmap, model.writing_rules)
        super().__init__(document, normal=rewriting.traced)

    def normalize_str(self, sequence: str) -> str:
        """Return a text in normal form."""
        return self.normal(Traced.of(text("sequence", sequence)), True).text


class PreTokenizer(Part):
    """The `pre_tokenizer` of tokenizer.json; raise `InvalidModel` naming the step that is not supported."""

    def __init__(self, document: dict[str, Any]) -> None:
        model = _model_with("pre_tokenizer", document)
        marks = Rewriting(model.normalization_steps, rules=model.writing_rules)
        splitter = Splitter(model.pattern)
        super().__init__(document, is_byte_level=model.alphabet == "bytes", _marks=marks, _splitter=splitter)

    def marked(self, part: Traced, first: bool) -> Traced:
        """Return a part of a text in normal form as it is split: with marks for spaces, or a space before it."""
        return part.with_prefix(self._marks(part.text, first))

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, Span]]:
        """Return the pieces of a text, in printable characters if they are bytes, with their start and end in it."""
        pieces = self.pieces(text("sequence", sequence))
        if self.is_byte_level:
            return [(to_printable(piece.encode()), span) for piece, span in pieces]
        return list(pieces)

    def pieces(self, sequence: str) -> Iterator[tuple[str, Span]]:
        """Yield the pieces of a text, with their start and end in it."""
        part = self.marked(Traced.of(sequence), first=True)
        for start, end in self._splitter.spans(part.text) if sequence else ():
            yield part.text[start:end], (part.starts[start], part.ends[end - 1])


class Decoder(Part):
    """The `decoder` of tokenizer.json; raise `InvalidModel` naming the step that is not supported."""

    steps: TokenDecoder

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document, steps=token_decoder(read_decoder(document)))

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens; raise TypeError for anything else."""
        return self.steps.text([text(f"tokens[{k}]", token) for k, token in enumerate(items("tokens", tokens))])


def _model_with(part: str, document: dict[str, Any]) -> Model:
    """Return a model, of which only the normalization and the pattern are used, with this part."""
    return read_with_notes({"model": {"vocab": CHARACTER_TO_BYTE, "merges": []}, part: document})[0]


def given_document(name: str, what: str, method: str, given: Any) -> dict[str, Any]:
    """Return the form in tokenizer.json of a part, or of an object of the library, which have `method`.

    Raise TypeError for anything else, and `InvalidModel` for Python code.
    """
    if not hasattr(given, method):
        raise wrong_type(name, what, given)
    try:
        state = given.__getstate__()
    except Exception as error:  # of the library, which has no type for it
        raise InvalidModel(f"{name}: {error}; set one that can be written to a tokenizer.json") from None
    if not isinstance(state, bytes):
        raise wrong_type(name, what, given)
    return msgspec.json.decode(state, type=dict[str, Any])
