"""tiktoken over our model: its `Encoding`, made of the model's ranks, pattern and special tokens, and its trainer.

tiktoken joins any two neighbours whose joined bytes are a token, lowest id first. A model with listed merges runs only
where that provably gives the same ids. If ours has an equivalent, faster form that tiktoken ships, that is the pattern.

About a million white space characters in a row exhaust its regular expression engine, under patterns that look ahead
for the end of a run (o200k's). It then raises ValueError or `pyo3_runtime.PanicException`, which derives from
BaseException: both become `LibraryFailed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

import numpy as np
import tiktoken
from tiktoken._educational import bpe_train

from impls.core.arguments import id_list
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import IN_TIKTOKEN, NAMED, WHOLE_TEXT
from impls.core.text.stages import DROPS_MATCHES, DROPS_REST
from impls.core.training import corpus_pieces
from impls.interface import Tokenizer, TrainingSpec
from impls.operations import pieces
from impls.production.libraries import check_stages, failure, loading, ranks_for
from impls.production.training import base_and_budget, merges_of, model_of_merges

_SPANS_THE_CUT = re.compile(rb"[\r\n][\t\v\f\x1c-\x20\x80-\xff]+\Z")
"""A token that ends in a line end and possible white space, whole or cut inside a character."""


class Tiktoken(Tokenizer):
    """`tiktoken.Encoding` with the model's own ranks."""

    name: ClassVar[str] = "tiktoken"
    summary: ClassVar[str] = "OpenAI's library: Rust, merges by joined bytes; trains by its educational twin"
    kind: ClassVar[Literal["production"]] = "production"
    surrogate_errors = (UnicodeEncodeError,)  # the library replaces surrogates itself, as we do

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._encoding = _encoding(model)

    def encode_normalized(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens; raise `LibraryFailed` (see the module)."""
        try:
            return self._encoding.encode_ordinary(text)
        except BaseException as error:
            raise failure(self.name, self.model, error) from None

    def encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes, by the library's own rule, which is that of `Tokenizer.encode_bytes`."""
        try:
            return pieces.encode_bytes(self, data, self._encoding._encode_bytes)
        except BaseException as error:
            raise failure(self.name, self.model, error) from None

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a uint32 array made by the library itself."""
        try:
            return self._encoding.encode_to_numpy(text, disallowed_special=())
        except BaseException as error:
            raise failure(self.name, self.model, error) from None

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text, by the library's own thread pool."""
        try:
            if threads == 1 or len(texts) < 2:
                return [self._encoding.encode_ordinary(text) for text in texts]
            return self._encoding.encode_ordinary_batch(list(texts), num_threads=threads)
        except BaseException as error:
            raise failure(self.name, self.model, error) from None

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids; raise `UnknownId(id, position)`, unless the model has an unknown token."""
        ids = id_list(ids)
        try:
            return self._encoding.decode_bytes(ids)
        except (KeyError, OverflowError, TypeError):
            return super().decode_bytes(ids)  # names the id and its position

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by the library's educational trainer: exact and slow, it recounts for every merge.

        Raise `Unsupported` naming the field it cannot follow.
        """
        base, n_merges = base_and_budget(
            cls.name, spec, ties="first", base_order="raw", min_count=1, max_token_bytes=None
        )
        learned = _learned(list(corpus_pieces(texts, spec)), len(base) + n_merges)[len(base) :]
        return model_of_merges(cls.name, spec, base, merges_of(spec, base, learned))


def _pattern(model: Model) -> tuple[str, ...]:
    """Return the pattern to run: the faster form that the library ships, if it gives the same ids.

    The shipped cl100k does not split white space at the end of a text after its last line end, as the original does:
    the ids are the same unless a token spans that split.
    """
    if model.pattern == NAMED["cl100k"] and any(_SPANS_THE_CUT.search(token) for token in model.tokens if token):
        return model.pattern
    return IN_TIKTOKEN.get(model.pattern, model.pattern)


def _encoding(model: Model) -> tiktoken.Encoding:
    name = Tiktoken.name
    ranks = ranks_for(name, model)
    if model.pattern and model.pattern[0].startswith(DROPS_MATCHES):
        raise Unsupported(name, "it encodes what the pattern matches; this model drops that")
    check_stages(name, model.pattern)
    pattern = _pattern(model)
    specials = {text: i for text, i in model.whole_token_ids.items() if text.encode() not in ranks}
    with loading(name):
        return tiktoken.Encoding(
            name,
            pat_str=pattern[0].removeprefix(DROPS_REST) if pattern else WHOLE_TEXT,
            mergeable_ranks=ranks,
            special_tokens=specials,
        )


def _learned(pieces: list[str], vocab_size: int) -> list[bytes]:
    """Return the tokens in order of id, base first.

    The trainer takes one text and splits it itself. So the pieces are joined by a character that is in none of them,
    and the pattern matches everything else.
    """
    used = set("".join(pieces))
    between = next(character for code in range(0xE000, 0x110000) if (character := chr(code)) not in used)
    try:
        ranks = bpe_train(between.join(pieces), vocab_size, f"[^{between}]+", visualise=None)
    except ValueError as error:
        # It fails with max() of an empty sequence when pairs run out; the learned tokens are in its frame.
        if error.__traceback__ is None or (frame := error.__traceback__.tb_next) is None:
            raise
        ranks = frame.tb_frame.f_locals["ranks"]
        if len(ranks) < 256:
            raise
    return sorted(ranks, key=ranks.__getitem__)
