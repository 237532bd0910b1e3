"""The `Model`: what training learned, as immutable data, checked on construction. Runs nothing.

A model with merge rule `pairs` merges only the listed pairs (Hugging Face, our own trainers); with `concatenation`
any two neighbours whose joined bytes are a token merge, and the token's id is the rank (tiktoken rank files).
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from impls.errors import InvalidModel, UnknownSymbol
from impls.patterns import resolve

MAX_ID = 2**31 - 1
_NORMALIZATIONS = ("nfc",)


@dataclass(frozen=True, kw_only=True)
class Model:
    """Tokens, merges and the rules they are used by. Raises `InvalidModel` naming the entry that is wrong.

    Refused: a missing byte (alphabet `bytes`), one token under two ids, an id out of range, a merge of unknown
    parts, a special token whose text is a token under another id. Kept, and listed in `irregularities`:
    non-monotone ranks, tokens with several or no derivations, duplicate merges.
    """

    tokens: tuple[bytes | None, ...]
    """Token bytes by id; None for a gap (a special token's id, or none's)."""
    merges: tuple[tuple[int, int], ...] = ()
    """(left id, right id) in rank order; empty for the rule `concatenation`, where ids are ranks."""
    merge_counts: tuple[int, ...] | None = None
    """How often each merge's pair occurred when it was learned."""
    pattern: tuple[str, ...] = ()
    """Split stages, as expressions; empty: each text is one piece."""
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    """Text -> id, recognised only when allowed."""
    added_tokens: Mapping[str, int] = field(default_factory=dict)
    """Text -> id, always recognised (Hugging Face's added tokens)."""
    normalization: str | None = None
    """None or 'nfc', applied before splitting."""
    alphabet: Literal["bytes", "chars"] = "bytes"
    merge_rule: Literal["pairs", "concatenation"] = "pairs"
    ignore_merges: bool = False
    """Hugging Face's flag: a whole piece that is in the vocabulary is one token."""
    id_offset: int = 0
    """How far the vocabulary's ids were shifted from its ranks (tekken: 1000); `tokens` is by final id."""
    end_of_word: str | None = None
    unknown: str | None = None
    """Text of the unknown token."""
    unknown_id: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        object.__setattr__(self, "merges", tuple((left, right) for left, right in self.merges))
        object.__setattr__(self, "pattern", resolve(self.pattern))
        for name in ("special_tokens", "added_tokens"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if self.merge_counts is not None:
            object.__setattr__(self, "merge_counts", tuple(self.merge_counts))
        _check(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # What is costly to derive travels along, once it is known.
        return _restore, (self._fields(), self.__dict__.get("recovered_merges"))

    def _fields(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["special_tokens"] = dict(self.special_tokens)
        fields["added_tokens"] = dict(self.added_tokens)
        return fields

    # --- files ---------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the suite's own JSON, atomically."""
        from impls.formats import save

        save(self, Path(path), "bpebench")

    @staticmethod
    def load(path: str | Path) -> Model:
        """Read a model file of any format `impls.formats` knows; raises `InvalidFile`."""
        from impls.formats import load

        return load(Path(path))

    def with_(self, **changes: Any) -> Model:
        """A copy with other fields, checked again."""
        return replace(self, **changes)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the content, the same on every machine."""
        content = {
            name: value if not isinstance(value, tuple) or name == "pattern" else None
            for name, value in self._fields().items()
        }
        hasher = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
        for token in self.tokens:
            hasher.update(b"-" if token is None else b"%d:%b" % (len(token), token))
        hasher.update(repr((self.merges, self.merge_counts)).encode())
        return hasher.hexdigest()

    # --- looking things up ---------------------------------------------------------------------------------

    @cached_property
    def id_by_token(self) -> dict[bytes, int]:
        """Token bytes -> id."""
        return {token: i for i, token in enumerate(self.tokens) if token is not None}

    @cached_property
    def merge_results(self) -> tuple[int, ...]:
        """The id each merge makes, in rank order."""
        tokens, ids = self.tokens, self.id_by_token
        return tuple(ids[tokens[left] + tokens[right]] for left, right in self.merges)  # type: ignore[operator]

    @cached_property
    def whole_token_ids(self) -> dict[str, int]:
        """Special and added tokens: text -> id."""
        return {**self.special_tokens, **self.added_tokens}

    @cached_property
    def vocab_size(self) -> int:
        """One more than the largest id."""
        others = [*self.whole_token_ids.values(), *([] if self.unknown_id is None else [self.unknown_id])]
        return max([len(self.tokens), *(i + 1 for i in others)])

    @cached_property
    def n_tokens(self) -> int:
        """How many ids have a text: tokens, special, added and unknown tokens."""
        return len(self.bytes_by_id())

    def bytes_by_id(self) -> dict[int, bytes]:
        """What each id decodes to; `end_of_word` becomes a space."""
        by_id = {i: token for i, token in enumerate(self.tokens) if token is not None}
        if self.end_of_word is not None:
            suffix = self.end_of_word.encode()
            by_id = {
                i: token.removesuffix(suffix) + b" " if token.endswith(suffix) else token for i, token in by_id.items()
            }
        by_id |= {i: text.encode() for text, i in self.whole_token_ids.items()}
        if self.unknown is not None and self.unknown_id is not None:
            by_id[self.unknown_id] = self.unknown.encode()
        return by_id

    @cached_property
    def _byte_ids(self) -> list[int]:
        return [self.id_by_token[bytes([byte])] for byte in range(256)]

    def symbols(self, piece: str) -> list[int]:
        """Ids of the base symbols of a piece, where every merge starts from.

        Raises `UnknownSymbol` (offset within the piece) for a character the model does not have, unless it has
        an unknown token.
        """
        if self.alphabet == "bytes":
            byte_ids = self._byte_ids
            return [byte_ids[byte] for byte in piece.encode()]
        ids: list[int] = []
        last = len(piece) - 1
        for offset, character in enumerate(piece):
            symbol = character.encode()
            if self.end_of_word is not None and offset == last:
                symbol += self.end_of_word.encode()
            i = self.id_by_token.get(symbol, self.unknown_id)
            if i is None:
                raise UnknownSymbol(character, offset)
            ids.append(i)
        return ids

    def whole_piece(self, piece: str) -> int | None:
        """The id of a piece that is one token whatever its merges: merge rule `concatenation`, `ignore_merges`."""
        if self.merge_rule == "pairs" and not self.ignore_merges:
            return None
        return self.id_by_token.get((piece + (self.end_of_word or "")).encode())

    def normalize(self, text: str) -> str:
        """`text` in the model's normal form."""
        return text if self.normalization is None else unicodedata.normalize("NFC", text)

    @cached_property
    def recovered_merges(self) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
        """The merges that ids as ranks imply, and the ids that have none; see `impls.derivations`. About a second
        for 100,000 tokens, once."""
        from impls.derivations import recovered_merges

        return recovered_merges(self)

    # --- what is unusual -----------------------------------------------------------------------------------

    @cached_property
    def irregularities(self) -> tuple[str, ...]:
        """What sets the model apart from a trained one, a line each; empty for a regular model.

        On a regular model every exact algorithm gives the same ids; on another they may differ.
        """
        from impls.derivations import irregularities

        return irregularities(self)

    @cached_property
    def lossy(self) -> str | None:
        """Why decoding may not give the text back, or None where it always does (lone surrogates aside)."""
        if self.end_of_word is not None:
            return "end_of_word: white space around words is not kept"
        if self.normalization is not None:
            return f"normalization {self.normalization}"
        if self.alphabet == "chars":
            return None if self.unknown is None else "characters outside the alphabet become the unknown token"
        return None


def _restore(fields: dict[str, Any], recovered_merges: Any) -> Model:
    model = Model(**fields)
    if recovered_merges is not None:
        model.__dict__["recovered_merges"] = recovered_merges
    return model


def _check(model: Model) -> None:
    tokens = model.tokens
    if model.alphabet not in ("bytes", "chars"):
        raise InvalidModel(f"alphabet must be 'bytes' or 'chars', not {model.alphabet!r}")
    if model.merge_rule not in ("pairs", "concatenation"):
        raise InvalidModel(f"merge_rule must be 'pairs' or 'concatenation', not {model.merge_rule!r}")
    if model.normalization is not None and model.normalization not in _NORMALIZATIONS:
        raise InvalidModel(f"normalization {model.normalization!r} is not one of: {', '.join(_NORMALIZATIONS)}")
    if (model.unknown is None) != (model.unknown_id is None):
        raise InvalidModel("unknown and unknown_id go together")
    if model.merge_rule == "concatenation" and model.merges:
        raise InvalidModel("the rule 'concatenation' takes ranks from the ids and has no list of merges")
    if model.merge_counts is not None and len(model.merge_counts) != len(model.merges):
        raise InvalidModel(f"{len(model.merges)} merges but {len(model.merge_counts)} merge counts")
    _check_tokens(model)
    for rank, (left, right) in enumerate(model.merges):
        for i in (left, right):
            if not isinstance(i, int) or not 0 <= i < len(tokens) or tokens[i] is None:
                raise InvalidModel(f"merge {rank}: no token has id {i!r}")
        joined = tokens[left] + tokens[right]  # type: ignore[operator]
        if joined not in model.id_by_token:
            raise InvalidModel(f"merge {rank}: {tokens[left]!r} and {tokens[right]!r} make no token")
    _check_whole_tokens(model)


def _check_tokens(model: Model) -> None:
    present = 0
    for i, token in enumerate(model.tokens):
        if token is None:
            continue
        if not isinstance(token, bytes) or not token:
            raise InvalidModel(f"id {i}: a token must be bytes that are not empty, not {token!r}")
        present += 1
    if len(model.id_by_token) != present:
        seen: dict[bytes, int] = {}
        for i, token in enumerate(model.tokens):
            if token is not None and seen.setdefault(token, i) != i:
                raise InvalidModel(f"the token {token!r} has two ids, {seen[token]} and {i}")
    if model.alphabet == "bytes":
        missing = [byte for byte in range(256) if bytes([byte]) not in model.id_by_token]
        if missing:
            raise InvalidModel(f"{len(missing)} of 256 byte(s) have no token, the first is 0x{missing[0]:02X}")
    elif not present:
        raise InvalidModel("a model without tokens")


def _check_whole_tokens(model: Model) -> None:
    used: dict[int, str] = {}
    whole = [*model.special_tokens.items(), *model.added_tokens.items()]
    if model.unknown is not None and model.unknown_id is not None:
        whole.append((model.unknown, model.unknown_id))
    for text, i in whole:
        if not isinstance(text, str) or not text:
            raise InvalidModel(f"a special token must be a text that is not empty, not {text!r}")
        if not isinstance(i, int) or isinstance(i, bool) or not 0 <= i <= MAX_ID:
            raise InvalidModel(f"the special token {text!r} has the id {i!r}, not a whole number up to {MAX_ID}")
        try:
            encoded = text.encode()
        except UnicodeEncodeError:
            raise InvalidModel(f"the special token {text!a} holds a lone surrogate") from None
        if model.id_by_token.get(encoded, i) != i:
            raise InvalidModel(
                f"the special token {text!r} has id {i}, but its text is a token under id {model.id_by_token[encoded]}"
            )
        if i < len(model.tokens) and model.tokens[i] not in (None, encoded):
            raise InvalidModel(f"the special token {text!r} has the id {i} of the token {model.tokens[i]!r}")
        if used.setdefault(i, text) != text:
            raise InvalidModel(f"the special tokens {used[i]!r} and {text!r} have the same id {i}")
