"""Lists what the object files export: each kernel's name, its module, and its number of int64 arguments.

There are several object files, so that the first id does not wait for kernels it does not need. This module must import
nothing.
"""

from __future__ import annotations

PREFIX = "bpebench_"
REGIONS_SYMBOL = "bpebench_regions"
"""Symbol of the checked build's table of regions, which `build.regions` creates."""
PLAIN = {
    "encode": ("lookup.encode", 5),
    "encode_pieces": ("lookup.encode", 6),
    "split": ("lookup.encode", 4),
    "split_otherwise": ("pretokenize.other_splitters", 6),
    "spell": ("sentencepiece.spelling", 5),
    "decoded_bytes": ("lookup.decode", 3),
    "decode": ("lookup.decode", 4),
    "reset_cache": ("lookup.cache", 1),
    "build_pairs": ("merge.pairs", 6),
    "fill_rows": ("merge.piece", 5),
    "build_characters": ("merge.characters", 4),
    "build_character_ids": ("merge.segments", 3),
    "load_vocabulary": ("lookup.cache", 1),
    "find_whole": ("merge.piece", 5),
    "index_tokens": ("merge.derive", 6),
    "derive": ("merge.derive", 8),
    "byte_piece_ids": ("merge.piece", 4),
    "index_suffixes": ("merge.last_tokens", 2),
    "extend_beginnings": ("merge.last_tokens", 5),
    "changed_tokens": ("merge.last_tokens", 5),
    "valid_bytes": ("training.documents", 2),
    "text_sizes": ("training.documents", 2),
    "count_texts": ("training.count_pieces", 2),
    "count_split": ("training.count_pieces", 5),
    "spread_pieces": ("training.count_pieces", 3),
    "number_pieces": ("training.count_pieces", 3),
    "collect_counts": ("training.count_pieces", 2),
    "fill_cells": ("training.cells", 5),
    "compact_cells": ("training.cells", 1),
    "sum_pairs": ("training.pairs", 1),
    "count_pairs": ("training.pairs", 1),
    "spread_pairs": ("training.pairs", 4),
    "list_pairs": ("training.pairs", 1),
    "learn": ("training.learn", 1),
    "ask_worker": ("threads.worker_kernels", 3),
    "change_state": ("threads.worker_kernels", 3),
    "run_worker": ("threads.batch", 1),
}
"""C functions to be called by ctypes."""
METHODS = {
    "encode_to_list": "cpython.boundary",
    "encode_to_list_unless_special": "cpython.boundary",
    "encode_to_array": "cpython.boundary_arrays",
    "encode_to_array_unless_special": "cpython.boundary_arrays",
    "count_ids": "cpython.boundary_arrays",
    "encode_cut": "cpython.boundary_arrays",
    "decode_to_str": "cpython.ids_to_text",
    "decode_to_bytes": "cpython.ids_to_text",
}
"""Bodies of built-in functions; their arguments are the context and one object."""
FAST_METHODS = {
    "run_claimed": "threads.batch_results",
    "batch_fetch": "threads.batch",
    "batch_collect": "threads.batch_results",
    "batch_encode": "threads.batch_results",
    "batch_copy": "threads.batch_results",
    "batch_close": "threads.batch_results",
}
"""Bodies of built-in functions; their arguments are the context, the address of the objects passed, their number."""


_MODULES = {
    "arrays": ("cpython.boundary_arrays", "merge.last_tokens"),
    "stages": ("pretokenize.other_splitters", "sentencepiece.spelling"),
    "decoding": ("cpython.ids_to_text", "lookup.decode"),
    "later": ("threads", "training"),
}
"""By object file, the modules or folders of the kernels that most programs never call, or not at first."""
OBJECT_FILES = ("encoding", *_MODULES)
CALL_ENCODE = ("arrays", "later")
"""The object files whose kernels call `encode`, which is in the first object file."""


def object_file_of(name: str) -> str:
    """Return the one of `OBJECT_FILES` that exports a kernel."""
    module = METHODS.get(name) or FAST_METHODS.get(name) or PLAIN[name][0]
    return next((name for name, modules in _MODULES.items() if module.startswith(modules)), "encoding")
