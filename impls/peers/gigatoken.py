"""gigatoken: encodes by SIMD splitting and a piece cache, and trains. Its splitters are its own, by Unicode 17.

It splits only by patterns it knows, and a rank file is read with the name of one of them. Code points newer than
Unicode 16 may therefore get different ids than in other libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from impls.core.arguments import texts_in_turn
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED
from impls.core.text.text import repair_surrogates
from impls.interface import TrainingSpec
from impls.peers.conversion import (
    file_of,
    has_dense_ranks,
    has_plain_rules,
    plain_pattern,
    rank_file,
    rayon_threads,
    sentencepiece_file,
    tokenizer_json,
)
from impls.peers.peer import Calls, Lists, Peer, stdout_to_stderr
from impls.production.training import base_and_budget, files_of_lines, model_of_merges, require_gpt2, that_occurred

_SCHEMES = {NAMED["gpt2"]: "gpt2", NAMED["cl100k"]: "gpt4", NAMED["o200k"]: "o200k"}
_NO_BYTE_OF_UTF8 = b"\xff"
_TIES = {"raw": "raw_token_ids", "gpt2": "huggingface"}


class Gigatoken(Peer):
    """`gigatoken.Tokenizer`'s backend over the model's ranks, or over its tokenizer.json."""

    surrogate_errors = (TypeError,)  # the library accepts bytes, and so do we here: a check would be timed

    def _load(self, model: Model) -> Calls:
        scheme = _SCHEMES.get(plain_pattern(model))
        if has_plain_rules(model):
            wrapper = self.library.Tokenizer.from_sentencepiece(sentencepiece_file(model))
        elif not model.pattern:
            raise Unsupported(self.name, "it splits by patterns it knows, and this model does not split")
        elif scheme is not None and has_dense_ranks(model):
            with file_of(rank_file(model), "model.tiktoken") as path:
                wrapper = self.library.Tokenizer.from_tiktoken(path, pretokenizer=scheme, special_tokens={})
        else:
            wrapper = self.library.Tokenizer.from_json(tokenizer_json(self.name, model, every_way=True))
        tokenizer = wrapper.backend

        def batch(texts: list[str], threads: int) -> Lists | None:
            return tokenizer.encode_batch_list(texts, parallel=threads > 1) if threads in (1, rayon_threads()) else None

        return self._calls_of(
            tokenizer,
            # Lists only come in batches: one of a long text is no faster, and the first costs a tenth of a second more.
            encode=lambda text: tokenizer.encode(text).tolist(),
            batch=batch,
            encode_bytes=lambda data: tokenizer.encode(data).tolist(),
        )

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by `train_bpe`, which splits by GPT-2's pattern and takes the smallest pair of ids on ties.

        Raise `Unsupported` naming the field it cannot follow.
        """
        require_gpt2(cls.name, spec)
        base, n_merges = base_and_budget(cls.name, spec, ties="smallest", min_count=1)
        if (files := files_of_lines(texts)) is not None:
            separated = b"\n" + _NO_BYTE_OF_UTF8
            contents = [Path(file).read_bytes() for file in files]
            corpus = _NO_BYTE_OF_UTF8.join(c[:-1].replace(b"\n", separated) + c[-1:] for c in contents)
        else:
            corpus = _NO_BYTE_OF_UTF8.join(repair_surrogates(text).encode() for text in texts_in_turn(texts))
        merges: list[tuple[bytes, bytes]] = []
        if corpus and n_merges:
            with stdout_to_stderr():
                _, merges = cls.library.train_bpe(
                    corpus, len(base) + n_merges, [], _TIES[spec.base_order], separator=_NO_BYTE_OF_UTF8
                )
        pieces = (piece for text in re.finditer(rb"[^\xff]+", corpus) for piece in cls.library.pretokenizer(text[0]))
        return model_of_merges(cls.name, spec, base, that_occurred(base, merges, pieces))
