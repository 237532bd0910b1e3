"""Builds the tables of a context that depend only on the model, as flat arrays; later they are read from disk.

Among them is what kernels look up for two neighbours: what symbols merge into (`merge/pairs`: the bucket of each pair,
the order of all buckets), and which three-byte characters some token holds side by side (`merge/segments`).
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from impls.compiled.codegen.build import is_checked, source_digest
from impls.compiled.codegen.native import native
from impls.compiled.context import Context, ModelTables, token_table
from impls.compiled.layout import HANDLE_BITS, JOINS_SHIFT, LONGEST_DERIVED, NO_ROW, NONE, SYMBOL_BITS
from impls.compiled.merge.spelling_tables import from_characters
from impls.compiled.merge.symbols import Symbols, blob_of, from_merges, from_parts
from impls.compiled.pages import cache_folder, packed, read_checked, unpacked, write_checked
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.data import ModelData
from impls.core.model.derivations import bytes_by_id
from impls.core.model.merging import middle_of
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.sentencepiece_rules import SPACE_MARK

_MOST_IN_BUCKET = 8
_MOST_PLACES, _MOST_BUCKETS = NONE, (1 << (HANDLE_BITS - 1)) - 1
"""Maximum numbers that the bit fields of slots and buckets hold."""
_K1 = np.uint64(-7046029254386353131 % (1 << 64))
"""The constant K1 of `lookup/hashing`."""
_LONGEST_SHORT = 15
"""The constant of `lookup/cache`: the maximum size of a piece that is its own key."""


def pair_rows(merges: np.ndarray, n_symbols: int) -> dict[str, np.ndarray]:
    """Return the table of merges: what two symbols merge into, as the fields `pairs`, `buckets` and `handles`.

    `merges` are int64 `(left << 21 | right) << 21 | symbol`. Raises `Unsupported` if there are too many.
    """
    lefts, rights, results = merges >> (2 * SYMBOL_BITS), (merges >> SYMBOL_BITS) & NONE, merges & NONE
    row_bits = _row_bits(lefts, rights, n_symbols)
    handles, n_buckets = _handles(lefts, row_bits)
    buckets = (handles[lefts] - (1 << row_bits[lefts])) // 2 + _bucket_in_row(rights, row_bits[lefts])
    order = np.sort(buckets << 32 | np.arange(len(buckets))) & 0xFFFFFFFF  # a stable argsort, but much faster
    entries = ((results << HANDLE_BITS | handles[results]) << SYMBOL_BITS | rights)[order]
    ends = np.cumsum(np.bincount(buckets, minlength=n_buckets))
    n_slots = len(entries) + len(entries) // 64 + 16
    pairs, words = np.full(n_slots, -1, np.int64), np.zeros(n_buckets, np.int64)
    n_used = -1
    if n_slots <= _MOST_PLACES and n_buckets <= _MOST_BUCKETS:
        n_used = native.build_pairs(entries, ends, n_buckets, words, pairs, n_slots)
    if n_used < 0:
        raise Unsupported("compiled", f"the model has more pairs of tokens ({len(merges)}) than its table can hold")
    return {"pairs": pairs[:n_used].copy(), "buckets": words, "handles": handles.astype(np.int32)}


def _bucket_in_row(rights: np.ndarray, bits: np.ndarray) -> np.ndarray:
    hashes = rights.astype(np.uint64) * _K1
    return ((hashes >> np.uint64(1)) >> (63 - bits).astype(np.uint64)).astype(np.int64)


def _row_bits(lefts: np.ndarray, rights: np.ndarray, n_symbols: int) -> np.ndarray:
    """Return the log2 of the number of buckets in each left symbol's row, so that none holds too many pairs: int64."""
    n_pairs = np.bincount(lefts, minlength=n_symbols)
    bits = np.zeros(n_symbols, np.int64)
    while (crowded := n_pairs > _MOST_IN_BUCKET << bits).any():
        bits += crowded
    left, right = (part[n_pairs[lefts] > _MOST_IN_BUCKET] for part in (lefts, rights))
    while len(left):
        begins = np.cumsum(1 << bits) - (1 << bits)
        buckets = begins[left] + _bucket_in_row(right, bits[left])
        is_full = np.zeros(n_symbols, bool)
        is_full[left[np.bincount(buckets)[buckets] > _MOST_IN_BUCKET]] = True
        bits += is_full
        left, right = left[is_full[left]], right[is_full[left]]
    return bits


