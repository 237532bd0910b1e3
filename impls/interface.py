"""The interface every tokenizer of the suite implements: the `Tokenizer` class, its specification and its errors.

It knows text, ids and models, but no particular algorithm, and nothing of the harness. An implementation overrides one
of the hooks of `impls.core.hooks`. Everything around the hooks (special tokens, lone surrogates, threads) is here, and
costs two checks per call if there is nothing to do. Decoding is in `core.decoding`, counting and truncating in
`core.truncation`, growing texts in `core.incremental`, offsets in `core.offsets`, the specification in
`core.specification`, checks of arguments in `core.arguments`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from impls.core.arguments import (
    SpecialSet,
    check_special_sets,
    check_text,
    check_texts,
    checked_bytes,
    text_sequence,
    thread_count,
)
from impls.core.canonical import Drift, first_drift
from impls.core.dropout import Dropout
from impls.core.errors import BPEError, Unsupported
from impls.core.growing import Growing
from impls.core.hooks import joined, map_on_threads
from impls.core.model.cuts import Cuts
from impls.core.model.whole_tokens import WholeTokens
from impls.core.offsets import Offsets
from impls.core.specification import Ties, TrainingSpec
from impls.core.text.text import repair_surrogates

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from impls.core.model import Model

__all__ = ["BPEError", "SpecialSet", "Ties", "Tokenizer", "TrainingSpec"]

Ids = TypeVar("Ids")


class Tokenizer(Growing, Offsets, ABC):
    """One algorithm over one model.

    Ids are Python ints in lists, or uint32 in arrays of shape (n_tokens,). Texts are `str`; lone surrogates
    are encoded as U+FFFD and surrogate pairs as their character, as tiktoken does.
    """

    summary: ClassVar[str] = ""
    """One line for `bpebench list`."""
    kind: ClassVar[Literal["pure", "compiled", "production", "peer", "third-party"]] = "third-party"
    follows_text: ClassVar[bool] = False
    """Whether its fastest public way to keep the ids of a growing text is `incremental`, not to encode it again."""
    exact: ClassVar[bool] = True
    """False if ids are expected to differ from byte pair encoding (greedy longest match)."""
    surrogate_errors: ClassVar[tuple[type[Exception], ...]] = ()
    """Exceptions that the `_encode_text` hooks reliably raise for a text with a surrogate.

    Such a text is then repaired and encoded again; if empty, every text is searched for surrogates first.
    """

    def __init__(self, model: Model) -> None:
        """Prepare `model`; raise `Unsupported` if this algorithm cannot run it."""
        self._model = model
        self._cuts = None if model.sentencepiece is None else Cuts(model)
        self._as_given = (self.normalizes or not model.rewrites_text) and bool(self.surrogate_errors)
        # The last two are raised for an argument that is not a str.
        self._refusals: tuple[type[Exception], ...] = (*self.surrogate_errors, TypeError, AttributeError)
        self._added = bool(model.added_tokens)
        self._whole_tokens = WholeTokens(model)

    def __reduce__(self) -> tuple[Callable[..., Tokenizer], tuple[object, ...]]:
        """Pickle the model only; another process, or a copy, prepares it again."""
        return type(self), (self._model,)

    def __repr__(self) -> str:
        return f"<{self.name}: {self._model!r}>"

    def save(self, path: str | Path) -> None:
        """Write the model to a file of the suite's own format, atomically; `load_model` reads it."""
        self._model.save(path)

    @property
    def model(self) -> Model:
        """Return the model this tokenizer runs."""
        return self._model

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of `text` that `encode_piece` gets, without special tokens: normalised, split and cut."""
        check_text(text)
        return self._cut_pieces(self._model.normalize(repair_surrogates(text)))

    # --- encoding ------------------------------------------------------------------------------------------

    def encode(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> list[int]:
        """Return the ids of `text`.

        `allowed_special` (a set, or "all") are encoded as their single id. Text of a special token that is
        disallowed ("all": every one not allowed) raises `SpecialToken`; with `disallowed_special=()` it is
        encoded as ordinary text. Of special tokens that start at one place the longest wins.
        """
        # The timed path is the first branch, which calls nothing but the hook.
        if self._as_given and not (allowed_special or disallowed_special or self._added):
            try:
                return self._encode_text(text)
            except self._refusals:
                return self._encode_text(self._repaired(text))
        if self._is_ordinary(text, allowed_special, disallowed_special):
            return self._encode_as(self._encode_text, text)
        return self._encode_around_specials(text, allowed_special)

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, all of it encoded as ordinary text, special and added tokens included.

        Same as `encode(text, disallowed_special=())`, except that the latter recognises added tokens.
        """
        return self._encode_as(self._encode_text, text)

    def is_canonical(self, ids: Iterable[int]) -> bool:
        """Return whether `encode` gives these ids for what they decode to; see `core.canonical`."""
        return first_drift(self, ids) is None

    def first_drift(self, ids: Iterable[int]) -> Drift | None:
        """Return the first place where ids are not those that `encode` gives, and what it gives there."""
        return first_drift(self, ids)

    def encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes that need not be UTF-8, as ordinary text; like tiktoken's `_encode_bytes`.

        Valid UTF-8 is encoded as its text. Otherwise the text before the first invalid byte is normalised and split;
        its last piece and everything after it is one piece, since a pattern applies only to text. A library with a rule
        of its own follows that. Decoding restores the bytes, except for normalisation. Raise `Unsupported` for a model
        over characters, and for invalid UTF-8 if an implementation takes only texts.
        """
        data = checked_bytes(data)
        if self._model.alphabet != "bytes":
            raise Unsupported(self.name, "encodes bytes by models over bytes; this model's alphabet is 'chars'")
        try:
            return self.encode_ordinary(data.decode())
        except UnicodeDecodeError as error:
            good, bad = data[: error.start], data[error.start :]
        return self._encode_text_and_bytes(self._model.normalize(good.decode()), bad)

    def encode_with_dropout(
        self,
        text: str,
        *,
        probability: float,
        seed: int,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> list[int]:
        """Return the ids of `text` with each possible merge dropped with `probability`; deterministic in `seed`.

        `core.dropout` defines which merges are dropped, for all implementations. With 0 the ids are those of `encode`,
        with 1 those of the base symbols; in between, whole pieces are not looked up in the vocabulary. Raise
        `Unsupported`, or ValueError for an out-of-range probability or seed.
        """
        dropout = Dropout(probability, seed)
        if probability == 0:
            return self.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
        encode = partial(self._encode_text_with_dropout, dropout=dropout)
        if self._is_ordinary(text, allowed_special, disallowed_special):
            return encode(self._repaired(text))
        return self._encode_around_specials(text, allowed_special, encode)

    def encode_array(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> np.ndarray:
        """Return the ids of `encode` as a uint32 array of shape (n_tokens,)."""
        if self._is_ordinary(text, allowed_special, disallowed_special):
            return self._encode_as(self._encode_text_to_array, text)
        import numpy as np

        return np.array(self._encode_around_specials(text, allowed_special), dtype=np.uint32)

    def encode_batch(
        self,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> list[list[int]]:
        """Return one list of ids per text, in order. `threads=None` uses all cores, if the algorithm can."""

        texts, threads = text_sequence(texts), thread_count(threads)
        if self._are_ordinary(texts, allowed_special, disallowed_special):
            return self._encode_all_as(self._encode_texts, texts, threads)
        one = partial(self.encode, allowed_special=allowed_special, disallowed_special=disallowed_special)
        return map_on_threads(one, texts, threads)

    def encode_array_batch(
        self,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> list[np.ndarray]:
        """Return one array of ids (uint32) per text, in order; `threads` as in `encode_batch`."""
        ids, offsets = self.encode_ragged(
            texts, threads, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        return [ids[start:end] for start, end in pairwise(offsets.tolist())]

    def encode_ragged(
        self,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of all texts in one array, uint32, and their offsets, int64 of shape (n_texts + 1,).

        The ids of text i are `ids[offsets[i]:offsets[i + 1]]`; `threads` as in `encode_batch`.
        """

        texts, threads = text_sequence(texts), thread_count(threads)
        if self._are_ordinary(texts, allowed_special, disallowed_special):
            return self._encode_all_as(self._encode_texts_to_ragged, texts, threads)
        one = partial(self.encode_array, allowed_special=allowed_special, disallowed_special=disallowed_special)
        return joined(map_on_threads(one, texts, threads))

    def _is_ordinary(self, text: str, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> bool:
        """Return whether `text` contains no special or added token to encode; raise `SpecialToken` for a disallowed
        one."""
        if not (allowed_special or disallowed_special or self._added):
            return True
        check_text(text)
        check_special_sets(allowed_special, disallowed_special)
        return not self._whole_tokens.occur(text, allowed_special, disallowed_special)

    def _are_ordinary(self, texts: Sequence[str], allowed_special: SpecialSet, disallowed_special: SpecialSet) -> bool:
        if not (allowed_special or disallowed_special or self._added):
            return True
        check_texts(texts)
        check_special_sets(allowed_special, disallowed_special)
        return not any(self._whole_tokens.occur(text, allowed_special, disallowed_special) for text in texts)

    def _encode_around_specials(
        self, text: str, allowed_special: SpecialSet, encode: Callable[[str], list[int]] | None = None
    ) -> list[int]:
        return list(chain.from_iterable(self._ids_by_part(text, allowed_special, encode or self._encode_text)))

    def _encode_as(self, encode: Callable[[str], Ids], text: str) -> Ids:
        """Return `encode(text)`, with the text repaired and normalised if needed."""
        if self._as_given:
            try:
                return encode(text)
            except self._refusals:
                pass
        return encode(self._repaired(text))

    def _encode_all_as(self, encode: Callable[[Sequence[str], int], Ids], texts: Sequence[str], threads: int) -> Ids:
        """Do the same as `_encode_as` for several texts."""
        if self._as_given:
            try:
                return encode(texts, threads)
            except self._refusals:
                pass
        check_texts(texts)
        return encode(list(map(self._repaired, texts)), threads)

    def _repaired(self, text: str) -> str:
        check_text(text)
        return self._normalized(repair_surrogates(text))
