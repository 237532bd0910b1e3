"""The number of ids of a text that is cut within a long piece, without encoding all of it again.

    "…abab" of "…ababc", whose ids are those of …|ab|ab|c    "abab" alone is ab|ab: the first ab is in both

Its end is encoded alone, from a token of the piece on. If some token of that is one of the whole text too, no merge
crosses its borders in either. So the merges before its end are those in the whole text, the merges after its beginning
those in the end: the ids are those of the whole text up to that token, then those of the end. This holds for every
model, whatever its ranks, as merges within a stretch happen in the same order until one crosses its border.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from impls.operations.coder import Coder
from impls.operations.growing_piece import runs_of

if TYPE_CHECKING:
    from impls.core.model import Model

_LEAST = 256
"""Least bytes of the end that is encoded, besides those of a token; characters that are read before it to tell its
piece."""


def known_to_fit(tokenizer: Coder, text: str, ids: Sequence[int], n_tokens: int) -> str | None:
    """Return the text of the first `n_tokens` of a text's ids, less those of part of a character at their end.

    None if it is not certain that this has at most `n_tokens` ids when it is encoded alone.
    """
    runs, model, tokens = runs_of(tokenizer), tokenizer.model, tokenizer.model.tokens
    restores = model.alphabet == "bytes" and model.round_trip == "exact" and not model.added_tokens
    if runs is None or not restores or not tokenizer.exact or tokenizer.kind not in ("pure", "compiled", "production"):
        return None
    # The end is longer than any token, so that no piece is taken whole.
    wanted, first = _LEAST + model.derived(_longest_token), n_tokens
    while wanted > 0 or (tokens[ids[first]] or b"")[0] & 0xC0 == 0x80:
        if first == 0:
            return None
        first -= 1
        wanted -= len(tokens[ids[first]] or b"")
    for n in range(n_tokens, max(first, n_tokens - 4), -1):
        with suppress(UnicodeDecodeError):
            end = tokenizer.decode_bytes(ids[first:n]).decode()
            cut = tokenizer.decode_bytes(ids[:n]).decode()
            break
    else:
        return None
    begin = len(cut) - len(end)
    last, alone = runs.last_from(cut, max(0, begin - _LEAST)), runs.last_from(end, 0)
    if last is None:  # a run of one character, say blanks, may be read from its beginning in no time
        last = runs.last_from(cut, max(0, min(begin, len(cut.rstrip(cut[-1]))) - _LEAST))
    if last is None or last[0] > begin or alone is None or alone[0] > 0:
        return None
    if not runs.matches_before(last[1], text[len(cut)]) or not text.startswith(cut):
        return None
    ends = tokenizer.encode(end, disallowed_special=())
    at = end_at = n_ends = 0  # bytes before ids[first], and before ends[n_ends]
    while first < n and n_ends < len(ends):
        if at == end_at and ids[first] == ends[n_ends]:
            return cut if first + len(ends) - n_ends <= n_tokens else None
        if at <= end_at:
            at += len(tokens[ids[first]] or b"")
            first += 1
        else:
            end_at += len(tokens[ends[n_ends]] or b"")
            n_ends += 1
    return None


def _longest_token(model: Model) -> int:
    return max(map(len, filter(None, model.tokens)))
