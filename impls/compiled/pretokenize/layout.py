"""The memory layout of what splits text: automata, stages, the masks of a window, and special tokens."""

from __future__ import annotations

from impls.compiled.typed_memory import I32s, Record, U8s, U16s, i64

# Values of the field SPLITTER; from CL100K on, windows over an automaton. DEEPSEEK: windows over stages; NEIGHBOURS:
# for alphabets of characters, cuts between any two that no token holds side by side
WHOLE_TEXT, AUTOMATON, STAGES_IN_TURN, DEEPSEEK, NEIGHBOURS, CL100K, QWEN, O200K, TEKKEN, GPT2 = range(10)
OTHERS = (STAGES_IN_TURN, DEEPSEEK, NEIGHBOURS)
"""The splitters in a separate object file."""


class Automaton(Record):
    """The automaton of a pattern, see `pretokenize/scan`."""

    transitions: I32s  # int32 by state and class
    ascii_classes: U8s  # uint8 by ASCII character: its class
    pages: U16s  # uint16 by code point // 64: its page of `page_classes`
    page_classes: U8s  # uint8 by page * 64 + code point % 64: the class of a character
    end_class: i64  # the class that stands for the end of the text


class StageRecord(Record):
    """One stage of a splitter of several stages."""

    automaton: Automaton
    has_gaps: i64  # 1 if text that the pattern leaves out is a piece of its own
    end: i64  # offset at which the stage's current piece ends


class Masks(Record):
    """The masks of a window: a bit for each of its 64 bytes; see `pretokenize/byte_masks`.

    The masks that one kernel writes follow each other.
    """

    # of `ascii_masks`
    letters: i64
    digits: i64
    newlines: i64
    spaces: i64
    other_spaces: i64
    apostrophes: i64
    high: i64
    upper: i64
    slashes: i64
    # of `high_masks`
    continuation: i64
    cyrillic_d0: i64
    cyrillic_d1: i64
    ideographs: i64
    lead_e4: i64
    lead_e9: i64
    below_b0: i64
    below_a0: i64
    from_b8: i64
    up_to_be: i64
    # of `latin_masks`
    lead_c3: i64
    lead_c4: i64
    lead_c5: i64
    signs: i64
    up_to_9e: i64
    odd: i64
    up_to_88: i64
    from_b9: i64
    only_bf: i64
    # of `greek_masks`
    lead_ce: i64
    from_ac: i64
    lead_cf: i64
    up_to_8e: i64
    # of `semitic_masks`
    lead_d7: i64
    from_90_to_aa: i64
    lead_d8: i64
    from_a0: i64
    lead_d9: i64
    from_81_to_8a: i64
    # of `kana_masks`
    lead_e3: i64
    only_81: i64
    only_82: i64
    only_83: i64
    from_81: i64
    but_97_to_a0: i64
    but_bb: i64
    # of `deepseek_masks`
    controls: i64
    hangul: i64
    up_to_bd: i64
    # of `lead_masks`
    leads: i64
    # of `bitparallel`
    any_case: i64
    marks: i64
    cuts: i64
    sinographs: i64


class SpecialRow(Record):
    """A prefix of special tokens; offsets are in bytes from the table's start."""

    offset: i64  # offset of the prefix
    n_bytes: i64  # its size
    suffixes: i64  # offset of its suffixes, a `SuffixRow` each
    n_suffixes: i64  # their number


class SuffixRow(Record):
    """What follows a prefix in one special token."""

    offset: i64  # offset of its bytes, from the first of the prefix's suffix rows
    n_bytes: i64