def _handles(lefts: np.ndarray, row_bits: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the handles (int64 by symbol) and the number of buckets.

    Larger rows come first, so each begins at a multiple of its size. Before them is the empty bucket of NO_ROW.
    """
    rows = np.flatnonzero(np.bincount(lefts))
    rows = rows[np.argsort(-row_bits[rows], kind="stable")]
    sizes = 1 << row_bits[rows]
    first = sizes.max(initial=1)
    begins = first + np.cumsum(sizes) - sizes
    handles = np.full(len(row_bits), NO_ROW, np.int64)
    handles[rows] = 2 * begins + sizes
    return handles, int(first + sizes.sum())


_LEAD = 0xE0
"""The high four bits of the first byte of a three-byte character."""


def joins_of(data: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two bitmaps of the pairs of characters that a token may hold; token i begins at `data[starts[i]]`.

    The first is by the pair's hash: uint8 of shape (1 << (61 - JOINS_SHIFT),), one bit per pair. The second is by the
    right character: int64 of shape (65536,), one bit for each last byte of a left character (its six bits) with which
    some token begins. A token that begins or ends inside a character counts for every character with that end or
    beginning.
    """
    leads = np.flatnonzero(data[: starts[-1]] & 0xF0 == _LEAD)
    token = np.searchsorted(starts, leads, "right") - 1
    offsets, n_left = leads - starts[token], starts[token + 1] - leads
    follows = (offsets >= 3) & (data[leads - 3] & 0xF0 == _LEAD)
    complete = leads[follows & (n_left >= 3)]
    pairs = [_codes(data, complete - 3) << 16 | _codes(data, complete)]
    ends = np.zeros(1 << 16, np.uint64)
    partial = (follows & (n_left < 3)) | ((offsets > 0) & (offsets <= 2) & (data[starts[token]] & 0xC0 == 0x80))
    for lead, offset, n_bytes in np.column_stack((leads, offsets, n_left))[partial].tolist():
        first = _code(*data[lead : lead + min(n_bytes, 3)].tobytes().ljust(3, b"\0"))
        rights = np.arange(first, first + (4096, 64, 1)[min(n_bytes, 3) - 1])
        before = data[lead - min(offset, 3) : lead].tolist()
        if offset >= 3:
            pairs.append(_code(*before) << 16 | rights)
        elif offset == 1:
            ends[rights] |= np.uint64(1 << (before[0] & 63))
        elif before[1] & 0xC0 == 0x80:
            lefts = (np.arange(16) << 12) | ((before[0] & 63) << 6) | (before[1] & 63)
            pairs.append(((lefts[:, None] << 16) | rights).ravel())
    bits = (np.concatenate(pairs).astype(np.uint64) * _K1) >> np.uint64(JOINS_SHIFT)
    bitmap = np.zeros(1 << (64 - JOINS_SHIFT), bool)
    bitmap[bits.astype(np.int64)] = True
    return np.packbits(bitmap, bitorder="little"), ends.view(np.int64)


def _codes(data: np.ndarray, at: np.ndarray) -> Any:
    """Return the three-byte characters that begin at the offsets `at`: int64."""
    return _code(*(data[at + k].astype(np.int64) for k in range(3)))


def _code(a: Any, b: Any, c: Any) -> Any:
    """Return the three-byte character of these bytes, the lowest one where zeros stand for the last ones."""
    return ((a & 15) << 12) | ((b & 63) << 6) | (c & 63)


_FORMAT = 10
_TINY = 1 << 12
_DECODED_IDS = 1 << 20


def model_digest(model: Model) -> str:
    """Return the SHA-256 (hex) of all that the tables depend on: the model, and the code that builds them."""
    return hashlib.sha256(f"{_FORMAT} {source_digest()} {model.packed().digest}".encode()).hexdigest()


def tables_of(model: Model) -> ModelTables:
    """Return the tables of a model, from the user's cache or newly built; raise `Unsupported` for too many tokens."""
    path = cache_folder() / "tables" / f"{model_digest(model)[:32]}.bin"
    kept = read_checked(path)
    if kept is not None:
        return unpacked(kept)
    tables = build_tables(model)
    if len(tables["token_starts"]) > _TINY and not is_checked():
        write_checked(path, packed(tables))
    return tables


def build_tables(model: Model) -> ModelTables:
    """Build the tables of a model."""
    written = model if model.end_of_word is None else printed(model)
    # Kernels read pieces as text here, never the bytes that the text stands for: those may be no UTF-8.
    blob, starts = blob_of(written)
    data = np.frombuffer(blob + bytes(64), np.uint8)
    spelling: dict[str, np.ndarray] = {}
    unknown, fuses_unknown = -1, False
    if model.alphabet == "chars" or model.end_of_word is not None:
        symbols, spelling, (unknown, fuses_unknown) = from_characters(written)
    elif model.merge_rule == "concatenation":
        symbols = from_parts(model, *_parts(model, data, starts))
    else:
        symbols = from_merges(model)
    tables = pair_rows(symbols.merges, symbols.n_symbols) | spelling
    tables["first_round"] = _first_round(symbols, data, starts)
    tables["byte_symbols"] = symbols.byte_symbols
    tables["ids"] = np.zeros(0, np.int32) if symbols.ids is None else symbols.ids
    tables["numbers"] = np.array([symbols.n_symbols, symbols.monotone, unknown, fuses_unknown], np.int64)
    tables["token_bytes"], tables["token_starts"] = _decoding(model)
    return _with_vocabulary(tables, model, data, starts)


def printed(model: Model) -> Model:
    """Return a model whose words end in `end_of_word` over characters: if it is over bytes, their printable ones."""
    if model.alphabet == "chars":
        return model
    tokens = [None if token is None else to_printable(token).encode() for token in model.tokens]
    return Model(tokens=tuple(tokens), merges=model.merges, alphabet="chars", end_of_word=model.end_of_word)


def _parts(model: Model, data: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two parts of each token of a rank file, as int32 ids or -1."""
    n_tokens = len(starts) - 1
    table, shift = token_table(data, starts, np.arange(n_tokens))
    lefts, rights = np.empty(n_tokens, np.int32), np.empty(n_tokens, np.int32)
    scratch = np.empty(2 * LONGEST_DERIVED + 16, np.int32)
    native.derive(data, starts, n_tokens, table, shift, lefts, rights, scratch)
    ids = model.id_by_token
    for i in np.flatnonzero(np.diff(starts) > LONGEST_DERIVED).tolist():
        token = model.tokens[i] or b""
        middle = middle_of(token, range(1, len(token) + 1), NONE, ids)
        left, right = ids.get(token[:middle]), ids.get(token[middle:])
        if left is not None and right is not None:
            lefts[i], rights[i] = left, right
    return lefts, rights


def _first_round(symbols: Symbols, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the table of the parallel first round; all NONE, and unused, if merges are not monotone.

    It holds, by first byte | second << 8, the rank of their merge, the lowest rank of a merge of the first byte with a
    symbol that begins with the second, and the lowest rank of a merge of a symbol that ends with the first byte with
    the second.
    """
    ranks = np.full((3, 1 << 16), NONE, np.int64)
    if symbols.monotone:
        ids = np.arange(symbols.n_symbols) if symbols.ids is None else symbols.ids
        first, last = (data[places].astype(int)[ids] for places in (starts[:-1], starts[1:] - 1))
        byte_of = np.full(symbols.n_symbols, -1)
        byte_of[symbols.byte_symbols] = np.arange(256)
        results = symbols.merges & NONE
        right, left = (symbols.merges >> SYMBOL_BITS) & NONE, symbols.merges >> (2 * SYMBOL_BITS)
        of_left, of_right = byte_of[left] >= 0, byte_of[right] >= 0
        of_both = of_left & of_right
        for field, those, first_bytes, second_bytes in (
            (0, of_both, byte_of[left], byte_of[right]),
            (1, of_left, byte_of[left], first[right]),
            (2, of_right, last[left], byte_of[right]),
        ):
            np.minimum.at(ranks[field], (first_bytes + 256 * second_bytes)[those], results[those])
    table: np.ndarray = ranks[0] | ranks[1] << SYMBOL_BITS | ranks[2] << (2 * SYMBOL_BITS)
    return table


def _decoding(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all ids, one after another, and where each begins: `token_bytes` and `token_starts`.

    Most tokens are their own bytes, perhaps with spaces for marks; only the others are asked what they decode to.
    """
    blob, starts = blob_of(model)
    data, n_tokens = np.frombuffer(blob, np.uint8), len(starts) - 1
    rules, decoder = model.sentencepiece, model.token_decoder
    joined = decoder if decoder is not None and decoder.joins_bytes else None
    are_own = joined is None or joined.byte_level == (model.alphabet == "bytes")
    others, has_marks = np.flatnonzero(np.diff(starts) > 0), False
    if model.end_of_word is None and are_own:
        has_marks = joined.marks if joined is not None else rules is not None and rules.escape_spaces
        named = np.flatnonzero((np.diff(starts) == len("<0x00>")) & (joined is not None))
        others = named[data[starts[named]] == ord("<")]
    asked = {i: blob[starts[i] : starts[i + 1]] for i in others.tolist()}
    tokens = tuple(map(asked.get, range(max(asked, default=-1) + 1)))
    by_id = bytes_by_id(ModelData(tokens=tokens, **model.packed().fields()))
    if has_marks:
        data, starts = _without_marks(data, starts)
    # Larger ids are decoded by the dictionary of `operations.stream_rules`.
    last = max([*by_id, int(np.flatnonzero(np.diff(starts)).max(initial=-1))])
    n_ids = min(last + 1, max(n_tokens, _DECODED_IDS))
    starts = np.append(starts[: n_ids + 1], np.full(max(0, n_ids - n_tokens), len(data)))
    lengths, known, at = np.diff(starts), np.append(np.diff(starts) > 0, True), 0
    parts: list[Any] = []
    for i in sorted(i for i in by_id if i < n_ids):
        parts += [data[at : starts[i]].data, by_id[i]]
        at, lengths[i], known[i] = starts[i + 1], len(by_id[i]), True
    np.cumsum(lengths, out=starts[1:])
    return np.frombuffer(b"".join([*parts, data[at:].data, bytes(64)]), np.uint8), np.where(known, starts, -1 - starts)


def _without_marks(data: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of tokens, and where each begins, with a space for each U+2581."""
    first, second, third = SPACE_MARK.encode()
    marks = np.flatnonzero((data[:-2] == first) & (data[1:-1] == second) & (data[2:] == third))
    written, kept = data.copy(), np.ones(len(data), bool)
    written[marks], kept[marks + 1], kept[marks + 2] = ord(" "), False, False
    return written[kept], starts - 2 * np.searchsorted(marks, starts)


def _with_vocabulary(tables: ModelTables, model: Model, data: np.ndarray, starts: np.ndarray) -> ModelTables:
    """Return the tables with the whole pieces they need and the cache entries of the vocabulary."""
    context, is_made = Context(tables, None), False
    if model.ignore_merges or (model.merge_rule == "concatenation" and model.sentencepiece is None):
        tokens = context.tokens_merging_does_not_make(data, starts)
        is_made = not len(tokens)
        if not is_made:
            tables = {**tables, "whole_tokens": tokens}
            context = Context(tables, None)
    is_of_bytes = model.alphabet == "bytes" and model.end_of_word is None
    if is_made and is_of_bytes:  # then every token is the only id of its bytes
        lengths = np.diff(starts)
        short = np.flatnonzero((lengths > 0) & (lengths <= _LONGEST_SHORT))
        cache_tokens, cache_rows = short.astype(np.int32), np.zeros((0, 4), np.int64)
    else:
        cache_tokens, cache_rows = context.vocabulary_entries(data, starts)
    if is_of_bytes and "whole_tokens" not in tables:
        # A segment is looked up like a piece, which would give the id of a whole piece to a part of another piece.
        lone = context.lone_characters()
        if lone is not None:
            joins, lone[:, 1] = joins_of(data, starts)
            tables = {**tables, "joins": joins, "lone": lone}
    return {**tables, "cache_tokens": cache_tokens, "cache_rows": cache_rows}
