"""Encodes batches by kernels: the part of `Compiled` that encodes many texts on several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from impls.compiled.cpython.builtins import Builtins
from impls.compiled.pretokenize.specials import Specials
from impls.compiled.sentencepiece.special_pieces import SpecialPieces
from impls.compiled.threads.batches import Batches, Density, Ready
from impls.compiled.threads.pool import CallContext, Pool
from impls.core import arguments
from impls.core.arguments import SpecialSet
from impls.interface import Tokenizer

P = ParamSpec("P")
Ids = TypeVar("Ids")


def _by_kernels(
    method: Callable[Concatenate[Any, P], Ids], encode: Callable[[Batches, list[str], int], Ids]
) -> Callable[Concatenate[Any, P], Ids]:
    """Return a method of the interface that calls `encode`, whose threads run without the interpreter lock."""

    @wraps(method)
    def batch(
        self: KernelBatches,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> Ids:
        batches = self._batches(allowed_special, disallowed_special)
        return arguments.encoded_batch(partial(encode, batches), texts, threads)

    return batch  # type: ignore[return-value]


class KernelBatches(Tokenizer):
    """Gives `Batches` what it needs from a tokenizer: contexts, texts ready for the kernels, the careful path."""

    _pool: Pool
    _own: CallContext
    _fast: Builtins | None
    _density: Density
    _specials: Specials
    _special_pieces: SpecialPieces

    def _written(self, text: str) -> str | None:
        """Return the normalised text for the kernels, or None if they alone cannot encode it."""
        if type(text) is not str:
            arguments.check_text(text)
        written = self._model.normalize(text)
        return written if self._special_pieces.absent(written) else None

    encode_batch = _by_kernels(Tokenizer.encode_batch, Batches.lists)
    encode_array_batch = _by_kernels(Tokenizer.encode_array_batch, Batches.arrays)
    encode_ragged = _by_kernels(Tokenizer.encode_ragged, Batches.ragged)

    def _batches(self, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> Batches:
        arguments.check_special_sets(allowed_special, disallowed_special)

        def one(text: str) -> np.ndarray:
            return self.encode_array(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

        ready = None if self._fast is None else self._ready(allowed_special, disallowed_special)
        return Batches(self._run_claimed, self._pool, ready, one, self._density)

    def _run_claimed(self, job: int, run: Callable[[CallContext], bool]) -> None:
        """Call `run` with this tokenizer's own context, or with a borrowed one if that is in use; close the job."""
        builtins = self._own.builtins
        if builtins is not None and builtins.run_claimed(job, run, self._own) is not None:
            return
        with self._pool.borrowed() as call_context:
            if call_context.builtins is not None:
                call_context.builtins.run_claimed(job, run, call_context)

    def _ready(self, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> Ready:
        """Return the function that prepares texts of a batch for the kernels."""
        check_special = int(not self._specials.none and bool(allowed_special or disallowed_special or self._added))
        if not self._model.rewrites_text and not self._special_pieces:
            return lambda texts: (texts, check_special)
        if not check_special:
            return lambda texts: (list(map(self._written, texts)), 0)

        # Special tokens are searched for in the original text.
        def normalized(text: str) -> str | None:
            return self._written(text) if self._specials.absent(text) else None

        return lambda texts: (list(map(normalized, texts)), 0)
