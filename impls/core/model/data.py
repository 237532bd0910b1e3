"""The result of training as data, and what its rules mean for a piece and a text; nothing is checked or derived here.

A model with merge rule `pairs` merges only the listed pairs (Hugging Face, our own trainers); with `concatenation` any
two neighbours whose joined bytes are a token merge, and the token's id is the rank (tiktoken rank files).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import add
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from impls.core.errors import UnknownSymbol
from impls.core.text.decoder_steps import TokenDecoder, token_decoder
from impls.core.text.patterns import resolve
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.core.text.tracing import Rewriting

Kind = TypeVar("Kind")


def _pairs(merges: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    given = tuple(merges)
    if set(map(type, given)) <= {tuple} and set(map(len, given)) <= {2}:
        return given  # type: ignore[return-value]
    return tuple((left, right) for left, right in given)


@dataclass(frozen=True, kw_only=True)
class HuggingFaceRules:
    """The rules that only Hugging Face's library has; a `Model` has each as a property too."""

    ignore_merges: bool = False
    """A whole piece that is in the vocabulary is one token."""
    whole_token_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Text of a special or added token -> restrictions on where it matches; see `whole_tokens`."""
    decoder: str | None = None
    """The steps by which a file's tokens become text (see `core.text.decoder_steps`); None: their bytes are joined, by
    the rules of `Model.sentencepiece` and `Model.end_of_word`."""

    def __post_init__(self) -> None:
        flags = {text: tuple(flags) for text, flags in self.whole_token_flags.items()}
        self.__dict__["whole_token_flags"] = MappingProxyType(flags)  # the dataclass is frozen


@dataclass(frozen=True, kw_only=True)
class ModelData:
    """Tokens, merges and the rules for using them, immutable but not checked; see `Model`."""

    tokens: tuple[bytes | None, ...] = ()
    """Token bytes by id; None for a gap: the id of a special token, or an unused one."""
    merges: tuple[tuple[int, int], ...] = ()
    """(left id, right id) in rank order; empty for the rule `concatenation`, where ids are ranks."""
    merge_counts: tuple[int, ...] | None = None
    """How often each merge's pair occurred when it was learned; None if not recorded."""
    pattern: tuple[str, ...] = ()
    """Split stages, as expressions; empty: each text is one piece."""
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    """Text -> id, recognised only when allowed."""
    added_tokens: Mapping[str, int] = field(default_factory=dict)
    """Text -> id, always recognised (Hugging Face's added tokens)."""
    normalization: str | None = None
    """None, the names of steps (see `core.text.normalization`), or the name of the charsmap in `sentencepiece`; applied
    before splitting."""
    alphabet: Literal["bytes", "chars"] = "bytes"
    """What merging starts from: the bytes of a piece, or its characters."""
    merge_rule: Literal["pairs", "concatenation"] = "pairs"
    """Which neighbours merge: listed pairs, or those whose joined bytes are a token."""
    end_of_word: str | None = None
    """What is appended to the last symbol of each piece before merging, `</w>` say; a space in decoded text."""
    unknown: str | None = None
    """Text of the unknown token."""
    unknown_id: int | None = None
    """Its id, which stands for characters outside the alphabet."""
    sentencepiece: SentencePieceRules | None = None
    """What SentencePiece does around the merges, for a model that comes from it."""
    hugging_face: HuggingFaceRules = HuggingFaceRules()
    """What Hugging Face's library does around the merges, for a model that comes from it."""

    def __post_init__(self) -> None:
        fields: dict[str, Any] = {
            "tokens": tuple(self.tokens),
            "merges": _pairs(self.merges),
            "merge_counts": None if self.merge_counts is None else tuple(self.merge_counts),
            "pattern": resolve(self.pattern),
            "special_tokens": MappingProxyType(dict(self.special_tokens)),
            "added_tokens": MappingProxyType(dict(self.added_tokens)),
        }
        self.__dict__.update(fields)  # the dataclass is frozen

    @property
    def ignore_merges(self) -> bool:
        """Return `HuggingFaceRules.ignore_merges`."""
        return self.hugging_face.ignore_merges

    @property
    def whole_token_flags(self) -> Mapping[str, tuple[str, ...]]:
        """Return `HuggingFaceRules.whole_token_flags`."""
        return self.hugging_face.whole_token_flags

    @property
    def decoder(self) -> str | None:
        """Return `HuggingFaceRules.decoder`."""
        return self.hugging_face.decoder

    def derived(self, derive: Callable[..., Kind], *arguments: Hashable) -> Kind:
        """Return `derive(self, *arguments)`, computed once for this model."""
        known = self.__dict__.setdefault("_derived", {})
        key = (derive, arguments)
        if key not in known:
            known[key] = derive(self, *arguments)
        result: Kind = known[key]
        return result

    @cached_property
    def id_by_token(self) -> dict[bytes, int]:
        """Return a mapping token bytes -> id."""
        return {token: i for i, token in enumerate(self.tokens) if token is not None}

    @property
    def id_offset(self) -> int:
        """Return how far the ids of a rank file are shifted from its ranks (tekken: 1000)."""
        is_ranks = self.merge_rule == "concatenation" and self.sentencepiece is None
        return next((i for i, token in enumerate(self.tokens) if token is not None), 0) if is_ranks else 0

    @cached_property
    def merge_results(self) -> tuple[int, ...]:
        """Return the id that each merge makes, in rank order; LookupError or TypeError if one does not make a token."""
        parts = map(self.tokens.__getitem__, chain.from_iterable(self.merges))
        results = tuple(map(add, parts, parts))
        first = self.id_by_token[results[0]] if results else 0
        if self.tokens[first : first + len(results)] == results:  # the usual order, and faster than looking all up
            return tuple(range(first, first + len(results)))
        return tuple(map(self.id_by_token.__getitem__, results))

    @cached_property
    def ranks(self) -> Sequence[int]:
        """Return the rank by id, for the rule `concatenation`: the lowest merges first, of equal ranks the leftmost."""
        if self.sentencepiece is not None and self.sentencepiece.ranks:
            return self.sentencepiece.ranks
        return range(len(self.tokens))

    @cached_property
    def merge_of(self) -> Callable[[int, int], tuple[int, int] | None]:
        """Return a function that finds the merge of two neighbours: (left id, right id) -> (rank, resulting id) or
        None.

        Of a pair that is listed twice the later rank counts. The unknown token never merges, nor does the byte of a
        character that is not a token.
        """
        if self.merge_rule == "pairs":
            listed = enumerate(zip(self.merges, self.merge_results, strict=True))
            by_pair = {pair: (rank, result) for rank, (pair, result) in listed}
            return lambda left, right: by_pair.get((left, right))
        id_of, ranks = self.id_by_token.get, self.ranks
        token_of = {i: token for token, i in self.id_by_token.items() if i != self.unknown_id}.get

        def merge_of(left: int, right: int) -> tuple[int, int] | None:
            first, second = token_of(left), token_of(right)
            if first is None or second is None:
                return None
            result = id_of(first + second)
            return None if result is None else (ranks[result], result)

        return merge_of

    @cached_property
    def whole_token_ids(self) -> dict[str, int]:
        """Return special and added tokens: text -> id."""
        return {**self.special_tokens, **self.added_tokens}

    @cached_property
    def token_decoder(self) -> TokenDecoder | None:
        """Return the steps of `decoder` as a function, or None."""
        return None if self.decoder is None else token_decoder(self.decoder)

    @cached_property
    def vocab_size(self) -> int:
        """Return one more than the largest id."""
        others = [*self.whole_token_ids.values(), *([] if self.unknown_id is None else [self.unknown_id])]
        return max([len(self.tokens), *(i + 1 for i in others)])

    @cached_property
    def _byte_ids(self) -> list[int]:
        return [self.id_by_token[bytes([byte])] for byte in range(256)]

    def symbols(self, piece: str) -> list[int]:
        """Return the ids of the base symbols of a piece, from which merging starts; over bytes, the piece may contain
        invalid UTF-8 as surrogates (`surrogateescape`).

        By SentencePiece's rules a character that is not a token becomes its bytes, or else the unknown token. The
        latter is delayed until the next character that is a token or unknown, so that it may come after the bytes of
        characters that follow it, as in Hugging Face's library. Raise `UnknownSymbol` (offset within the piece) for a
        character outside the alphabet of a model without an unknown token.
        """
        if self.alphabet == "bytes":
            data, byte_ids = piece.encode("utf-8", "surrogateescape"), self._byte_ids
            ids = [byte_ids[byte] for byte in data]
            if self.end_of_word is not None and data:
                ids[-1] = self.id_by_token[data[-1:] + self.end_of_word.encode()]
            return ids
        return self.symbols_of_parts(piece)[0]

    def symbols_of_parts(self, piece: str) -> tuple[list[int], list[str | None]]:
        """Return `symbols`, and the characters of `piece` that each stands for; None for one of their bytes."""
        if self.alphabet == "bytes":
            symbols = self.symbols(piece)
            return symbols, [None] * len(symbols)
        ids: list[int] = []
        parts: list[str | None] = []
        waiting = ""  # characters that become an unknown token
        id_by_token, unknown_id, rules = self.id_by_token, self.unknown_id, self.sentencepiece
        end_of_word, last = self.end_of_word or "", len(piece) - 1
        for offset, character in enumerate(piece):
            i = id_by_token.get((character + end_of_word if offset == last else character).encode())
            if i is None and rules is not None and (spelled := rules.spelled(character)):
                ids += spelled
                parts += [None] * len(spelled)
            elif i is None and unknown_id is None:
                raise UnknownSymbol(character, offset)
            else:
                if waiting and (i is not None or rules is None or not rules.fuse_unknown):
                    ids.append(unknown_id)  # type: ignore[arg-type]
                    parts.append(waiting)
                    waiting = ""
                if i is None:
                    waiting += character
                else:
                    ids.append(i)
                    parts.append(character)
        if waiting:
            ids.append(unknown_id)  # type: ignore[arg-type]
            parts.append(waiting)
        return ids, parts

    def whole_piece(self, piece: str) -> int | None:
        """Return the id of a piece that is one token whatever its merges, or None.

        That is the case with `ignore_merges`, and under the merge rule `concatenation` except with SentencePiece, which
        has no such rule.
        """
        if not self.ignore_merges and (self.merge_rule == "pairs" or self.sentencepiece is not None):
            return None
        if self.sentencepiece is not None and (i := self.sentencepiece.written_byte(piece)) is not None:
            return i
        return self.id_by_token.get((piece + (self.end_of_word or "")).encode("utf-8", "surrogateescape"))

    def normalize(self, text: str, *, first: bool = True) -> str:
        """Return `text` as it is split and encoded: in the model's normal form, with SentencePiece's white space marks.

        `first` is False for a segment that follows a special token.
        """
        return self.rewriting(text, first)

    @cached_property
    def rewriting(self) -> Rewriting:
        """Return `normalize` as a function of a text, traced or not, and whether it begins the whole text."""
        return Rewriting(self.normalization_steps, self.charsmap, self.writing_rules, self.user_defined_texts)

    @cached_property
    def writing_rules(self) -> SentencePieceRules | None:
        """Return SentencePiece's rules if they change how a text is written, else None."""
        return self.sentencepiece if self.sentencepiece is not None and self.sentencepiece.changes_text else None

    @property
    def has_charsmap_only(self) -> bool:
        """Return whether `normalization` names a charsmap rather than steps."""
        return self.sentencepiece is not None and self.sentencepiece.looks_up

    @property
    def charsmap(self) -> bytes:
        """Return the charsmap of SentencePiece's rules, or an empty one."""
        return b"" if self.sentencepiece is None else self.sentencepiece.charsmap

    @property
    def normalization_steps(self) -> str | None:
        """Return `normalization` if it names steps, else None."""
        return None if self.has_charsmap_only else self.normalization

    @property
    def rewrites_text(self) -> bool:
        """Return whether `normalize` may change a text."""
        return self.normalization is not None or self.writing_rules is not None

    @cached_property
    def unmade_ids(self) -> frozenset[int]:
        """Return the tokens that no merge makes: SentencePiece's user-defined pieces, cut out of a text first."""
        return frozenset() if self.sentencepiece is None else frozenset(self.sentencepiece.user_defined_ids)

    @cached_property
    def user_defined_texts(self) -> frozenset[str]:
        """Return the texts of `unmade_ids`."""
        return frozenset((self.tokens[i] or b"").decode() for i in self.unmade_ids)
