"""The last tokens of the beginnings of a piece that grows, by the kernels of `merge/last_tokens`."""

from __future__ import annotations

import numpy as np

from impls.compiled.codegen.build import plain_function
from impls.compiled.codegen.native import Slots, native
from impls.compiled.context import Context
from impls.compiled.layout import PIECE_BEGINS, Beginnings, Suffixes
from impls.core.model import Model

_LEAST_ROOM = 1 << 12


class TokensByEnd(Slots):
    """The tokens of a model by their last bytes; shared by all its growing pieces."""

    def __init__(self, model: Model, context: Context) -> None:
        """Raise ValueError for a model in which some token has several derivations, or none."""
        tables = context.tables
        ids, regular = tables["ids"], model.alphabet == "bytes" and model.end_of_word is None and context["monotone"]
        if not regular or "whole_tokens" in tables or len(np.unique(ids)) < len(ids):
            raise ValueError("some token has several derivations, or none")
        super().__init__(Suffixes)
        self.context = context
        n_symbols, n_bytes = context["n_symbols"], len(tables["token_bytes"])
        filter_bits, slot_bits = (2 * n_bytes).bit_length(), (2 * n_symbols).bit_length()
        self.hold("parts", np.full(2 * n_symbols, -1, np.int32))
        lengths = np.zeros(n_symbols, np.int32)
        self.hold("lengths", lengths)
        self.lengths = lengths.data
        self.hold("filter", np.zeros(1 << filter_bits, np.uint8))
        self.hold("tokens", np.full(1 << slot_bits, -1, np.int64))
        self["filter_shift"], self["tokens_shift"] = 64 - filter_bits, 64 - slot_bits
        if not native.index_suffixes(context.address, self.address):
            raise ValueError("some token has several derivations")
        self.ids = ids.data if len(ids) else range(n_symbols)
        self.symbol_of = dict(zip(ids.tolist(), range(n_symbols), strict=True)) if len(ids) else None
        self.longest = self["longest"]


class KernelEnds(Slots):
    """`operations.growing_piece.TokenEnds` over bytes: 5 bytes of memory, and room for half as many, for each."""

    def __init__(self, tokens: TokensByEnd) -> None:
        super().__init__(Beginnings)
        self._tokens, self.longest = tokens, tokens.longest
        self._addresses = tokens.context.address, tokens.address, self.address
        self._extend = plain_function("extend_beginnings", 5)
        self.hold("last", np.zeros(1, np.int32))
        self._make_room(_LEAST_ROOM, 0)

    def _make_room(self, room: int, n_kept: int) -> None:
        text, last = np.zeros(room, np.uint8), np.zeros(room + 1, np.int32)
        self.grow("text", text, n_kept)
        self.grow("last", last, n_kept + 1)
        # Python reads single numbers of a memoryview faster than of an array.
        self._room, self._text, self._last = room, text.data, last.data

    def spell(self, text: str) -> bytes:
        """Return the UTF-8 of a text."""
        return text.encode()

    def text(self, letters: bytes) -> str:
        """Return the text of bytes."""
        return letters.decode()

    def letters(self, n: int) -> bytes:
        """Return the first `n` bytes."""
        return bytes(self._text[:n])

    def _symbol(self, token: int) -> int:
        symbols = self._tokens.symbol_of
        return token if symbols is None else symbols[token]

    def length(self, token: int) -> int:
        """Return the number of bytes of a token."""
        return self._tokens.lengths[self._symbol(token)]

    def begin(self, before: int | None) -> None:
        """Forget everything; begin after the token `before`, or where the piece begins."""
        self._last[0] = PIECE_BEGINS if before is None else self._symbol(before)

    def extend(self, n: int, letters: bytes) -> bool:
        """Keep `n` bytes and add others; return whether all last tokens are known that further bytes may follow."""
        end = n + len(letters)
        if end > self._room:
            self._make_room(end + end // 2, n)
        self._text[n:end] = letters
        known: int = self._extend(*self._addresses, n, end)
        return known == 1

    def changed(self, old: int, new: int) -> tuple[int, list[int]]:
        """Return how many last tokens of the first `old` bytes become which ones, in the first `new`."""
        last, lengths, ids = self._last, self._tokens.lengths, self._tokens.ids
        n_removed, added = 0, []
        while old != new:
            if new > old:
                symbol = last[new]
                added.append(ids[symbol])
                new -= lengths[symbol]
            else:
                n_removed += 1
                old -= lengths[last[old]]
        return n_removed, added[::-1]
