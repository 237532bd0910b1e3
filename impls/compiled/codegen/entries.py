"""What the object file exports: plain C functions for ctypes, and bodies of built-in functions for Python.

A plain function takes and returns int64; a method takes (self, argument), a fast method (self, arguments, count).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import binding as llvm

from impls.compiled.codegen.entry_points import FAST_METHODS, METHODS, PLAIN, PREFIX
from impls.compiled.cpython import boundary
from impls.compiled.cpython.interpreter import long_as_address
from impls.compiled.lookup import cache, decode, encode
from impls.compiled.merge import characters, derive, dropout, pairs, piece, prepare, segments
from impls.compiled.threads import batch, batch_results, worker_kernels
from impls.compiled.training import cells, count_pieces, learn, list_pairs, pair_table

_PLAIN: dict[str, Callable[..., int]] = {
    "encode": encode.encode,
    "encode_pieces": encode.encode_pieces,
    "split": encode.split,
    "decoded_bytes": decode.decoded_bytes,
    "decode": decode.decode,
    "reset_cache": cache.reset_cache,
    "build_pairs": pairs.build_pairs,
    "build_first_round": prepare.build_first_round,
    "fill_rows": prepare.fill_rows,
    "put_whole": piece.put_whole,
    "build_characters": characters.build_characters,
    "build_character_ids": segments.build_character_ids,
    "load_rows": cache.load_vocabulary,
    "find_whole": prepare.find_whole,
    "index_tokens": derive.index_tokens,
    "derive": derive.derive,
    "encode_with_dropout": dropout.encode_with_dropout,
    "count_texts": count_pieces.count_texts,
    "count_split": count_pieces.count_split,
    "spread_pieces": count_pieces.spread_pieces,
    "number_pieces": count_pieces.number_pieces,
    "collect_counts": count_pieces.collect_counts,
    "fill_cells": cells.fill_cells,
    "compact_cells": cells.compact_cells,
    "sum_pairs": list_pairs.sum_pairs,
    "count_pairs": list_pairs.count_pairs,
    "spread_pairs": pair_table.spread_pairs,
    "list_pairs": list_pairs.list_pairs,
    "learn": learn.learn,
    "ask_worker": worker_kernels.ask_worker,
    "change_state": worker_kernels.change_state,
    "run_worker": batch.run_worker,
}
_METHODS: dict[str, Callable[[int, int], int]] = {
    "encode_to_list": boundary.encode_to_list,
    "encode_to_list_unless_special": boundary.encode_to_list_unless_special,
    "encode_to_array": boundary.encode_to_array,
    "encode_to_array_unless_special": boundary.encode_to_array_unless_special,
    "count_ids": boundary.count_ids,
    "decode_to_str": boundary.decode_to_str,
    "decode_to_bytes": boundary.decode_to_bytes,
}
_FAST_METHODS: dict[str, Callable[[int, int], int]] = {
    "run_claimed": batch_results.run_claimed,
    "batch_fetch": batch.batch_fetch,
    "batch_collect": batch_results.batch_collect,
    "batch_encode": batch_results.batch_encode,
    "batch_copy": batch_results.batch_copy,
    "batch_close": batch_results.batch_close,
}


def compiled_entries() -> dict[str, Any]:
    """Return the compiled C callbacks by exported name; each can show its LLVM code."""
    assert set(_PLAIN) == set(PLAIN), "impls.compiled.codegen.entry_points lists other plain functions"
    assert set(_METHODS) == set(METHODS), "impls.compiled.codegen.entry_points lists other methods"
    assert set(_FAST_METHODS) == set(FAST_METHODS), "impls.compiled.codegen.entry_points lists other fast methods"
    entries = {name: _plain(body, PLAIN[name]) for name, body in _PLAIN.items()}
    # Where Numba links each entry as it compiles it, what other entries call by name must have an address by then.
    if entries["encode"].address:
        llvm.add_symbol(PREFIX + "encode", entries["encode"].address)
    entries |= {name: _method(body) for name, body in _METHODS.items()}
    entries |= {name: _fast_method(body) for name, body in _FAST_METHODS.items()}
    return {PREFIX + name: entry for name, entry in entries.items()}


def _signature(n_arguments: int) -> str:
    return f"int64({', '.join(['int64'] * n_arguments)})"


def _plain(body: Callable[..., int], n_arguments: int) -> Any:
    names = ", ".join("abcdefgh"[:n_arguments])
    scope: dict[str, Any] = {"body": body}
    exec(f"def entry({names}): return body({names})", scope)
    return numba.cfunc(_signature(n_arguments))(scope["entry"])


def _method(body: Callable[[int, int], int]) -> Any:
    @numba.cfunc(_signature(2))
    def entry(bound: int, argument: int) -> int:
        return body(long_as_address(bound), argument)

    return entry


def _fast_method(body: Callable[[int, int], int]) -> Any:
    @numba.cfunc(_signature(3))
    def entry(bound: int, arguments: int, count: int) -> int:
        return body(long_as_address(bound), arguments)

    return entry
