"""The rules by which a model's ids are decoded, as data: those of SentencePiece, of a file's decoder, or none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from impls.core.errors import UnknownId
from impls.core.model import Model
from impls.core.text.decoder_steps import TokenDecoder
from impls.core.text.sentencepiece_rules import SPACE_MARK

Kind = TypeVar("Kind")


def stream_rules(model: Model) -> StreamRules:
    """Return the rules of a model, made once."""
    return model.derived(_stream_rules)


def _stream_rules(model: Model) -> StreamRules:
    rules, special = model.sentencepiece, frozenset(model.special_tokens.values())
    if model.token_decoder is not None:
        of_decoder = rules_of_decoder(model.token_decoder, model.names_by_id, special)
        by_id = of_decoder.bytes_by_id if model.token_decoder.joins_bytes else model.bytes_by_id()
        return replace(of_decoder, unknown_id=model.unknown_id, bytes_by_id=by_id)
    marked: Iterable[int] = ()
    if rules is not None and rules.hides_prefix:
        mark = SPACE_MARK.encode()
        marked = (i for token, i in model.id_by_token.items() if token.startswith(mark))
    removes_all_marks = rules is not None and rules.remove_extra_spaces
    byte_ids = None if rules is None else frozenset(rules.byte_ids) - {-1}
    return StreamRules(model.bytes_by_id(), special, model.unknown_id, frozenset(marked), removes_all_marks, byte_ids)


class TokenSizes(NamedTuple):
    """What each token holds, by id: arrays of shape (n_ids,)."""

    n_bytes: np.ndarray
    n_characters: np.ndarray
    """Characters that begin in it."""
    are_within: np.ndarray
    """Whether it begins within a character."""


@dataclass(frozen=True)
class StreamRules:
    """The rules by which a model's ids are decoded."""

    bytes_by_id: Mapping[int, bytes]
    special_ids: Collection[int]
    unknown_id: int | None
    ids_with_mark: Collection[int]
    """Tokens whose leading space is removed at the beginning of a text."""
    removes_all_marks: bool
    """Whether removal continues after a token that is then empty."""
    byte_ids: Collection[int] | None
    """SentencePiece's byte tokens; None for any other model."""
    decoder: TokenDecoder | None = None
    """The steps of a file's decoder, applied to names unless it joins bytes."""
    names_by_id: Mapping[int, str] = field(default_factory=dict)
    text_by_id: dict[int, str] = field(default_factory=dict)
    """Texts of ids that are whole characters and not special: a cache, filled by ids pushed alone."""

    @property
    def joins_runs(self) -> bool:
        """Return whether byte tokens in a row that are not UTF-8 become a U+FFFD each, and the space that begins a
        text is removed from the text rather than from its first token."""
        return self.decoder is not None and self.byte_ids is not None

    def token_names(self, ids: Sequence[int], skipped: Collection[int] = (), n_before: int = 0) -> list[str]:
        """Return the texts of tokens but skipped ones; raise `UnknownId` like `token_bytes`."""
        names = self._known(self.names_by_id, ids, n_before)
        return [name for i, name in zip(ids, names, strict=True) if i not in skipped]

    def token_bytes(
        self, ids: Sequence[int], *, begins: bool, skipped: Collection[int] = (), n_before: int = 0
    ) -> tuple[list[bytes], bool]:
        """Return the bytes of each id, b"" for a skipped one, and whether the text is still empty after them.

        `begins` says whether the text begins with them. Raise `UnknownId` with its position, counted from `n_before`.
        """
        tokens = self._known(self.bytes_by_id, ids, n_before)
        if skipped:
            tokens = [b"" if i in skipped else token for i, token in zip(ids, tokens, strict=True)]
        for position, i in enumerate(ids if begins else ()):
            if tokens[position] and i in self.ids_with_mark:
                tokens[position] = tokens[position][1:]
                begins = self.removes_all_marks
            if not (begins := begins and not tokens[position]):
                break
        return tokens, begins

    def _known(self, by_id: Mapping[int, Kind], ids: Sequence[int], n_before: int) -> list[Kind]:
        """Return the value of each id, or else that of the unknown token; raise `UnknownId`."""
        try:
            return [by_id[i] for i in ids]
        except KeyError:
            if self.unknown_id is None:
                position = next(position for position, i in enumerate(ids) if i not in by_id)
                raise UnknownId(ids[position], n_before + position) from None
        return [by_id[i if i in by_id else self.unknown_id] for i in ids]

    @cached_property
    def sizes(self) -> TokenSizes:
        """Return the sizes of tokens by id; those of an unknown one are 0."""
        ids = range(max(self.bytes_by_id, default=-1) + 1)
        tokens = [self.bytes_by_id.get(i, b"") if i != self.unknown_id else b"" for i in ids]
        n_bytes = np.array(list(map(len, tokens)), np.int64)
        ends = n_bytes.cumsum()
        begins = np.append((np.frombuffer(b"".join(tokens), np.uint8) & 0xC0) != 0x80, True)
        n_before = np.append(0, begins.cumsum())
        are_within = ~begins[ends - n_bytes] & (n_bytes > 0)
        return TokenSizes(n_bytes, n_before[ends] - n_before[ends - n_bytes], are_within)

    @cached_property
    def continuations(self) -> frozenset[bytes]:
        """Return the beginnings of all tokens that may continue a character."""
        return frozenset(token[:3] for token in self.bytes_by_id.values() if token[:1] and 0x80 <= token[0] < 0xC0)


def rules_of_decoder(decoder: TokenDecoder, names: Mapping[int, str], special_ids: Collection[int]) -> StreamRules:
    """Return the rules of a file's decoder for tokens with these names, all of which are known; their bytes only if it
    joins bytes."""
    by_id, byte_ids = decoder.bytes_by_id(names) if decoder.joins_bytes else ({}, None)
    with_mark = frozenset(i for i, data in by_id.items() if decoder.strips and data.startswith(b" "))
    return StreamRules(by_id, special_ids, None, with_mark, False, byte_ids, decoder, names)
