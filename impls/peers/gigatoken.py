"""gigatoken: encodes by SIMD splitting and a piece cache, and trains. Its splitters are its own, by Unicode 17.

It splits only by patterns it knows, and a rank file is read with the name of one of them. Code points newer than
Unicode 16 may therefore get other ids than in other libraries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from impls.core.arguments import id_list, texts_in_turn
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED, resolve
from impls.core.text.text import repair_surrogates
from impls.core.training import base_symbols, merge_budget
from impls.interface import Tokenizer, TrainingSpec
from impls.peers.conversion import (
    file_of,
    has_plain_rules,
    has_ranks,
    plain_pattern,
    rank_file,
    rayon_threads,
    sentencepiece_file,
    tokenizer_json,
    underived_reason,
)
from impls.peers.packages import library, loading, refuses
from impls.peers.stdout import stdout_to_stderr
from impls.production.training import model_of_merges, require

gigatoken = library("gigatoken", "gigatoken", "gigatoken")

_SCHEMES = {NAMED["gpt2"]: "gpt2", NAMED["cl100k"]: "gpt4", NAMED["o200k"]: "o200k"}
_NO_BYTE_OF_UTF8 = b"\xff"
_TIES = {"raw": "raw_token_ids", "gpt2": "huggingface"}


class Gigatoken(Tokenizer):
    """`gigatoken.Tokenizer`'s backend over the model's ranks, or over its tokenizer.json."""

    name: ClassVar[str] = "gigatoken"
    summary: ClassVar[str] = "Rust: SIMD splitting, piece cache; has a trainer"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (TypeError,)  # the library accepts bytes, and so do we here: a check would be timed

    def __init__(self, model: Model) -> None:
        self.normalizes = has_plain_rules(model)
        super().__init__(model)
        self._backend = _backend(model)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens; the library gives arrays, and lists only in batches.

        A batch of one long text is no faster, and the first batch costs a tenth of a second more.
        """
        ids: list[int] = self._backend.encode(text).tolist()
        return ids

    def _encode_text_to_array(self, text: str) -> np.ndarray:
        """As `_encode_text`, as the array the library makes."""
        ids: np.ndarray = self._backend.encode(text)
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; on the library's pool if it has this many threads."""
        if threads not in (1, rayon_threads()):
            return super()._encode_texts(texts, threads)
        found: list[list[int]] = self._backend.encode_batch_list(list(texts), parallel=threads > 1)
        return found

    def _encode_texts_to_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As `_encode_texts`; the two buffers of the awkward array the library makes."""
        if threads not in (1, rayon_threads()):
            return super()._encode_texts_to_ragged(texts, threads)
        layout = self._backend.encode_batch(list(texts), parallel=threads > 1).layout
        return layout.content.data, layout.offsets.data

    def _encode_text_and_bytes(self, text: str, bad: bytes) -> list[int]:
        """Return the ids by the library's own rule, which is not tiktoken's: bytes after invalid ones are split too."""
        ids: list[int] = self._backend.encode(text.encode() + bad).tolist()
        return ids

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids. The library panics for unknown ids, special ones included."""
        ids = id_list(ids)
        if self.normalizes:
            return super().decode_bytes(ids)
        try:
            data: bytes = self._backend.decode(ids)
            return data
        except BaseException as error:
            if not refuses(error):
                raise
        return super().decode_bytes(ids)

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by `train_bpe`, which splits by GPT-2's pattern and takes the smallest pair of ids on ties.

        Raise `Unsupported` naming the field it cannot follow.
        """
        require(cls.name, spec, alphabet="bytes", ties="smallest", min_count=1, max_token_bytes=None)
        if resolve(spec.pattern) not in (NAMED["gpt2"], NAMED["gpt2-0.14"]):
            raise Unsupported(cls.name, f"TrainingSpec.pattern: it trains with 'gpt2' only, not with {spec.pattern!r}")
        base = base_symbols((), spec)
        n_merges = merge_budget(base, spec)
        corpus = _NO_BYTE_OF_UTF8.join(_utf8(texts))
        merges: list[tuple[bytes, bytes]] = []
        if corpus and n_merges:
            with stdout_to_stderr():
                _, merges = gigatoken.train_bpe(
                    corpus, len(base) + n_merges, [], _TIES[spec.base_order], separator=_NO_BYTE_OF_UTF8
                )
        return model_of_merges(cls.name, spec, base, _that_occurred(merges, corpus))


def _backend(model: Model) -> Any:
    name = Gigatoken.name
    if has_plain_rules(model):
        with loading(name):
            return gigatoken.Tokenizer.from_sentencepiece(sentencepiece_file(model)).backend
    pattern = plain_pattern(model)
    if not pattern:
        raise Unsupported(name, "it splits by patterns it knows, and this model does not split")
    scheme = _SCHEMES.get(pattern)
    with loading(name):
        if scheme is not None and has_ranks(model) and None not in model.tokens and not underived_reason(model):
            with file_of(rank_file(model), "model.tiktoken") as path:
                return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=scheme, special_tokens={}).backend
        return gigatoken.Tokenizer.from_json(tokenizer_json(name, model, every_way=True)).backend


def _utf8(texts: Iterable[str]) -> Iterator[bytes]:
    for text in texts_in_turn(texts):
        try:
            yield text.encode()
        except UnicodeEncodeError:
            yield repair_surrogates(text).encode()


def _that_occurred(merges: list[tuple[bytes, bytes]], corpus: bytes) -> list[tuple[bytes, bytes]]:
    """Return the merges without those of pairs that no longer occur, which the library appends when pairs run out.

    Pairs have run out only when every piece is a token, so the first piece that is not ends the search; otherwise a
    merge occurred if and only if it is part of making a piece.
    """
    made = {left + right: rank for rank, (left, right) in reversed([*enumerate(merges)])}
    needed: set[int] = set()
    for text in _split(corpus):
        for piece in gigatoken.pretokenizer(text):
            if len(piece) > 1 and piece not in made:
                return merges
            _add_merges_of(piece, merges, made, needed)
    return merges[: max(needed, default=-1) + 1]


def _split(corpus: bytes) -> Iterator[bytes]:
    start = 0
    while (end := corpus.find(_NO_BYTE_OF_UTF8, start)) >= 0:
        yield corpus[start:end]
        start = end + 1
    yield corpus[start:]


def _add_merges_of(
    token: bytes, merges: Sequence[tuple[bytes, bytes]], made: dict[bytes, int], needed: set[int]
) -> None:
    waiting = [token]
    while waiting:
        rank = made.get(waiting.pop())
        if rank is not None and rank not in needed:
            needed.add(rank)
            waiting += merges[rank]
