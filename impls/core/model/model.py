"""The `Model`: what training learned, as immutable data, checked on construction. Runs nothing.

A model with merge rule `pairs` merges only the listed pairs (Hugging Face, our own trainers); with `concatenation`
any two neighbours whose joined bytes are a token merge, and the token's id is the rank (tiktoken rank files).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from impls.core.errors import UnknownSymbol
from impls.core.model.checks import check_model
from impls.core.model.packed import PackedModel, pack
from impls.core.round_trip import round_trip_of
from impls.core.text.normalization import normalizer
from impls.core.text.patterns import resolve
from impls.core.text.sentencepiece_rules import SentencePieceRules, bytes_by_id, write_text


@dataclass(frozen=True, kw_only=True)
class Model:
    """Tokens, merges and the rules they are used by. Raises `InvalidModel` naming the entry that is wrong.

    Refused: a missing byte (alphabet `bytes`), one token under two ids, an id out of range, a merge of unknown
    parts, a special token whose text is a token under another id. Kept, and listed in `irregularities`:
    non-monotone ranks, tokens with several or no derivations, duplicate merges.
    """

    tokens: tuple[bytes | None, ...]
    """Token bytes by id; None for a gap: the id of a special token, or an unused one."""
    merges: tuple[tuple[int, int], ...] = field(default_factory=tuple)
    """(left id, right id) in rank order; empty for the rule `concatenation`, where ids are ranks."""
    merge_counts: tuple[int, ...] | None = None
    """How often each merge's pair occurred when it was learned."""
    pattern: tuple[str, ...] = ()
    """Split stages, as expressions; empty: each text is one piece."""
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    """Text -> id, recognised only when allowed."""
    added_tokens: Mapping[str, int] = field(default_factory=dict)
    """Text -> id, always recognised (Hugging Face's added tokens)."""
    whole_token_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Text of a special or added token -> restrictions on where it matches; see `whole_tokens`."""
    normalization: str | None = None
    """None, the names of steps (see `core.text.normalization`), or the name of the charsmap in `sentencepiece`; applied
    before splitting."""
    alphabet: Literal["bytes", "chars"] = "bytes"
    merge_rule: Literal["pairs", "concatenation"] = "pairs"
    ignore_merges: bool = False
    """Hugging Face's flag: a whole piece that is in the vocabulary is one token."""
    id_offset: int = 0
    """How far the vocabulary's ids were shifted from its ranks (tekken: 1000); `tokens` is by final id."""
    end_of_word: str | None = None
    continuing_prefix: str | None = None
    """Joined to every character of a piece but the first (Hugging Face's `continuing_subword_prefix`); the right part
    of a merge loses it. Only for listed merges over characters."""
    unknown: str | None = None
    """Text of the unknown token."""
    unknown_id: int | None = None
    sentencepiece: SentencePieceRules | None = None
    """What SentencePiece does around the merges, for a model that comes from it."""
    belongs_to: str | None = None
    """The only implementation that runs this vocabulary, which is not byte pair encoding; None: all may."""
    training_documents: str = field(default="", compare=False)
    """Hashes of the training documents (base64; see `harness.data.overlap`), empty where they are not known. They do
    not affect behaviour, and so are part of neither the digest nor a comparison."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        object.__setattr__(self, "merges", tuple((left, right) for left, right in self.merges))
        object.__setattr__(self, "pattern", resolve(self.pattern))
        for name in ("special_tokens", "added_tokens"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        flags = {text: tuple(flags) for text, flags in self.whole_token_flags.items()}
        object.__setattr__(self, "whole_token_flags", MappingProxyType(flags))
        if self.merge_counts is not None:
            object.__setattr__(self, "merge_counts", tuple(self.merge_counts))
        check_model(self)

    @staticmethod
    def restored(packed: PackedModel) -> Model:
        """Return the model `packed` was made of, without checking it again; tokens and merges are unpacked on first
        access."""
        model = object.__new__(Model)
        fields = packed.fields()
        for name in ("special_tokens", "added_tokens", "whole_token_flags"):
            fields[name] = MappingProxyType(fields[name])
        model.__dict__.update(fields, _packed=packed)
        return model

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Unpack `tokens` or `merges` of a restored model on first access."""
            if name not in ("tokens", "merges") or "_packed" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = getattr(self.__dict__["_packed"], name)()
            self.__dict__[name] = value
            return value

    def packed(self) -> PackedModel:
        """Return the model packed into bytes, without work where it was restored from them; see `core.model.packed`."""
        packed: PackedModel | None = self.__dict__.get("_packed")
        return pack(self) if packed is None else packed

    def __reduce__(self) -> tuple[Any, ...]:
        # What is costly to derive is pickled too, once it is known.
        return _restore, (self._fields(), self.__dict__.get("recovered_merges"))

    def _fields(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["special_tokens"] = dict(self.special_tokens)
        fields["added_tokens"] = dict(self.added_tokens)
        fields["whole_token_flags"] = dict(self.whole_token_flags)
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
        """Return a copy with other fields, checked again; the flags of removed special and added tokens are removed."""
        if self.whole_token_flags and "whole_token_flags" not in changes:
            kept = [changes.get(name, getattr(self, name)) for name in ("special_tokens", "added_tokens")]
            whole = {text for tokens in kept for text in tokens}
            changes["whole_token_flags"] = {t: flags for t, flags in self.whole_token_flags.items() if t in whole}
        return replace(self, **changes)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the content, the same on every machine."""
        content = {
            name: value if not isinstance(value, tuple) or name == "pattern" else None
            for name, value in self._fields().items()
            if name not in ("sentencepiece", "training_documents")
            and (value or name not in ("whole_token_flags", "belongs_to", "continuing_prefix"))
        }
        if self.sentencepiece is not None:
            rules = asdict(self.sentencepiece)
            content["sentencepiece"] = rules | {"charsmap": rules["charsmap"].hex()}
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
        if self.continuing_prefix is not None:
            return tuple(ids[self.joined(left, right)] for left, right in self.merges)
        return tuple(ids[tokens[left] + tokens[right]] for left, right in self.merges)  # type: ignore[operator]

    def joined(self, left: int, right: int) -> bytes:
        """Return the bytes of the token that merging two ids makes."""
        prefix = (self.continuing_prefix or "").encode()
        return self.tokens[left] + self.tokens[right].removeprefix(prefix)  # type: ignore[operator, union-attr]

    @cached_property
    def ranks(self) -> Sequence[int]:
        """Rank by id, for the rule `concatenation`: the lowest merges first, of equal ranks the leftmost."""
        if self.sentencepiece is not None and self.sentencepiece.ranks:
            return self.sentencepiece.ranks
        return range(len(self.tokens))

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
        """The number of ids that decode to a text: tokens, special, added and unknown tokens."""
        return len(self.bytes_by_id())

    def bytes_by_id(self) -> dict[int, bytes]:
        """Return what each id decodes to; `end_of_word` and SentencePiece's U+2581 become a space."""
        if self.sentencepiece is not None:
            return bytes_by_id(self, self.sentencepiece)
        by_id = {i: token for i, token in enumerate(self.tokens) if token is not None}
        if self.end_of_word is not None:
            suffix = self.end_of_word.encode()
            by_id = {
                i: token.removesuffix(suffix) + b" " if token.endswith(suffix) else token for i, token in by_id.items()
            }
        if self.continuing_prefix is not None:
            prefix = self.continuing_prefix.encode()
            by_id = {i: token.removeprefix(prefix) or token for i, token in by_id.items()}
        by_id |= {i: text.encode() for text, i in self.whole_token_ids.items()}
        if self.unknown is not None and self.unknown_id is not None:
            by_id[self.unknown_id] = self.unknown.encode()
        return by_id

    @cached_property
    def _byte_ids(self) -> list[int]:
        return [self.id_by_token[bytes([byte])] for byte in range(256)]

    def symbols(self, piece: str) -> list[int]:
        """Return the ids of the base symbols of a piece, from which merging starts; over bytes, the piece may contain
        invalid UTF-8 as surrogates (`surrogateescape`).

        Raise `UnknownSymbol` (offset within the piece) for a character outside the alphabet, unless the model has an
        unknown token.
        """
        if self.alphabet == "bytes":
            byte_ids = self._byte_ids
            return [byte_ids[byte] for byte in piece.encode("utf-8", "surrogateescape")]
        if self.sentencepiece is not None:
            return self._symbols_by_rules(piece, self.sentencepiece)
        ids: list[int] = []
        last = len(piece) - 1
        for offset, character in enumerate(piece):
            symbol = character.encode()
            if self.continuing_prefix is not None and offset > 0:
                symbol = self.continuing_prefix.encode() + symbol
            if self.end_of_word is not None and offset == last:
                symbol += self.end_of_word.encode()
            i = self.id_by_token.get(symbol, self.unknown_id)
            if i is None:
                raise UnknownSymbol(character, offset)
            ids.append(i)
        return ids

    def _symbols_by_rules(self, piece: str, rules: SentencePieceRules) -> list[int]:
        """Return the ids of the characters; for one that is not a token those of its bytes, or the unknown token's.

        Where some bytes are missing, the unknown token is delayed until the next character that is a token or unknown,
        so it comes after the bytes that follow it: as in Hugging Face's library.
        """
        ids: list[int] = []
        waiting: list[int] = []
        for offset, character in enumerate(piece):
            i = self.id_by_token.get(character.encode())
            if i is not None:
                ids += [*waiting, i]
                waiting = []
            elif spelled := rules.spelled(character):
                ids += spelled
            elif self.unknown_id is None:
                raise UnknownSymbol(character, offset)
            else:
                if not rules.fuse_unknown:
                    ids += waiting
                waiting = [self.unknown_id]
        return ids + waiting

    def whole_piece(self, piece: str) -> int | None:
        """Return the id of a piece that is one token whatever its merges, or None: for `ignore_merges`, and the merge
        rule `concatenation` except with SentencePiece, which has no such rule."""
        if not self.ignore_merges and (self.merge_rule == "pairs" or self.sentencepiece is not None):
            return None
        return self.id_by_token.get((piece + (self.end_of_word or "")).encode("utf-8", "surrogateescape"))

    def normalize(self, text: str, *, first: bool = True) -> str:
        """Return `text` as it is split and encoded: in the model's normal form, with SentencePiece's white space marks.

        `first` is False for a segment that follows a special token.
        """
        if self.normalization is not None and not self.has_charsmap_only:
            text = self.normalizer(text)
        if self.sentencepiece is None or not self.sentencepiece.changes_text:
            return text
        return write_text(text, self.sentencepiece, self.user_defined_texts, first=first)

    @property
    def has_charsmap_only(self) -> bool:
        """Whether `normalization` names a charsmap rather than steps."""
        return self.sentencepiece is not None and self.sentencepiece.looks_up

    @cached_property
    def normalizer(self) -> Callable[[str], str]:
        """The steps of `normalization` as a function."""
        charsmap = b"" if self.sentencepiece is None else self.sentencepiece.charsmap
        return normalizer(self.normalization, charsmap) if self.normalization and not self.has_charsmap_only else str

    @property
    def rewrites_text(self) -> bool:
        """Whether `normalize` may change a text."""
        return self.normalization is not None or (self.sentencepiece is not None and self.sentencepiece.changes_text)

    @cached_property
    def user_defined_texts(self) -> frozenset[str]:
        """The texts of `sentencepiece.user_defined_ids`."""
        ids = () if self.sentencepiece is None else self.sentencepiece.user_defined_ids
        return frozenset((self.tokens[i] or b"").decode() for i in ids)

    @cached_property
    def equal_ranks(self) -> tuple[int, ...]:
        """Tokens of the rule `concatenation` that share their rank with another."""
        from impls.core.model.derivations import equal_ranks

        return equal_ranks(self)

    @cached_property
    def unused_parts(self) -> dict[int, tuple[int, ...]]:
        """The ids that replace each token of `sentencepiece.unused_ids`; see `impls.core.model.derivations`."""
        from impls.core.model.derivations import unused_parts

        return unused_parts(self)

    @cached_property
    def recovered_merges(self) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
        """The merges that ids as ranks imply, and the ids without one; see `derivations`. Computed once, in about a
        second for 100,000 tokens."""
        from impls.core.model.derivations import recovered_merges

        return recovered_merges(self)

    # --- what is unusual -----------------------------------------------------------------------------------

    @cached_property
    def irregularities(self) -> tuple[str, ...]:
        """How the model differs from a trained one, a line each; empty for a regular model.

        On a regular model every exact algorithm gives the same ids; on an irregular one they may differ.
        """
        from impls.core.model.derivations import irregularities

        return () if self.belongs_to is not None else irregularities(self)

    @cached_property
    def round_trip(self) -> Literal["exact", "normalising", "lossy"]:
        """What decoding an encoded text restores (except lone surrogates): the text, a normal form of it, or less."""
        return round_trip_of(self)[0]

    @cached_property
    def lossy(self) -> str | None:
        """Why decoding may not restore the text, or None where the round trip is exact."""
        return round_trip_of(self)[1]


def _restore(fields: dict[str, Any], recovered_merges: Any) -> Model:
    model = Model(**fields)
    if recovered_merges is not None:
        model.__dict__["recovered_merges"] = recovered_merges
    return model
