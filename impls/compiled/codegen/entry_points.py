"""Lists what the object files export: the kernels of each module, by name.

There are several object files, so that the first id does not wait for kernels it does not need. This module must import
nothing.
"""

from __future__ import annotations

PREFIX = "bpebench_"
REGIONS_SYMBOL = "bpebench_regions"
"""Symbol of the checked build's table of regions, which `build.regions` creates."""
OBJECT_FILES = {
    "encoding": {
        "lookup.encode": "encode split_block",
        "lookup.cache": "load_vocabulary",
        "merge.pairs": "build_pairs",
        "merge.piece": "fill_rows find_whole piece_ids index_tokens derive last_merges",
        "merge.segments": "build_character_ids",
        "json_columns": "read_vocabulary read_merges find_texts",
        "cpython.boundary": "encode_to_list encode_to_list_unless_special",
    },
    "arrays": {
        "merge.last_tokens": "index_suffixes extend_beginnings",
        "cpython.boundary": "encode_to_array encode_to_array_unless_special",
    },
    "decoding": {"cpython.ids_to_text": "decode_to_str decode_to_bytes"},
    "batches-and-training": {
        "training.documents": "valid_bytes text_sizes",
        "training.count_pieces": "count_texts spread_pieces add_pieces",
        "training.cells": "fill_cells compact_cells",
        "training.pairs": "count_pairs spread_pairs list_pairs",
        "training.learn": "learn",
        "threads.batch": "ask_worker run_worker run_claimed batch_fetch batch_collect",
    },
}
"""By object file, by module: its kernels."""
CALL_ENCODE = ("arrays", "batches-and-training")
"""The object files whose kernels call `encode`, which is in the first object file."""
FAST_METHODS = ("run_claimed", "batch_fetch", "batch_collect")
"""Bodies of built-in functions; their arguments are the context, the address of the objects passed, their number."""


def exported(object_file: str) -> dict[str, str]:
    """Return the module of every kernel that an object file exports."""
    return {name: module for module, names in OBJECT_FILES[object_file].items() for name in names.split()}


OBJECT_FILE_OF = {name: object_file for object_file in OBJECT_FILES for name in exported(object_file)}
"""By kernel, the object file that exports it."""
METHODS = {name for name, file in OBJECT_FILE_OF.items() if exported(file)[name].startswith("cpython.")}
"""Bodies of built-in functions; their arguments are the context and one object. All others are called by ctypes."""
