"""Splitters that few models need, in a separate object file: chained stages, deepseek's, alphabets of characters."""

from __future__ import annotations

from impls.compiled.codegen.memory import kernel
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.bitparallel_characters import neighbours_block
from impls.compiled.pretokenize.bitparallel_deepseek import deepseek_block
from impls.compiled.pretokenize.layout import DEEPSEEK, NEIGHBOURS
from impls.compiled.pretokenize.stages import begin_stages, stages_block
from impls.compiled.typed_memory import U8s


@kernel
def split_otherwise(context: ContextRecord, text: U8s, n_bytes: int, readable: int, start: int, limit: int) -> int:
    """Split a block by a splitter that is one of OTHERS; arguments and result are those of `windows.windowed`."""
    splitter = context.splitter
    if splitter == NEIGHBOURS:
        return neighbours_block(context, text, n_bytes, readable, start, limit, 0, 0)
    if start == 0:
        begin_stages(context)
    if splitter == DEEPSEEK:
        return deepseek_block(context, text, n_bytes, readable, start, limit, 0, 0)
    return stages_block(context, text, n_bytes, start, limit)
