"""Splits by several stages, or one with gaps: each stage cuts the pieces of the stage before, as if whole texts.

The record of a stage's automaton also has the end of the stage's current piece; the last stage's ends are those of the
pieces.
"""

from __future__ import annotations

from impls.compiled.language.memory import kernel
from impls.compiled.language.typed_memory import U8s
from impls.compiled.layout import UNCOVERED, ContextRecord
from impls.compiled.pretokenize.layout import Automaton
from impls.compiled.pretokenize.scan import piece_end, width


@kernel
def _stage_end(stage: Automaton, text: U8s, n_bytes: int, start: int) -> int:
    """Return the end of the stage's piece that begins at `start`; a gap ends where the pattern matches again."""
    end = piece_end(stage, text, n_bytes, start)
    if end >= 0 or stage.has_gaps == 0:
        return end
    position = start + width(text[start])
    while position < n_bytes and piece_end(stage, text, n_bytes, position) < 0:
        position += width(text[position])
    return position


@kernel
def stages_piece_end(context: ContextRecord, text: U8s, n_bytes: int, begin: int) -> int:
    """Return the end of the piece that begins at `begin` < n_bytes, or UNCOVERED.

    `begin` must never decrease within a text.
    """
    end = n_bytes
    for i in range(context.n_stages):
        stage = context.stages[i]
        if stage.end <= begin:
            end = _stage_end(stage, text, end, begin)
            if end < 0:
                return UNCOVERED
            stage.end = end
        end = stage.end
    return end


@kernel
def begin_stages(context: ContextRecord, start: int) -> None:
    """Reset the stages if `start` is where a text begins."""
    if start == 0:
        for i in range(context.n_stages):
            context.stages[i].end = 0


@kernel
def stages_block(context: ContextRecord, text: U8s, n_bytes: int, start: int, limit: int) -> int:
    """Split a block as `scan.scan_block` does; a text must be split from its start, block by block."""
    ends, n, begin = context.ends, 0, start
    begin_stages(context, start)
    while begin < limit:
        begin = stages_piece_end(context, text, n_bytes, begin)
        if begin < 0:
            return UNCOVERED
        ends[n] = begin
        n += 1
    context.after = begin
    return n
