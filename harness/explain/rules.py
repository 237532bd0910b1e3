"""The merges of a model, as the merge algorithms look them up."""

from __future__ import annotations

from collections.abc import Sequence

from harness.printable import readable
from impls.core.model.derivations import spellings
from impls.core.model.model import Model


class Rules:
    """The merges of a model by pair: its rank and its result."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.merge = model.merge_of
        """(left, right) -> (rank, resulting id), or None."""
        self._byte_of = byte_tokens(model)
        self.longest_token_bytes = max((len(token) for token in model.id_by_token), default=1)

    def token(self, i: int) -> bytes:
        """Return the bytes of an id as in the text the merges see; for an id without a token, the unknown token's."""
        token = self.model.tokens[i] if i < len(self.model.tokens) else None
        return self._byte_of.get(i) or (token if token is not None else (self.model.unknown or "").encode())

    def spelling(self, i: int) -> list[int]:
        """Return the base symbols of a token; what does not result from merging is its own symbol."""
        if i == self.model.unknown_id or i in self._byte_of:
            return [i]
        return next(iter(spellings(self.model, self.token(i))), [])

    def texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Return the readable texts of ids."""
        return tuple(readable(self.token(i)) for i in ids)


def byte_tokens(model: Model) -> dict[int, bytes]:
    """Return the byte of each of SentencePiece's tokens for bytes of characters that are not tokens."""
    return {} if model.sentencepiece is None else {i: bytes([k]) for k, i in enumerate(model.sentencepiece.byte_ids)}


def merge_input_bytes(model: Model) -> dict[int, bytes]:
    """Return the bytes of each id as the merges see them: without end-of-word marks, with marks for spaces."""
    by_id = model.bytes_by_id() | {i: token for i, token in enumerate(model.tokens) if token is not None}
    if model.end_of_word is not None:
        by_id = {i: token.removesuffix(model.end_of_word.encode()) for i, token in by_id.items()}
    return by_id | byte_tokens(model)
