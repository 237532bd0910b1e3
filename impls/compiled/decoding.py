"""Decodes by kernels: the part of `Compiled` from ids to text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from impls.compiled.cpython import plain
from impls.compiled.sentencepiece.special_pieces import without_hidden_space
from impls.compiled.threads.pool import CallContext, Pool
from impls.core import arguments
from impls.core.decoding import Decoder


class KernelDecoder(Decoder):
    """Decodes a list of ids by a built-in function, any other by the plain boundary; does the rest by `Decoder`."""

    _pool: Pool
    _own: CallContext

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Decode the ids to text; see `Tokenizer.decode`."""
        decoder = self._model.token_decoder
        if decoder is not None and not decoder.joins_bytes:
            return super().decode(ids, errors)
        if self._model.sentencepiece is not None or decoder is not None:
            arguments.check_text(errors, "errors")
            ids = arguments.id_list(ids)
            try:
                return self.decode_bytes(ids).decode()
            except UnicodeDecodeError:
                return super().decode(ids, errors)
        builtins = self._own.builtins
        if builtins is not None and errors == "replace" and type(ids) is list:
            text = builtins.decode_to_str(ids)
            if text is not None:
                return text
        return super().decode(ids, errors)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Decode the ids to bytes; see `Tokenizer.decode_bytes`."""
        ids = ids if isinstance(ids, np.ndarray) else arguments.id_list(ids)
        builtins = self._own.builtins
        if builtins is not None and type(ids) is list:
            data = builtins.decode_to_bytes(ids)
        else:
            data = self._plain_decode(ids)
        if data is not None and (self._model.sentencepiece is not None or self._model.decoder is not None):
            data = without_hidden_space(data, ids, self._stream_rules)
        return super().decode_bytes(ids) if data is None else data

    def _plain_decode(self, ids: list[int] | np.ndarray) -> bytes | None:
        try:
            array = np.asarray(ids if isinstance(ids, np.ndarray) else arguments.checked_ids(ids))
        except (OverflowError, ValueError):
            return None
        # Anything but an array of integers is decoded id by id, and so is a masked array.
        if array.ndim != 1 or array.dtype.kind not in "iub" or np.ma.isMaskedArray(ids):
            return None
        if bool((array < 0).any()) or bool((array >= 1 << 32).any()):
            return None
        with self._pool.borrowed() as call_context:
            return plain.decode(call_context.context, np.ascontiguousarray(array, np.uint32))
