"""Names of what the object file exports, with the number of int64 arguments. Must import nothing."""

from __future__ import annotations

PREFIX = "bpebench_"
PLAIN = {
    "encode": 5,
    "encode_pieces": 6,
    "split": 4,
    "decoded_bytes": 3,
    "decode": 4,
    "reset_cache": 1,
    "build_pairs": 6,
    "build_first_round": 5,
    "fill_rows": 5,
    "put_whole": 5,
    "build_characters": 4,
    "build_character_ids": 3,
    "load_rows": 1,
    "find_whole": 5,
    "index_tokens": 5,
    "derive": 8,
    "encode_with_dropout": 6,
    "count_texts": 2,
    "count_split": 5,
    "spread_pieces": 3,
    "number_pieces": 3,
    "collect_counts": 2,
    "fill_cells": 5,
    "compact_cells": 1,
    "sum_pairs": 1,
    "count_pairs": 1,
    "spread_pairs": 4,
    "list_pairs": 1,
    "learn": 1,
    "ask_worker": 3,
    "change_state": 3,
    "run_worker": 1,
}
METHODS = (
    "encode_to_list",
    "encode_to_list_unless_special",
    "encode_to_array",
    "encode_to_array_unless_special",
    "count_ids",
    "decode_to_str",
    "decode_to_bytes",
)
FAST_METHODS = (
    "run_claimed",
    "batch_fetch",
    "batch_collect",
    "batch_encode",
    "batch_copy",
    "batch_close",
)
