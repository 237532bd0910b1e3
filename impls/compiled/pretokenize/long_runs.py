"""Skips the inside of words longer than a window: most of their letters cannot end a piece, whatever came before.

In every pattern that has windows a lower-case ASCII letter after another one continues the piece, and what the piece
began with no longer matters. So a piece that begins with a letter or a space, and continues with lower-case letters,
ends where a piece that begins at any of these letters would end.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, wrapping_add
from impls.compiled.codegen.pointers import word_at
from impls.compiled.typed_memory import U8s

_TOPS = -0x7F7F7F7F7F7F7F80
"""0x80 in every byte."""
_FROM_A, _BEHIND_Z = 0x1F1F1F1F1F1F1F1F, 0x0505050505050505
"""Adding the first sets the top bit of every byte that is at least `a`; the second, of every byte after `z`."""
LEAST_RUN = 32


@inlined
def _are_small_letters(word: int) -> bool:
    """Return whether eight bytes are all `a` to `z`."""
    if word & _TOPS != 0:
        return False
    return wrapping_add(word, _FROM_A) & ~wrapping_add(word, _BEHIND_Z) & _TOPS == _TOPS


@kernel
def inner_start(text: U8s, n_bytes: int, start: int) -> int:
    """Return a position, `start` or later, from which a piece ends where the one that begins at `start` does."""
    first = text[start]
    if first != 0x20 and not 0x61 <= (first | 0x20) <= 0x7A:
        return start
    at = start + 1
    while at + 8 <= n_bytes and _are_small_letters(word_at(text, at)):
        at += 8
    return at - 8 if at - start > LEAST_RUN else start
