"""Post-processors, which put special tokens around texts or trim offsets (`ByteLevel`), or both (`RobertaProcessing`).

    single "<s> $A </s>", pair "<s> $A </s> $B:1 </s>:1"

They are read from tokenizer.json's `post_processor`, or made from an object of the library's `tokenizers.processors`.
Knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from impls.core.errors import InvalidModel
from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER
from impls.core.text.normalization import WHITE_SPACE
from impls.drop_in.hf.arguments import flag
from impls.drop_in.hf.encoding import Encoding
from impls.drop_in.hf.not_provided import no_items
from impls.formats.files import converted

Token = tuple[str, int]
_BLANKS = WHITE_SPACE + BYTE_TO_CHARACTER[ord(" ")]


class PostProcessor(msgspec.Struct, frozen=True, tag=True):
    """The interface of the post-processors."""

    _n_added: ClassVar = (0, 0)
    """How many tokens are added to one text, and to a pair."""

    __getitem__ = no_items

    def __getstate__(self) -> bytes:
        return msgspec.json.encode(self)

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the encodings, which may be modified, in the order they are merged."""
        raise NotImplementedError

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens are added to one text, or to a pair."""
        return self._n_added[flag("is_pair", is_pair)]

    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Return one encoding of a text, or of a pair."""
        encodings = [text.copy() for text in (encoding, pair) if text is not None]
        for index, text in enumerate(encodings):
            for part in (text, *text.overflowing):
                part.set_sequence_id(index)
            text.type_ids = [index] * len(text)
        return Encoding.merge(self.steps(encodings, flag("add_special_tokens", add_special_tokens)), False)


class ByteLevel(PostProcessor, frozen=True, tag=True):
    """Leaves the white space at the ends of tokens out of their offsets."""

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the encodings with trimmed offsets."""
        for index, encoding in enumerate(encodings):
            if self.trim_offsets:
                _trim(encoding, self.add_prefix_space)
            encoding.set_sequence_id(index)
        return encodings


def _trim(encoding: Encoding, has_prefix_space: bool) -> None:
    """Leave the white space at the ends of tokens out of their offsets; the first space may not be in the text."""
    for part in (encoding, *encoding.overflowing):
        for k, (token, (start, end)) in enumerate(zip(part.tokens, part.offsets, strict=True)):
            leading, trailing = len(token) - len(token.lstrip(_BLANKS)), len(token) - len(token.rstrip(_BLANKS))
            if not (leading == 1 and has_prefix_space and 0 in (k, start)):
                start = min(start + leading, end)
            part.offsets[k] = start, max(end - trailing, start) if end >= trailing else end


class BertProcessing(PostProcessor, frozen=True, tag=True):
    """Puts `cls` before a text, and `sep` after each text of a pair."""

    sep: Token
    cls: Token
    _n_added = (2, 3)

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the texts with the tokens around them; those of the second are of type 1, `cls` and the first `sep`
        of type 0."""
        if add_special_tokens:
            return [_around(text, k, ((self.cls,), ())[k], self.sep, k) for k, text in enumerate(encodings)]
        return encodings


