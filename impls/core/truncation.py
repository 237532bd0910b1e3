"""Counting the tokens of a text up to a limit, and cutting a text to a number of tokens.

    truncate("naïve café", 3)               "na"-"ï"-"ve", if these are its first three tokens: "naïve"
    truncate("naïve café", 3, side="left")  its end: "café"

`truncate` takes the first (or last) n ids of the whole text, and returns their text, shortened further to a place where
`whole` allows a cut, and until it has at most n tokens when it is encoded alone: a cut may change how the pattern
splits its end, or a merge. Of the places that qualify, the one that keeps most text is used.

Time: of a text much longer than the limit only a prefix (head) is split and encoded, chosen so that its pieces are
certainly those of the whole text. Knows the hooks of a tokenizer, and no algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import suppress
from functools import partial
from typing import ClassVar, Literal, get_args

import regex

from impls.core.arguments import check_text, text_sequence, thread_count, token_limit
from impls.core.decoding import Decoder
from impls.core.hooks import Hooks, map_on_threads
from impls.core.text.text import repair_surrogates

Side = Literal["right", "left"]
Whole = Literal["token", "character", "word"]

_WORD_BOUNDARY = regex.compile(r"(?w)\b")
"""Unicode's default word boundaries (Unicode Standard Annex 29)."""
_PLAIN = regex.compile(r"[\p{Lu}\p{Ll}\p{Lo}\p{N}\p{Z}\p{Cc}]")
"""Characters that the rules do not skip: two of them after a place decide whether it is a boundary."""


