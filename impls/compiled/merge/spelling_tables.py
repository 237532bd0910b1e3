"""Numbers the symbols of a model whose alphabet is characters: how each character is spelled, and the merges.

Symbols are, in this order: the 256 bytes for characters that are not tokens (or the unknown token, or if the
model has neither, a symbol without an id, which no text reaches), the tokens of one character, those of one character
at the end of a piece, and one per merge in rank order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from impls.compiled.merge.symbols import (
    Symbols,
    blob_of,
    characters_before,
    possible_merges,
    renumbered,
    single_characters,
)
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.merging import character_ends, middle_of
from impls.core.pattern.borders import border_tables
from impls.core.pattern.classes import N_CODE_POINTS, PAGE, paged
from impls.core.pattern.tables import SplitTables

_NEVER = 1 << 62
_NO_ID = -1
_UNKNOWN, _BY_BYTES = -1, -2


def from_characters(model: Model) -> tuple[Symbols, dict[str, np.ndarray], tuple[int, bool]]:
    """Return the symbols of a model of characters, the tables of how each character is spelled, by their fields, and
    the values of `unknown_symbol` and `fuses_unknown`; raise `Unsupported` for an unsupported model."""
    byte_ids = () if model.sentencepiece is None else model.sentencepiece.byte_ids
    unknown_id = _NO_ID if model.unknown_id is None else model.unknown_id
    others = list(byte_ids) if byte_ids else [unknown_id]
    if missing := -1 in others[:256] and bool(byte_ids):
        others.append(unknown_id)
    inner, last = model.derived(single_characters)
    base = np.array([*others, *inner.values(), *(last.values() if last is not inner else ())], np.int64)
    if model.merge_rule == "pairs":
        pairs, results = possible_merges(model)
    elif model.end_of_word is not None:
        raise Unsupported("compiled", "end_of_word with merges by joined text; it needs listed merges")
    else:
        pairs, results = _made_by_concatenation(model)
    symbols = renumbered(pairs, results, base)
    bytes_ = np.arange(256, dtype=np.int32) if byte_ids else np.zeros(256, np.int32)
    first_last = len(others) + (len(inner) if last is not inner else 0)
    # From the last code point that is a token on, one page serves all the others.
    n_codes = N_CODE_POINTS if missing else min(max(map(ord, (*inner, *last, " "))) + 2 * PAGE, N_CODE_POINTS) & -PAGE
    symbol_of = np.full((n_codes, 2), _UNKNOWN, np.int32)  # by code point: inside a piece, and at its end
    for column, (characters, first) in enumerate(((inner, len(others)), (last, first_last))):
        symbol_of[list(map(ord, characters)), column] = np.arange(first, first + len(characters))
    if missing:
        symbol_of[(symbol_of[:, 0] == _UNKNOWN) & _spelled(np.array(byte_ids) >= 0), 0] = _BY_BYTES
    pages, by_page = paged(symbol_of.view(np.int64).ravel())
    pages = np.append(pages, np.full((N_CODE_POINTS - n_codes) // PAGE, pages[-1]))
    by_place = by_page.view(np.int32).reshape(-1, 2)
    symbol, last_symbol = np.ascontiguousarray(by_place[:, 0]), np.ascontiguousarray(by_place[:, 1])
    fuses = model.sentencepiece is not None and model.sentencepiece.fuse_unknown
    spelling = {"spelling_pages": pages, "character_symbols": symbol}
    if last is not inner:
        spelling["last_symbols"] = last_symbol
    unknown = 256 if missing else -1 if byte_ids else 0
    # The first round starts from bytes, so treat this model as one whose ranks are not monotone.
    return replace(symbols, byte_symbols=bytes_, monotone=False), spelling, (unknown, fuses)


def _spelled(there: np.ndarray) -> np.ndarray:
    """Return, by code point, whether all its UTF-8 bytes are available; `there` says so by byte."""
    data = "".join(map(chr, range(N_CODE_POINTS))).encode("utf-8", "surrogatepass")
    bytes_ = np.frombuffer(data, np.uint8)
    spelled: np.ndarray = np.logical_and.reduceat(there[bytes_], np.flatnonzero(bytes_ & 0xC0 != 0x80))
    return spelled


def borders(model: Model) -> SplitTables | None:
    """Return tables of where a text may be cut if the alphabet is characters, or None.

    None if a whole piece may be a token by itself, or if characters at its end have other symbols.
    """
    if (
        model.end_of_word is not None
        or model.ignore_merges
        or (model.merge_rule == "concatenation" and model.sentencepiece is None)
    ):
        return None
    rules = model.sentencepiece
    fuses = rules is not None and not rules.spells_all and (rules.fuse_unknown or bool(rules.byte_ids))
    blob, starts = blob_of(model)
    ends = characters_before(blob)[starts[1:]]
    return border_tables(blob.decode(), ends, model.derived(single_characters)[0].keys(), unknown_stay_together=fuses)


def _made_by_concatenation(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return one pair (left id, right id) per token, and the token's id, in rank order; see `merge/piece`."""
    alone = () if model.sentencepiece is None else model.sentencepiece.user_defined_ids
    ids = model.id_by_token
    merged = {token: i for token, i in ids.items() if i not in alone and len(character_ends(token)) > 1}
    ranks = {token: model.ranks[i] for token, i in merged.items()}
    _refuse_ties({token.decode(): rank for token, rank in ranks.items()})
    merges: list[tuple[int, int, int]] = []
    for token in sorted(merged, key=lambda token: (ranks[token], -len(token.decode()))):
        middle = middle_of(token, character_ends(token), _NEVER, ranks)
        if token[:middle] in ids and token[middle:] in ids:
            merges.append((ids[token[:middle]], ids[token[middle:]], merged[token]))
    table = np.array(merges, np.int64).reshape(-1, 3)
    return table[:, :2], table[:, 2]


def _refuse_ties(ranks: dict[str, int]) -> None:
    """Raise `Unsupported` if tokens of equal rank are anything but runs of one character.

    By the rule the leftmost of equal ranks merges first; kernels merge the lowest symbol first, then the leftmost. For
    runs whose symbols are in order of falling length the result is the same: besides runs that cannot grow any more
    there is at most one of two characters or more, the leftmost that can, and what it makes is longer than any two
    single characters.
    """
    by_rank: dict[int, list[str]] = {}
    for text, rank in ranks.items():
        by_rank.setdefault(rank, []).append(text)
    for texts in by_rank.values():
        if len(texts) > 1 and len(set("".join(texts))) > 1:
            raise Unsupported("compiled", f"the tokens {texts[0]!r} and {texts[1]!r} have the same rank")