class RobertaProcessing(PostProcessor, frozen=True, tag=True):
    """Puts `cls` and `sep` around a text, two `sep` around the second of a pair, and trims offsets as `ByteLevel`."""

    sep: Token
    cls: Token
    trim_offsets: bool = True
    add_prefix_space: bool = True
    _n_added = (2, 4)

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the texts with trimmed offsets and the tokens around them, all of type 0."""
        for encoding in encodings:
            if self.trim_offsets:
                _trim(encoding, self.add_prefix_space)
            for part in (encoding, *(encoding.overflowing if add_special_tokens else ())):  # like the library
                part.type_ids = [0] * len(part)
        if add_special_tokens:
            return [_around(text, k, ((self.cls, self.sep)[k],), self.sep, 0) for k, text in enumerate(encodings)]
        return encodings


def _special(tokens: Sequence[Token], type_id: int) -> Encoding:
    return Encoding.of([i for _, i in tokens], type_id, [name for name, _ in tokens], special=1, attention=1)


def _around(encoding: Encoding, index: int, before: Sequence[Token], after: Token, type_id: int) -> Encoding:
    """Return the tokens of text `index`, and its overflowing parts, with tokens around them."""
    for part in (encoding, *encoding.overflowing):
        part.special_tokens_mask, part.attention_mask = [0] * len(part), [1] * len(part)
        part.sequence_ranges = {index: range(len(part))}
    return Encoding.merge([_special(before, type_id), encoding, _special((after,), type_id)], False)


class _Place(msgspec.Struct, frozen=True):
    id: str
    type_id: int


class _Piece(msgspec.Struct, frozen=True, omit_defaults=True, rename={"special": "SpecialToken", "text": "Sequence"}):
    text: _Place | None = None
    special: _Place | None = None


class _Tokens(msgspec.Struct, frozen=True):
    id: str
    ids: list[int]
    tokens: list[str]


class TemplateProcessing(PostProcessor, frozen=True, tag=True):
    """Puts special tokens around one text or a pair; a name may stand for several tokens."""

    single: tuple[_Piece, ...]
    pair: tuple[_Piece, ...]
    special_tokens: dict[str, _Tokens]

    def __post_init__(self) -> None:
        for side, pieces in (("single", self.single), ("pair", self.pair)):
            for piece in pieces:
                if (piece.text is None) == (piece.special is None):
                    raise ValueError(f"{side} has a place that is not one Sequence or one SpecialToken")
                if piece.special is not None and piece.special.id not in self.special_tokens:
                    raise ValueError(f"{side} has {piece.special.id!r}, which is not among the special_tokens")
                if piece.text is not None and piece.text.id not in ("A", "B")[: 1 + (side == "pair")]:
                    raise ValueError(f"{side} has no text {piece.text.id!r}")
        for name, entry in self.special_tokens.items():
            if len(entry.ids) != len(entry.tokens):
                raise ValueError(f"{name!r} has {len(entry.ids)} ids and {len(entry.tokens)} tokens")

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens are added to one text, or to a pair."""
        pieces = self.pair if flag("is_pair", is_pair) else self.single
        return sum(len(self.special_tokens[piece.special.id].ids) for piece in pieces if piece.special is not None)

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts of the template in order."""
        written: list[Encoding] = []
        for piece in self.pair if len(encodings) > 1 else self.single:
            if piece.text is not None:
                index = "AB".index(piece.text.id)
                encoding = encodings[index].copy()
                encoding.type_ids = [piece.text.type_id] * len(encoding)
                encoding.set_sequence_id(index)
                written.append(encoding)
            elif piece.special is not None and add_special_tokens:
                entry = self.special_tokens[piece.special.id]
                written.append(Encoding.of(entry.ids, piece.special.type_id, entry.tokens, special=1, attention=1))
        return written


class Chain(PostProcessor, frozen=True, tag="Sequence"):
    """Post-processors one after another."""

    processors: tuple[Step, ...]

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens all of them add to one text, or to a pair."""
        return sum(step.num_special_tokens_to_add(is_pair) for step in self.processors)

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Apply all post-processors in order."""
        for step in self.processors:
            encodings = step.steps(encodings, add_special_tokens)
        return encodings


Step = ByteLevel | TemplateProcessing | BertProcessing | RobertaProcessing | Chain


def read_processor(document: Any) -> PostProcessor | None:
    """Return the post-processor of tokenizer.json; raise `InvalidModel` naming what is invalid or not supported."""
    if document is None:
        return None
    try:
        return converted([document], list[Step])[0]
    except InvalidModel as error:
        known = "ByteLevel, TemplateProcessing, BertProcessing, RobertaProcessing, and a Sequence of them"
        raise InvalidModel(f"post_processor: {error}; supported are {known}") from None
