"""Measures the time of each stage of an encoding by running the kernels separately; differences give the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from impls.compiled.codegen.native import native
from impls.compiled.cpython import plain
from impls.compiled.layout import PAD_BYTES
from impls.compiled.threads.pool import CallContext

Split = Callable[[str], Sequence[str]]


def stage_seconds(call_context: CallContext, text: str, split: Split | None) -> dict[str, float]:
    """Return the seconds of each stage of one encoding of `text` to a list of ids.

    `utf-8`: from the text to bytes; `split`: finding the pieces; `look up`: keys and caches, when every piece is known;
    `merge`: the additional time when only the vocabulary is known; `output`: from ids to a list. The argument `split`
    is given if the kernels do not split by themselves. Raises `plain.Uncovered` if the pattern leaves text out.
    """
    context = call_context.context
    started = perf_counter()
    data, n_bytes = plain.padded_utf8(text)
    utf8 = perf_counter() - started
    out = np.zeros(n_bytes + PAD_BYTES // 4, np.uint32)
    ends = np.zeros(n_bytes + PAD_BYTES // 4, np.int32)
    if split is None:
        splitting, n_pieces = _timed(lambda: native.split(context.address, data, n_bytes, ends))
        inside = splitting
    else:
        splitting, n_pieces = _timed(lambda: _split_outside(text, split, ends))
        inside = 0.0

    def encode() -> int:
        if split is None:
            return native.encode(context.address, data, n_bytes, out, 1)
        return native.encode_pieces(context.address, data, n_bytes, ends, n_pieces, out)

    plain.checked(n_pieces)
    context.forget_pieces()
    cold, n_ids = _timed(encode)
    warm, _ = _timed(encode)
    output, _ = _timed(lambda: len(out[: plain.checked(n_ids)].tolist()))
    if call_context.builtins is not None and split is None:
        encode_to_list = call_context.builtins.encode_to_list
        whole, _ = _timed(lambda: len(encode_to_list(text) or ()))
        output = max(0.0, whole - utf8 - warm)
    return {
        "utf-8": utf8,
        "split": splitting,
        "look up": max(0.0, warm - inside),
        "merge": max(0.0, cold - warm),
        "output": output,
    }


def _split_outside(text: str, split: Split, ends: np.ndarray) -> int:
    found = plain.ends_of(text, split(text))
    ends[: len(found)] = found
    return len(found)


def _timed(work: Callable[[], int]) -> tuple[float, int]:
    started = perf_counter()
    result = work()
    return perf_counter() - started, result
