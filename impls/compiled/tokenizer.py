"""`Compiled`: the kernels behind the interface of a tokenizer."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Unpack

import numpy as np

from impls.compiled.codegen.build import is_checked
from impls.compiled.context import Context, Pool
from impls.compiled.cpython import plain
from impls.compiled.cpython.interpreter import Builtins
from impls.compiled.growing import KernelEnds, TokensByEnd
from impls.compiled.merge.spelling_tables import borders
from impls.compiled.pretokenize.layout import GIVEN_ENDS
from impls.compiled.pretokenize.specials import (
    SpecialPieces,
    Specials,
    special_table,
    tokens_by_prefix,
    without_hidden_space,
)
from impls.compiled.pretokenize.splitting import Splitting, cuts_of, splitting_of, with_borders
from impls.compiled.tables import tables_of
from impls.compiled.threads.worker_threads import BatchJob
from impls.core import arguments
from impls.core.arguments import Special, SpecialSet
from impls.core.counts import PieceCounts
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.text import repair_surrogates
from impls.interface import Texts, Threads, Tokenizer, TrainingSpec
from impls.operations import batches
from impls.operations.stream_rules import stream_rules


class Compiled(Tokenizer):
    """Byte pair encoding in Numba kernels: an automaton splits, a cache holds pieces, a perfect hash holds pairs."""

    name = "compiled"
    summary = "Numba kernels: the pattern as an automaton, a piece cache, perfect-hash pairs"
    kind: ClassVar[Literal["pure", "compiled", "production", "peer", "third-party"]] = "compiled"
    follows_text = True

    def __init__(self, model: Model) -> None:
        """Build the tables, or read them from the user's cache; compile the kernels on first use."""
        super().__init__(model)
        self._added = bool(model.added_tokens)
        if model.ignore_merges and model.sentencepiece is not None:
            raise Unsupported(self.name, "ignore_merges after SentencePiece's rules")
        if model.ignore_merges and model.end_of_word is not None:
            raise Unsupported(self.name, "does not run ignore_merges with end_of_word")
        self._prints = model.alphabet == "bytes" and model.end_of_word is not None
        splitting, self.splitting = splitting_of(model.pattern)
        """How texts are split: 'automaton', or 'regex: ' and the reason; see `splitting_of`."""
        if self._prints:
            splitting, self.splitting = None, "regex: its words end in a suffix, so bytes are merged as characters"
        self._automaton = splitting is not None
        if splitting is not None and model.alphabet == "chars" and (tables := borders(model)) is not None:
            splitting, self.splitting = with_borders(splitting, tables)
        self._special_pieces = SpecialPieces(model)
        self._rewrites = model.rewrites_text or bool(self._special_pieces)
        self._specials = Specials(model)
        by_prefix = tokens_by_prefix(model.whole_token_ids)
        cuts = None if splitting is None or model.sentencepiece else cuts_of(splitting, by_prefix)
        merging, specials = tables_of(model), special_table(by_prefix)

        def make() -> Context:
            context = Context(merging, splitting or Splitting(GIVEN_ENDS))
            context.reach_python(specials, cuts)
            return context

        self._pool = Pool(make)
        # One context serves all calls that hold the interpreter lock; while it encodes a long text it is marked busy.
        self._use(self._pool.make())
        _living.add(self)

    def _use(self, context: Context) -> None:
        """Make this the tokenizer's own context, whose built-ins `encode` and the other methods call."""
        self._own = context
        self._fast = context.builtins if self._automaton else None
        if self._fast is not None and self._rewrites:
            self._fast = Builtins(context.address, self._written)
        self._list = _never if self._fast is None else self._fast.encode_to_list
        # `encode` tries these built-ins first; they search the original text for special tokens.
        self._searching = None if self._rewrites else self._fast
        self._list_unless_special = _never if self._searching is None else self._searching.encode_to_list_unless_special

    def token_ends(self) -> KernelEnds | None:
        """Return what keeps the last tokens of the beginnings of a piece; see `operations.growing_piece`."""
        return None if self._tokens_by_end is None else KernelEnds(self._tokens_by_end)

    @cached_property
    def _tokens_by_end(self) -> TokensByEnd | None:
        with suppress(ValueError):  # some token has several derivations, or none
            return TokensByEnd(self.model, self._own)
        return None

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges in kernels; see `impls.compiled.training.train`."""
        from impls.compiled.training.train import train

        return train(texts, spec)

    @classmethod
    def count_pieces(cls, texts: Iterable[str], spec: TrainingSpec, **how: Any) -> PieceCounts:
        """Count pieces in kernels; see `impls.compiled.training.count`."""
        from impls.compiled.training.count import count_pieces

        return count_pieces(texts, spec, **how)

    @classmethod
    def extend_model(cls, model: Model, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn more merges in kernels; see `impls.compiled.training.train`."""
        from impls.compiled.training.train import extend

        return extend(cls, model, texts, spec)

    def encode(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> list[int]:
        """Return the ids of `text`; see `Tokenizer.encode`."""
        try:
            if not (disallowed_special or allowed_special or self._added):
                ids = self._list(text)
            else:
                ids = self._list_unless_special(text)
                if ids is None and self._specials.absent(text):
                    ids = self._list(text)
        except (UnicodeEncodeError, TypeError):
            ids = None
        if ids is not None:
            return ids
        return super().encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_array(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> np.ndarray:
        """Return the ids of `text` as uint32 of shape (n_tokens,)."""
        try:
            if not (disallowed_special or allowed_special or self._added):
                array = None if self._fast is None else self._fast.encode_to_array(text)
            else:
                array = None if self._searching is None else self._searching.encode_to_array_unless_special(text)
                if array is None and self._fast is not None and self._specials.absent(text):
                    array = self._fast.encode_to_array(text)
        except (UnicodeEncodeError, TypeError):
            array = None
        if array is not None:
            return array
        arguments.check_text(text)
        if not self._specials.absent(text):
            ids = super().encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
            return np.array(ids, np.uint32)
        return self._array(self.model.normalize(repair_surrogates(text)))

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, special and added tokens read as ordinary text; see `Tokenizer.encode_ordinary`."""
        try:
            ids = self._list(text)
        except (UnicodeEncodeError, TypeError):
            ids = None
        return super().encode_ordinary(text) if ids is None else ids

    def encode_batch(self, texts: Texts, threads: Threads = None, **special: Unpack[Special]) -> list[list[int]]:
        """Return `encode` of each text, on threads that run without the interpreter lock."""
        if self._fast is None:
            return super().encode_batch(texts, 1 if is_checked() else threads, **special)
        return arguments.encoded_batch(partial(self._encoded, as_arrays=False, **special), texts, threads)

    def encode_ragged(
        self, texts: Texts, threads: Threads = None, **special: Unpack[Special]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of all texts in one array; see `Tokenizer.encode_ragged`."""
        if self._fast is None:
            return super().encode_ragged(texts, 1 if is_checked() else threads, **special)
        arrays = arguments.encoded_batch(partial(self._encoded, as_arrays=True, **special), texts, threads)
        return batches.joined(arrays)

    def _encoded(
        self,
        texts: list[str],
        threads: int,
        *,
        as_arrays: bool,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> list[Any]:
        arguments.check_special_sets(allowed_special, disallowed_special)
        job = BatchJob(self._pool, threads, texts)
        is_searched = not self._specials.none and bool(allowed_special or disallowed_special or self._added)

        def prepared(text: str) -> str | None:
            """Return the text as the kernels take it, or None; special tokens are searched in the original."""
            return self._written(text) if not is_searched or self._specials.absent(text) else None

        written: Sequence[str | None] = list(map(prepared, texts)) if self._rewrites else texts
        results = job.encoded(self._own, written, int(is_searched and not self._rewrites), as_arrays)
        for i in [i for i, ids in enumerate(results) if ids is None]:
            array = self.encode_array(texts[i], allowed_special=allowed_special, disallowed_special=disallowed_special)
            results[i] = array if as_arrays else array.tolist()
        return results

    def _written(self, text: str) -> str | None:
        """Return the normalised text for the kernels, or None if they alone cannot encode it."""
        if type(text) is not str:
            arguments.check_text(text)
        written = self.model.normalize(text)
        return written if self._special_pieces.absent(written) else None

    def encode_normalized(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens and surrogates."""
        builtins = self._own.builtins if self._automaton and self._special_pieces.absent(text) else None
        ids = None if builtins is None else builtins.encode_to_list(text)
        return self._array(text).tolist() if ids is None else ids

    def _array(self, text: str) -> np.ndarray:
        return self._special_pieces.encode(text, self._merged) if self._special_pieces else self._merged(text)

    def _merged(self, text: str) -> np.ndarray:
        with self._pool.borrowed() as context:
            if self._automaton:
                builtins = context.builtins if self._own["busy"] else None
                if builtins is not None and (array := builtins.encode_to_array(text)) is not None:
                    return array
                with suppress(plain.Uncovered):
                    return plain.encode(context, text)
            pieces = self.model.splitter.split(text)
            if self._prints:
                pieces = [to_printable(piece.encode()) for piece in pieces]
            text = "".join(pieces)
            return plain.encode_pieces(context, text, plain.ends_of(text, pieces))

    def encode_piece_with_dropout(self, piece: str, coins: Iterator[bool]) -> list[int]:
        """Return the ids of a piece with merges left out, by `naive` in plain Python: no kernel does that."""
        from impls.naive import Naive

        return self.model.derived(Naive).encode_piece_with_dropout(piece, coins)

    def encode_byte_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece that is not UTF-8, by a kernel of its own: other kernels read characters."""
        if (token := self.model.whole_piece(piece.decode("utf-8", "surrogateescape"))) is not None:
            return [token]
        with self._pool.borrowed() as context:
            ids: list[int] = plain.encode_byte_piece(context, piece).tolist()
            return ids

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Decode the ids to text; see `Tokenizer.decode`."""
        decoder = self.model.token_decoder
        if decoder is not None and not decoder.joins_bytes:
            return super().decode(ids, errors)
        if self.model.sentencepiece is not None or decoder is not None:
            arguments.check_text(errors, "errors")
            ids = arguments.id_list(ids)
            try:
                return self.decode_bytes(ids).decode()
            except UnicodeDecodeError:
                return super().decode(ids, errors)
        builtins = self._own.builtins if errors == "replace" and type(ids) is list else None
        text = None if builtins is None else builtins.decode_to_str(ids)  # type: ignore[arg-type]
        return super().decode(ids, errors) if text is None else text

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Decode the ids to bytes; see `Tokenizer.decode_bytes`."""
        ids = arguments.id_list(ids)
        data = None if self._own.builtins is None else self._own.builtins.decode_to_bytes(ids)
        if data is not None and (self.model.sentencepiece is not None or self.model.decoder is not None):
            data = without_hidden_space(data, ids, stream_rules(self.model))
        return super().decode_bytes(ids) if data is None else data


def _never(text: str) -> None:
    """Stand in for a missing built-in: return None."""


_living: weakref.WeakSet[Compiled] = weakref.WeakSet()


def _without_other_threads() -> None:
    """Replace, in a forked child, the contexts whose threads are gone, perhaps halfway through a write."""
    for tokenizer in list(_living):
        if tokenizer._own["busy"] not in (0, 1, threading.get_ident()):
            tokenizer._use(tokenizer._pool.make())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_without_other_threads)
