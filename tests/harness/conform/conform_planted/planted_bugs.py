"""Twelve tokenizers, each with one planted bug, and right ones: the conformance kit must distinguish them.

The model is that of the environment variable PLANTED_MODEL, else o200k_base.
"""

from __future__ import annotations

import os
import threading
import unicodedata
import zlib
from functools import cache
from itertools import pairwise

import regex

import impls
from harness.data import load_model
from impls.core.text.text import repair_surrogates


@cache
def model() -> impls.Model:
    return load_model(os.environ.get("PLANTED_MODEL", "o200k_base"))


class Right:
    """The minimal adapter over an implementation known to be right."""

    inner = "tiktoken"

    def __init__(self) -> None:
        self.tokenizer = impls.load(self.inner, model())
        self.split = self.tokenizer.model.splitter.split

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)


class Full(Right):
    """Right, with every optional operation."""

    def __init__(self) -> None:
        super().__init__()
        self.special_tokens = dict(model().special_tokens)
        self.n_vocab = model().vocab_size
        self.pieces = self.split

    def encode(self, text: str, allowed_special=(), disallowed_special=()) -> list[int]:
        return self.tokenizer.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def encode_array(self, text: str):
        return self.tokenizer.encode_array(text, disallowed_special=())

    def decode_bytes(self, ids: list[int]) -> bytes:
        return self.tokenizer.decode_bytes(ids)

    def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
        return self.tokenizer.decode_with_offsets(ids)

    def encode_with_offsets(self, text: str):
        return self.tokenizer.encode_with_offsets(text, disallowed_special=())

    def decoder(self):
        return self.tokenizer.decoder()

    def count(self, text: str, at_most: int | None = None) -> int:
        return self.tokenizer.count(text, at_most)

    def fits(self, text: str, n_tokens: int) -> bool:
        return self.tokenizer.fits(text, n_tokens)

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return self.tokenizer.truncate(text, n_tokens, side=side, whole=whole)

    def save(self, path: str) -> None:
        model().save(path)

    def load(self, path: str) -> None:
        self.tokenizer = impls.load(self.inner, impls.Model.load(path))


class Piecewise(Right):
    """Encodes piece by piece; the fault is in `piece_ids`."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in self.split(repair_surrogates(text)):
            if piece not in self.cache:
                self.cache[piece] = self.piece_ids(piece)
            ids += self.cache[piece]
        return ids

    def piece_ids(self, piece: str) -> list[int]:
        return self.tokenizer.encode(piece, disallowed_special=())


class OffByOneAtAHundred(Piecewise):
    """From 100 bytes on the last character is never merged."""

    def piece_ids(self, piece: str) -> list[int]:
        if len(piece.encode()) < 100:
            return super().piece_ids(piece)
        return super().piece_ids(piece[:-1]) + super().piece_ids(piece[-1])


class Rightmost(Piecewise):
    """Of equally ranked pairs the rightmost is merged."""

    def piece_ids(self, piece: str) -> list[int]:
        ranks = ranks_of_model()
        if len(piece) > 300 or model().whole_piece(piece) is not None:
            return super().piece_ids(piece)
        parts = [bytes([byte]) for byte in piece.encode()]
        while len(parts) > 1:
            known = [ranks.get(parts[k] + parts[k + 1], len(ranks)) for k in range(len(parts) - 1)]
            lowest = min(known)
            if lowest == len(ranks):
                break
            at = len(known) - 1 - known[::-1].index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [model().id_by_token[part] for part in parts]


class Replay(Piecewise):
    """Replays the merges in their order, each once: wrong where a merge outranks its parts."""

    inner = "priority"

    def piece_ids(self, piece: str) -> list[int]:
        ids = model().symbols(piece)
        for (left, right), merged in zip(model().merges, model().merge_results, strict=True):
            at = 0
            while at < len(ids) - 1:
                if (ids[at], ids[at + 1]) == (left, right):
                    ids[at : at + 2] = [merged]
                at += 1
        return ids


class StrReplace(Piecewise):
    """Merges by replacing "a b" by "ab" in the spaced-out piece, which also cuts `ba b` in the middle of a symbol."""

    def piece_ids(self, piece: str) -> list[int]:
        ranks = ranks_of_model()
        if len(piece) > 40 or model().whole_piece(piece) is not None:
            return super().piece_ids(piece)
        spaced = " ".join(chr(byte + 256) for byte in piece.encode())
        while True:
            parts = spaced.split(" ")
            pairs = [(ranks.get(plain(a + b), len(ranks)), a, b) for a, b in pairwise(parts)]
            rank, a, b = min(pairs, default=(len(ranks), "", ""))
            if rank == len(ranks):
                break
            spaced = spaced.replace(f"{a} {b}", a + b)
        ids = model().id_by_token
        return [
            i
            for part in spaced.split(" ")
            for i in ([ids[plain(part)]] if plain(part) in ids else [ids[bytes([byte])] for byte in plain(part)])
        ]


def plain(spaced: str) -> bytes:
    return bytes(ord(character) - 256 for character in spaced)


@cache
def ranks_of_model() -> dict[bytes, int]:
    tokens, merges = model().tokens, model().merges
    if not merges:
        return model().id_by_token
    return {tokens[left] + tokens[right]: rank for rank, (left, right) in enumerate(merges)}


class DropsUncovered(Right):
    """Its pattern does not cover an underscore, and `findall` skips what does not match."""

    pattern = regex.compile(r"[^_]+")

    def encode(self, text: str) -> list[int]:
        return [i for part in self.pattern.findall(text) for i in super(DropsUncovered, self).encode(part)]


class SpecialsAlways(Right):
    """Always reads the text of a special token as the special token."""

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, allowed_special="all")


class LowersDottedI(Right):
    """Lower-cases İ, and nothing else."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.replace("İ", "İ".lower()))


class HashCache(Piecewise):
    """Caches pieces by a 16-bit hash, without comparing the piece."""

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in self.split(repair_surrogates(text)):
            key = str(zlib.crc32(piece.encode()) & 0xFFFF)
            if key not in self.cache:
                self.cache[key] = self.piece_ids(piece)
            ids += self.cache[key]
        return ids


class PastAMegabyte(Right):
    """Cuts texts longer than a megabyte into blocks at arbitrary places."""

    def encode(self, text: str) -> list[int]:
        block = 1 << 20
        return [
            i for at in range(0, len(text), block) for i in super(PastAMegabyte, self).encode(text[at : at + block])
        ]


class ThreadRace(Right):
    """Keeps the text in the object while encoding, where two threads collide."""

    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(2)

    def encode(self, text: str) -> list[int]:
        self.text = text
        if threading.current_thread() is not threading.main_thread():
            try:
                self.meeting.wait(0.02)
            except threading.BrokenBarrierError:
                self.meeting.reset()
        return super().encode(self.text)


class DecodesByToken(Right):
    """Decodes token by token, so that a character split between tokens becomes U+FFFD."""

    def decode(self, ids: list[int]) -> str:
        return "".join(self.tokenizer.decode([i]) for i in ids)


class Composes(Right):
    """Normalises the text to NFC first."""

    def encode(self, text: str) -> list[int]:
        return super().encode(unicodedata.normalize("NFC", text))
