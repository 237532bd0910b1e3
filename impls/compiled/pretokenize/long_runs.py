"""Words longer than a window: most of their letters cannot end a piece, and the automaton need not see them.

In every pattern that has windows a small letter of ASCII behind another one goes on with the piece, and what the piece
began with before them matters no more. So a piece that begins with a letter or a space, and goes on with small letters,
ends where a piece would end that begins at any of these.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, load_i64, load_u8, wrapping_add

_TOPS = -0x7F7F7F7F7F7F7F80
"""0x80 in every byte."""
_FROM_A, _BEHIND_Z = 0x1F1F1F1F1F1F1F1F, 0x0505050505050505
"""What raises the top bit of a byte that is at least `a`, or behind `z`."""
LEAST_RUN = 32


@inlined
def _are_small_letters(word: int) -> bool:
    """Whether eight bytes are all from `a` to `z`."""
    if word & _TOPS != 0:
        return False
    return wrapping_add(word, _FROM_A) & ~wrapping_add(word, _BEHIND_Z) & _TOPS == _TOPS


@kernel
def inner_start(text: int, n_bytes: int, start: int) -> int:
    """A place from which the piece that begins at `start` ends where it does from there: `start` or a later one."""
    first = load_u8(text + start)
    if first != 0x20 and not 0x61 <= (first | 0x20) <= 0x7A:
        return start
    at = start + 1
    while at + 8 <= n_bytes and _are_small_letters(load_i64(text + at)):
        at += 8
    return at - 8 if at - start > LEAST_RUN else start
