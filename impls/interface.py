"""The interface every tokenizer of the suite implements.

An implementation gives `encode_piece`, or `encode_normalized` if it takes whole texts, or `encode_ordinary` if it also
normalises; also whatever its library has a call for, and `learn` or `train_model` if it trains.
It inherits the rest: each method is one function of `impls.operations`, which uses the public names here.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal, Unpack

import numpy as np

from impls.core.arguments import Special
from impls.core.arguments import SpecialSet as SpecialSet
from impls.core.errors import Unsupported
from impls.core.extension import extended, trained
from impls.core.model import Model
from impls.core.specification import Ties as Ties
from impls.core.specification import TrainingSpec as TrainingSpec
from impls.core.training import Corpus, Pair
from impls.operations import batches, canonical, decoding, offsets, pieces, specials, truncation
from impls.operations.incremental import Incremental
from impls.operations.offsets import How
from impls.operations.stream_rules import stream_rules
from impls.operations.streaming import StreamDecoder
from impls.operations.truncation import Cut

Ragged = tuple[np.ndarray, np.ndarray]
Traced = tuple[list[int], np.ndarray]

Ids = list[int]
Texts = Sequence[str]
Threads = int | None  # None: all cores, if the algorithm can use them


class Tokenizer(ABC):
    """One algorithm over one model. Ids are ints in lists, or uint32 in arrays of shape (n_tokens,). In texts, lone
    surrogates are encoded as U+FFFD and surrogate pairs as their character, as tiktoken does."""

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    kind: ClassVar[Literal["pure", "compiled", "production", "peer", "third-party"]] = "third-party"
    follows_text: ClassVar[bool] = False  # whether `incremental` is its fastest way to keep the ids of a growing text
    exact: ClassVar[bool] = True  # False if ids are expected to differ from byte pair encoding (greedy longest match)
    time_exponent: ClassVar[float] = 1.0  # encoding one piece of n symbols takes O(n ** time_exponent * log n)
    normalizes: bool = False  # whether `encode_normalized` normalises texts itself
    surrogate_errors: ClassVar[tuple[type[Exception], ...]] = ()
    """What `encode_normalized` and its like raise for a text with a surrogate; if empty, every text is searched."""

    def __init__(self, model: Model) -> None:
        """Prepare `model`; raise `Unsupported` if this algorithm cannot run it."""
        self.model = model
        self.refusals: tuple[type[Exception], ...] = ()  # if empty, every text is repaired and normalised first
        if self.surrogate_errors and (self.normalizes or not model.rewrites_text):
            self.refusals = (*self.surrogate_errors, TypeError, AttributeError)

    def __reduce__(self) -> tuple[Callable[..., Tokenizer], tuple[object, ...]]:
        """Pickle the model only; another process, or a copy, prepares it again."""
        return type(self), (self.model,)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.model!r}>"

    def save(self, path: str | Path) -> None:
        """Write the model to a file of the suite's own format, atomically; `load_model` reads it."""
        self.model.save(path)

    # --- what an implementation gives ------------------------------------------------------------------------

    def encode_piece(self, piece: str) -> Ids:
        """Return the ids that the symbols of one of `pieces` merge to; surrogates are bytes (`surrogateescape`)."""
        raise Unsupported(self.name, "does not encode single pieces")

    def encode_normalized(self, text: str) -> Ids:
        """Return the ids of a text in the model's normal form, without surrogates, as ordinary text."""
        if type(self).encode_ordinary is not Tokenizer.encode_ordinary:
            return self.encode_ordinary(text)
        return pieces.encode(self.model, text, self.piece_ids)

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a uint32 array of shape (n_tokens,)."""
        return batches.as_array(self.encode_normalized(text))

    def encode_normalized_batch(self, texts: Texts, threads: int) -> list[Ids]:
        """Return `encode_normalized` of each text, computed on up to `threads` threads."""
        return batches.map_on_threads(self.encode_normalized, texts, threads)

    def encode_byte_piece(self, piece: bytes) -> Ids:
        """Return the ids of one piece that is not valid UTF-8, by a model over bytes."""
        return pieces.encode_byte_piece(self, piece)

    def encode_piece_with_dropout(self, piece: str, coins: Iterator[bool]) -> Ids:
        """Return the ids of one piece; each coin decides whether one possible merge is dropped."""
        raise Unsupported(self.name, "does not support BPE-dropout")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids; raise `UnknownId(id, position)`, unless the model has an unknown token."""
        return decoding.decode_bytes(self.model, ids)

    # --- what everybody gets ---------------------------------------------------------------------------------

    def encode(self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all") -> Ids:
        """Return the ids of `text`; `allowed_special` (a set, or "all") are encoded as one id each, the longest first.

        Text of a special token that is disallowed ("all": every one not allowed) raises `SpecialToken`; with
        `disallowed_special=()` it is encoded as ordinary text. Added tokens are always recognised.
        """
        if self.refusals and not (allowed_special or disallowed_special or self.model.added_tokens):
            try:
                return self.encode_normalized(text)  # the timed path, which calls nothing else
            except self.refusals:
                pass
        return specials.encode(self, text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_ordinary(self, text: str) -> Ids:
        """Return the ids of `text`, all of it encoded as ordinary text, special and added tokens included."""
        return specials.prepared(self, self.encode_normalized, specials.written, text)

    def encode_array(self, text: str, **special: Unpack[Special]) -> np.ndarray:
        """Return the ids of `encode` as a uint32 array of shape (n_tokens,)."""
        return specials.encode_array(self, text, **special)

    def encode_batch(self, texts: Texts, threads: Threads = None, **special: Unpack[Special]) -> list[Ids]:
        """Return `encode` of each text, in order."""
        return batches.encode_batch(self, texts, threads, **special)

    def encode_ragged(self, texts: Texts, threads: Threads = None, **special: Unpack[Special]) -> Ragged:
        """Return all ids in one array, uint32; those of text i are `ids[offsets[i]:offsets[i + 1]]` (int64)."""
        return batches.joined(self.encode_batch(texts, threads, **special))

    def encode_bytes(self, data: bytes) -> Ids:
        """Return the ids of bytes that need not be UTF-8, as ordinary text; see `operations.pieces`."""
        return pieces.encode_bytes(self, data)

    def encode_with_dropout(self, text: str, *, probability: float, seed: int, **special: Unpack[Special]) -> Ids:
        """Return the ids of `text` with each possible merge dropped with `probability`; see `operations.specials`."""
        return specials.encode_with_dropout(self, text, probability=probability, seed=seed, **special)

    def encode_with_offsets(self, text: str, **how: Unpack[How]) -> Traced:
        """Return the ids of `encode`, and the start and end of each token; see `operations.offsets`."""
        return offsets.encode_with_offsets(self, text, **how)

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of `text` that `encode_piece` gets, without special tokens: normalised, split and cut."""
        return pieces.of_text(self.model, text)

    def piece_ids(self, piece: str) -> Ids:
        """Return the ids of one of `pieces`: its token if the model takes it whole, else those of `encode_piece`."""
        token = self.model.whole_piece(piece)
        return self.encode_piece(piece) if token is None else [token]

    @property
    def by_pieces(self) -> bool:
        """Return whether the ids of a text are certainly those of its pieces."""
        if self.model.splitter.drops or (self.normalizes and self.model.rewrites_text):
            return False
        own = type(self).encode_normalized, type(self).encode_ordinary
        default = Tokenizer.encode_normalized, Tokenizer.encode_ordinary
        return own == default or self.kind in ("pure", "compiled", "production")

    def is_canonical(self, ids: Iterable[int]) -> bool:
        """Return whether `encode` gives these ids for what they decode to; see `operations.canonical`."""
        return canonical.first_drift(self, ids) is None

    def first_drift(self, ids: Iterable[int]) -> canonical.Drift | None:
        """Return the first place where ids are not those that `encode` gives, and what it gives there."""
        return canonical.first_drift(self, ids)

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, special tokens read as ordinary text; see `operations.truncation`."""
        return truncation.count(self, text, at_most)

    def fits(self, text: str, n_tokens: int) -> bool:
        """Return whether `text` has at most `n_tokens` ids."""
        return truncation.fits(self, text, n_tokens)

    def truncate(self, text: str, n_tokens: int, **cut: Unpack[Cut]) -> str:
        """Return the longest beginning (`side="left"`: end) that has at most `n_tokens` ids."""
        return truncation.truncate(self, text, n_tokens, **cut)

    def incremental(self, text: str = "", **special: Unpack[Special]) -> Incremental:
        """Return `text` with its ids, those of `encode`, to be appended to and edited; see `operations.incremental`."""
        return Incremental(self, text, **special)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids; `errors` handles invalid UTF-8 as in `bytes.decode`."""
        return decoding.decode(self.model, ids, errors, self.decode_bytes)

    def decode_with_offsets(self, ids: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text, and the start of each token in code points: that of the character it begins in."""
        return decoding.decode_with_offsets(self, ids)

    def decoder(
        self, errors: str = "replace", skip_special: bool = False, *, stop: Iterable[str] = ()
    ) -> StreamDecoder:
        """Return a decoder of one stream of ids; raise `Unsupported` where later ids may change earlier text."""
        return StreamDecoder(stream_rules(self.model), errors, skip_special=skip_special, stop=stop)

    @classmethod
    def learn(cls, corpus: Corpus) -> tuple[list[Pair], list[int]]:
        """Return up to `corpus.budget` merges, and the count of each, after `Corpus.join` of each."""
        raise Unsupported(cls.name, "does not train")

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn a model; raise `Unsupported` if this implementation does not train, or not by `spec`."""
        return trained(cls, texts, spec)

    @classmethod
    def extend_model(cls, model: Model, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Keep the merges of `model` and learn more, from texts as it encodes them; see `core.extension`."""
        return extended(cls, model, texts, spec)
