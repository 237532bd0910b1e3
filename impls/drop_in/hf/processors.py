"""Post-processors, which put special tokens around texts (`TemplateProcessing`) or trim offsets (`ByteLevel`).

    single "<s> $A </s>", pair "<s> $A </s> $B:1 </s>:1"

They are read from tokenizer.json's `post_processor`, or made from an object of the library's `tokenizers.processors`.
Knows no tokenizer.
"""

from __future__ import annotations

from typing import Any

import msgspec

from impls.core.errors import InvalidModel
from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER
from impls.core.text.normalization import WHITE_SPACE
from impls.drop_in.hf.arguments import flag
from impls.drop_in.hf.encoding import Encoding
from impls.drop_in.hf.parts import given_document
from impls.formats.files import converted

_BLANKS = WHITE_SPACE + BYTE_TO_CHARACTER[ord(" ")]


class PostProcessor(msgspec.Struct, frozen=True, tag=True):
    """The interface of the post-processors."""

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the encodings, which may be modified, in the order they are merged."""
        raise NotImplementedError

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens are added to one text, or to a pair."""
        return 0

    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Return one encoding of a text, or of a pair."""
        encodings = [one.copy() for one in (encoding, pair) if one is not None]
        for index, one in enumerate(encodings):
            for part in (one, *one.overflowing):
                part.set_sequence_id(index)
            one.type_ids = [index] * len(one)
        return Encoding.merge(self.steps(encodings, flag("add_special_tokens", add_special_tokens)), False)


class ByteLevel(PostProcessor, frozen=True, tag=True):
    """Leaves the white space at the ends of tokens out of their offsets."""

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the encodings with trimmed offsets."""
        for index, encoding in enumerate(encodings):
            for part in (encoding, *encoding.overflowing) if self.trim_offsets else ():
                spans = enumerate(zip(part.tokens, part.offsets, strict=True))
                part.offsets = [self._trimmed(token, *span, k == 0 or span[0] == 0) for k, (token, span) in spans]
            encoding.set_sequence_id(index)
        return encodings

    def _trimmed(self, token: str, start: int, end: int, is_first: bool) -> tuple[int, int]:
        leading = len(token) - len(token.lstrip(_BLANKS))
        trailing = len(token) - len(token.rstrip(_BLANKS))
        if not (leading == 1 and is_first and self.add_prefix_space):  # such a space may not be in the text
            start = min(start + leading, end)
        return start, max(end - trailing, start) if end >= trailing else end


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


class Sequence(PostProcessor, frozen=True, tag=True):
    """Post-processors one after another."""

    processors: tuple[ByteLevel | TemplateProcessing | Sequence, ...]

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens all of them add to one text, or to a pair."""
        return sum(step.num_special_tokens_to_add(is_pair) for step in self.processors)

    def steps(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Apply all post-processors in order."""
        for step in self.processors:
            encodings = step.steps(encodings, add_special_tokens)
        return encodings


def read_processor(document: Any) -> PostProcessor | None:
    """Return the post-processor of tokenizer.json; raise `InvalidModel` naming what is invalid or not supported."""
    if document is None:
        return None
    try:
        return converted([document], list[ByteLevel | TemplateProcessing | Sequence])[0]
    except InvalidModel as error:
        known = "ByteLevel, TemplateProcessing, and a Sequence of them"
        raise InvalidModel(f"post_processor: {error}; supported are {known}") from None


def given_processor(given: Any) -> PostProcessor | None:
    """Return the post-processor to set: one of these classes, or made from an object of the library.

    Raise TypeError for anything else.
    """
    if given is None or isinstance(given, PostProcessor):
        return given
    return read_processor(given_document("post_processor", "a post-processor", "num_special_tokens_to_add", given))


def joined(encoding: Encoding, pair: Encoding | None) -> Encoding:
    """Return the result of a tokenizer without a post-processor for a text, or for a pair."""
    if pair is None:
        return encoding
    encoding.set_sequence_id(0)
    pair.set_sequence_id(1)
    return Encoding.merge([encoding, pair], False)
