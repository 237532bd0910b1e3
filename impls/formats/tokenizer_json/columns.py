"""A long tokenizer.json read as columns by kernels, without an object for each token and merge.

Hardly any entry of a vocabulary needs more than its bytes: the tokens that the rest of the file names, those of bytes,
and the merges of the former. With these alone the file is read like any other (`reader.read_with_notes`), which checks
its rules and says which tokens are not made of symbols. What holds for all others is checked by columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np

from impls.core import kernels
from impls.core.errors import BPEError
from impls.core.model import Model
from impls.core.model.packed import PackedModel, kind_of, pack_columns
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE, to_printable
from impls.formats import parse_cache
from impls.formats.files import MAX_TABLE_ID, check_json_size, converted, parse_json
from impls.formats.parse_cache import Note
from impls.formats.sentencepiece_model import BYTE_PIECES
from impls.formats.tokenizer_json.document import AddedEntry
from impls.formats.vocabulary import bytes_of_printed

_ESCAPED = np.zeros(512, np.uint8)
"""As `read_vocabulary` takes it."""
_ESCAPED[list(b'"\\/bfnrtu')] = list(b'"\\/\b\f\n\r\t\xff')
_ESCAPED[[256 + digit for digit in b"0123456789abcdefABCDEF"]] = [*range(16), *range(10, 16)]


class _BpeOutline(msgspec.Struct):
    vocab: msgspec.Raw
    merges: msgspec.Raw


class _Outline(msgspec.Struct):
    model: _BpeOutline


Read = Callable[[dict[str, Any]], tuple[Model, list[Note]]]


class Few(dict[str, int]):
    """The entries of a vocabulary that a reader asks for; its length is that of the whole vocabulary."""

    def __init__(self, entries: dict[str, int], n_tokens: int) -> None:
        super().__init__(entries)
        self._n_tokens = n_tokens

    def __len__(self) -> int:
        return self._n_tokens


def read_columns(content: bytes, read: Read) -> PackedModel | None:
    """Return the model of a file, packed with its notes; `read` reads a file of few tokens and merges.

    None for a short file, without kernels, and if anything about the file is unusual or wrong.
    """
    if kernels.native is None or len(content) < parse_cache.LEAST_BYTES:
        return None
    try:
        check_json_size(content)
        bpe = msgspec.json.decode(content, type=_Outline).model
        start, *begins = (np.frombuffer(part, np.uint8).ctypes.data for part in (content, bpe.vocab, bpe.merges))
        rest = content
        for begin, part in sorted(zip(begins, (bpe.vocab, bpe.merges), strict=True), reverse=True):
            rest = b"%bnull%b" % (rest[: begin - start], rest[begin - start + len(memoryview(part)) :])
        return _Columns(bpe.vocab, bpe.merges).packed(parse_json(rest), read)
    except (BPEError, msgspec.MsgspecError, RecursionError, LookupError, TypeError, AttributeError, ValueError):
        return None


def _require(holds: object) -> None:
    if not holds:
        raise ValueError("unusual")


class _Columns:
    """The tokens of a file, numbered in its order, and its merges; raise ValueError for what is unusual."""

    def __init__(self, vocab: msgspec.Raw, merges: msgspec.Raw) -> None:
        entries, listed = np.frombuffer(vocab, np.uint8), np.frombuffer(merges, np.uint8)
        _require(entries[0] == ord("{") and listed[0] == ord("["))
        str(entries.data, "utf-8")  # raises UnicodeDecodeError
        most, most_merges = np.count_nonzero(entries == ord(":")), np.count_nonzero(listed == ord(",")) + 1
        bits, texts, written = int(2 * most).bit_length() + 1, np.empty(len(entries), np.uint8), np.zeros(1, np.int64)
        starts, ids = np.zeros(most + 2, np.int64), np.empty(most + 1, np.int64)
        table = np.full(1 << bits, -1, np.int32)
        given = _ESCAPED, texts, written, starts, ids, table, 64 - bits
        n = kernels.native.read_vocabulary(entries, *given)
        _require(n > 0 and ids[:n].max() <= MAX_TABLE_ID)
        self.n, self.ids, self.texts, self.starts = n, ids[:n], texts, starts[: n + 1]
        self.index = texts, starts, table, 64 - bits
        self.by_id = np.full(int(self.ids.max()) + 1, -1, np.int32)
        self.by_id[self.ids] = np.arange(n)
        _require((self.by_id[self.ids] == np.arange(n)).all())
        joined, pairs = np.empty(len(listed), np.uint8), np.empty((most_merges, 2), np.uint32)
        results = np.empty(most_merges, np.uint32)
        n_merges = kernels.native.read_merges(listed, *given, n, joined, pairs, results)
        _require(n_merges >= 0)
        self.pairs, self.results = pairs[:n_merges], results[:n_merges]

    def text(self, token: int) -> str:
        """Return the text of a token."""
        return self.texts[self.starts[token] : self.starts[token + 1]].tobytes().decode()

    def find(self, texts: Iterable[str]) -> np.ndarray:
        """Return the tokens among `texts`."""
        wanted = list(map(str.encode, texts))
        found = np.empty(len(wanted), np.int32)
        data, ends = b"".join([*wanted, b"."]), np.cumsum(list(map(len, wanted)), dtype=np.int64)
        kernels.native.find_texts(*self.index, np.frombuffer(data, np.uint8), ends, len(wanted), found)
        known: np.ndarray = found[found < self.n]
        return known

    def packed(self, document: dict[str, Any], read: Read) -> PackedModel:
        """Return the model of a file without its vocabulary and merges, `document`, packed with its notes."""
        bpe, entries = document["model"], converted(document.get("added_tokens") or [], list[AddedEntry])
        named = {entry.content for entry in entries} | {text for text in [bpe.get("unk_token")] if text}
        endings = {"", bpe.get("end_of_word_suffix") or ""}
        listed = self.find([*named, *BYTE_PIECES])
        is_listed = np.zeros(len(self.by_id), bool)
        is_listed[self.ids[listed]] = True
        symbols = self.find(byte + ending for byte in CHARACTER_TO_BYTE for ending in endings)
        if len(symbols) < len(CHARACTER_TO_BYTE):  # not over bytes: any token will do
            symbols = self.by_id[np.flatnonzero((self.by_id >= 0) & ~is_listed)[:1]]
        merges = np.flatnonzero(is_listed[self.results] | is_listed[self.pairs].any(axis=1))
        of_merges = self.by_id[self.pairs[merges]], self.by_id[self.results[merges]]
        printed = self.find(to_printable(text.encode()) for text in named)
        few = sorted({0}.union(*(part.ravel().tolist() for part in (listed, symbols, printed, *of_merges))))
        vocab = {self.text(token): int(self.ids[token]) for token in few}
        bpe["vocab"] = Few(vocab, self.n)
        bpe["merges"] = [[self.text(left), self.text(right)] for left, right in of_merges[0].tolist()]
        model, notes = read(document)
        others = [*model.whole_token_ids.values(), *([] if model.unknown_id is None else [model.unknown_id])]
        _require({int(self.by_id[i]) for i in others if i < len(self.by_id)} <= {-1, *few})
        by_id = self.by_id.copy()
        by_id[[i for i in vocab.values() if i >= len(model.tokens) or model.tokens[i] is None]] = -1
        _require((by_id[self.pairs] >= 0).all() and (by_id[self.results] >= 0).all())
        return self._packed(model, notes, by_id[: max(int(np.flatnonzero(by_id >= 0)[-1]) + 1, len(model.tokens))])

    def _packed(self, model: Model, notes: list[Note], by_id: np.ndarray) -> PackedModel:
        """Return a model packed with these tokens, -1 for a gap."""
        lengths = np.where(by_id >= 0, np.diff(self.starts)[by_id], 0)
        ends = np.cumsum(lengths)
        blob = self.texts[np.arange(ends[-1]) + np.repeat(self.starts[by_id] - (ends - lengths), lengths)]
        if model.alphabet == "bytes":
            before = np.append(0, np.cumsum(blob & 0xC0 != 0x80))
            lengths, blob = before[ends] - before[ends - lengths], bytes_of_printed(str(blob.data, "utf-8"))
            _require(blob.max() < 256)
        kind = kind_of(int(lengths.max()))
        columns = kind, lengths.astype(kind), blob.astype(np.uint8), self.pairs, self.results
        return pack_columns(model, notes, columns)
