"""The memory layout of what splits text: automata, stages, the masks of a window, and special tokens."""

from __future__ import annotations

from impls.compiled.language.typed_memory import I32s, Record, U8s, U16s, i64

# Values of the field SPLITTER; from CL100K on, windows over an automaton or, if DEEPSEEK, over stages
WHOLE_TEXT, GIVEN_ENDS, AUTOMATON, STAGES_IN_TURN, CL100K, QWEN, O200K, TEKKEN, GPT2, DEEPSEEK = range(10)


class Automaton(Record):
    """The automaton of a pattern, or of one of its stages, see `pretokenize/scan`."""

    transitions: I32s  # int32 by state and class
    ascii_classes: U8s  # uint8 by ASCII character: its class
    pages: U16s  # uint16 by code point // 64: its page of `page_classes`
    page_classes: U8s  # uint8 by page * 64 + code point % 64: the class of a character
    end_class: i64  # the class that stands for the end of the text
    # of a stage, see `pretokenize/stages`
    has_gaps: i64  # 1 if text that the pattern leaves out is a piece of its own
    end: i64  # offset at which the stage's current piece ends


class Masks(Record):
    """The masks of a window that splitters share: a bit for each of its 64 bytes."""

    # of all windows, see `bitparallel.mark_ascii`
    letters: i64
    digits: i64
    newlines: i64
    spaces: i64
    other_spaces: i64
    apostrophes: i64
    high: i64  # bytes that are not ASCII
    upper: i64
    slashes: i64
    # of windows that are not all ASCII, see `bitparallel.mark_non_ascii`
    continuation: i64
    any_case: i64
    marks: i64
    cuts: i64
    sinographs: i64


class SpecialRow(Record):
    """A prefix of special tokens."""

    n_bytes: i64  # its size
    first: i64  # index of the first token that begins with it
    n_tokens: i64  # their number


class SpecialToken(Record):
    """A special token."""

    offset: i64  # where its bytes begin
    n_bytes: i64