class Truncation(Hooks, Decoder):
    """The part of a `Tokenizer` that counts and truncates. Special tokens are always read as ordinary text."""

    kind: ClassVar[Literal["pure", "compiled", "production", "peer", "third-party"]]
    encode: Callable[..., list[int]]
    encode_array_batch: Callable[..., Sequence[Sized]]

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, special tokens read as ordinary text.

        With `at_most`, stop as soon as there are more, and return `at_most + 1`, which then only means "more".
        """
        if at_most is None:
            return self._count(text)
        at_most = token_limit("at_most", at_most)
        return min(len(self._first_ids(text, at_most)), at_most + 1)

    def fits(self, text: str, n_tokens: int) -> bool:
        """Return whether `text` has at most `n_tokens` ids."""
        n_tokens = token_limit("n_tokens", n_tokens)
        return self.count(text, n_tokens) <= n_tokens

    def count_batch(self, texts: Sequence[str], threads: int | None = None, *, at_most: int | None = None) -> list[int]:
        """Return `count` of each text, in order; `threads` as in `encode_batch`."""
        if at_most is None:
            return [len(ids) for ids in self.encode_array_batch(texts, threads, disallowed_special=())]
        return map_on_threads(partial(self.count, at_most=at_most), text_sequence(texts), thread_count(threads))

    def truncate(self, text: str, n_tokens: int, *, side: Side = "right", whole: Whole = "token") -> str:
        """Return the longest beginning of `text` (`side="left"`: the longest end) that lies within its first (last)
        `n_tokens` tokens, has at most `n_tokens` when it is encoded alone, and is cut where `whole` allows.

        `token`: between two tokens of the text, and never inside a character. `character`: between two code points.
        `word`: at Unicode's word boundaries only. A text that fits is returned unchanged. If decoding does not restore
        the text (`Model.round_trip`), the decoded text is cut. Raise ValueError for a negative `n_tokens`.
        """
        n_tokens = token_limit("n_tokens", n_tokens)
        for name, given, known in (("side", side, Side), ("whole", whole, Whole)):
            if given not in get_args(known):
                raise ValueError(f"{name} must be one of {', '.join(get_args(known))}, not {given!r}")
        ids = self._first_ids(text, n_tokens) if side == "right" else self._last_ids(text, n_tokens)
        if len(ids) <= n_tokens:
            return text
        cut_texts = self._cut_texts(text, ids, n_tokens, side, whole)
        return next((cut for cut in cut_texts if self.fits(cut, n_tokens)), "")

    def truncate_batch(
        self,
        texts: Sequence[str],
        n_tokens: int,
        threads: int | None = None,
        *,
        side: Side = "right",
        whole: Whole = "token",
    ) -> list[str]:
        """Return `truncate` of each text, in order; `threads` as in `encode_batch`."""
        cut = partial(self.truncate, n_tokens=n_tokens, side=side, whole=whole)
        return map_on_threads(cut, text_sequence(texts), thread_count(threads))

    # --- what an implementation may override -------------------------------------------------------------------

    def _count(self, text: str) -> int:
        """Count all ids of `text`."""
        return len(self.encode(text, disallowed_special=()))

    def _first_ids(self, text: str, n_tokens: int) -> list[int]:
        """Return the ids of `text`; if there are more than `n_tokens`, at least the first `n_tokens` + 1."""
        check_text(text)
        ids: list[int] = []

        def encode(segment: str) -> list[int]:
            return self._first_ids_of_segment(segment, n_tokens - len(ids))

        for part in self._ids_by_part(text, (), encode):
            ids.extend(part)
            if len(ids) > n_tokens:
                break
        return ids

    def _last_ids(self, text: str, n_tokens: int) -> list[int]:
        """Return the ids of `text`; if there are more than `n_tokens`, at least the last `n_tokens` + 1."""
        return self.encode(text, disallowed_special=())

    # --- heads -------------------------------------------------------------------------------------------------

    def _first_ids_of_segment(self, text: str, n_tokens: int) -> list[int]:
        """Return `_first_ids` of a text without whole tokens, in normal form."""
        n_wanted = 8 * n_tokens + 256
        if len(text) <= 2 * n_wanted or not self._encodes_by_pieces:
            return self._encode_text(text)
        pieces: list[str] = []
        n_characters, step = 0, 1
        for piece in self._pieces_in_turn(text):
            pieces.append(piece)
            n_characters += len(piece)
            if n_characters < n_wanted:
                continue
            head = text[:n_characters]
            if self._cut_pieces(head) != pieces:
                n_wanted, step = n_characters + step, 2 * step
                continue
            ids = self._encode_text(head)
            if len(ids) > n_tokens:
                return ids
            n_wanted = 4 * n_characters
        return self._encode_text(text)

    @property
    def _encodes_by_pieces(self) -> bool:
        """Return whether the ids of a text are certainly those of its pieces as the model's pattern cuts them."""
        if self._splitter.drops or (self.normalizes and self._model.rewrites_text):
            return False
        return type(self)._encode_text is Hooks._encode_text or self.kind in ("pure", "compiled", "production")

    # --- places to cut -----------------------------------------------------------------------------------------

    def _cut_texts(self, text: str, ids: Sequence[int], n_tokens: int, side: Side, whole: Whole) -> Iterator[str]:
        """Yield the beginnings (ends) of `text` that may be returned, the longest first; `ids` are at least enough."""
        if whole == "token":
            for n in range(n_tokens, 0, -1):
                with suppress(UnicodeDecodeError):
                    yield self.decode_bytes(ids[:n] if side == "right" else ids[-n:]).decode()
            return
        may_cut: Callable[[int], object] = bool
        size = 0
        kept = self._whole_characters(ids, n_tokens, side)
        if whole == "word":
            exact = self._model.round_trip == "exact"
            text = repair_surrogates(text) if exact else self._decoded_beyond(text, ids, len(kept), side)
            may_cut, size = partial(_WORD_BOUNDARY.match, text), len(text)
        for n in range(len(kept), 0, -1):
            if side == "right" and may_cut(n):
                yield kept[:n]
            elif side == "left" and may_cut(size - n if whole == "word" else n):
                yield kept[len(kept) - n :]

    def _decoded_beyond(self, text: str, ids: Sequence[int], n_kept: int, side: Side) -> str:
        """Return the decoded text, with as many characters after its first `n_kept` as word boundaries depend on."""
        decoded, n_tokens = self.decode(ids), len(ids)
        while side == "right" and len(_PLAIN.findall(decoded, n_kept)) < 2:
            n_tokens = 4 * n_tokens + 16
            ids = self._first_ids(text, n_tokens)
            decoded = self.decode(ids)
            if len(ids) <= n_tokens:
                break
        return decoded

    def _whole_characters(self, ids: Sequence[int], n_tokens: int, side: Side) -> str:
        """Return the text of the first (last) ids, without a character at the cut of which they have only a part."""
        if side == "right":
            return self.decode_bytes(ids[:n_tokens]).decode("utf-8", "ignore")
        data = self.decode_bytes(ids[len(ids) - n_tokens :])
        n_inner = next((n for n, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
        return data[n_inner:].decode("utf-8", "ignore")
