"""gigatoken: encodes by SIMD splitting and a piece cache, and trains. Its splitters are its own, by Unicode 17.

It splits only by patterns it knows, and a rank file is read with the name of one of them. Code points newer than
Unicode 16 may therefore get other ids than in other libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from impls.core.arguments import texts_in_turn
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED
from impls.core.text.text import repair_surrogates
from impls.interface import TrainingSpec
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
from impls.peers.peer import Calls, Lists, Peer, library, stdout_to_stderr
from impls.production.training import base_and_budget, files_of_lines, model_of_merges, require_gpt2, that_occurred

gigatoken = library("gigatoken")

_SCHEMES = {NAMED["gpt2"]: "gpt2", NAMED["cl100k"]: "gpt4", NAMED["o200k"]: "o200k"}
_NO_BYTE_OF_UTF8 = b"\xff"
_TIES = {"raw": "raw_token_ids", "gpt2": "huggingface"}


class Gigatoken(Peer):
    """`gigatoken.Tokenizer`'s backend over the model's ranks, or over its tokenizer.json."""

    surrogate_errors = (TypeError,)  # the library accepts bytes, and so do we here: a check would be timed

    def _load(self, model: Model) -> Calls:
        tokenizer = self._backend(model)

        def batch(texts: list[str], threads: int) -> Lists | None:
            known = (1, rayon_threads())
            return tokenizer.encode_batch_list(texts, parallel=threads > 1) if threads in known else None

        return Calls(
            # Lists only come in batches: one of a long text is no faster, and the first costs a tenth of a second more.
            encode=lambda text: tokenizer.encode(text).tolist(),
            array=tokenizer.encode,
            batch=batch,
            encode_bytes=lambda data: tokenizer.encode(data).tolist(),
            decode_bytes=tokenizer.decode,
        )

    def _backend(self, model: Model) -> Any:
        if has_plain_rules(model):
            return gigatoken.Tokenizer.from_sentencepiece(sentencepiece_file(model)).backend
        if not model.pattern:
            raise Unsupported(self.name, "it splits by patterns it knows, and this model does not split")
        scheme = _SCHEMES.get(plain_pattern(model))
        if scheme is not None and has_ranks(model) and None not in model.tokens and not underived_reason(model):
            with file_of(rank_file(model), "model.tiktoken") as path:
                return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=scheme, special_tokens={}).backend
        return gigatoken.Tokenizer.from_json(tokenizer_json(self.name, model, every_way=True)).backend

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by `train_bpe`, which splits by GPT-2's pattern and takes the smallest pair of ids on ties.

        Raise `Unsupported` naming the field it cannot follow.
        """
        require_gpt2(cls.name, spec)
        base, n_merges = base_and_budget(cls.name, spec, ties="smallest", min_count=1, max_token_bytes=None)
        if (files := files_of_lines(texts)) is not None:
            separated = b"\n" + _NO_BYTE_OF_UTF8
            contents = [Path(file).read_bytes() for file in files]
            corpus = _NO_BYTE_OF_UTF8.join(c[:-1].replace(b"\n", separated) + c[-1:] for c in contents)
        else:
            corpus = _NO_BYTE_OF_UTF8.join(repair_surrogates(text).encode() for text in texts_in_turn(texts))
        merges: list[tuple[bytes, bytes]] = []
        if corpus and n_merges:
            with stdout_to_stderr():
                _, merges = gigatoken.train_bpe(
                    corpus, len(base) + n_merges, [], _TIES[spec.base_order], separator=_NO_BYTE_OF_UTF8
                )
        pieces = (piece for text in re.finditer(rb"[^\xff]+", corpus) for piece in gigatoken.pretokenizer(text[0]))
        return model_of_merges(cls.name, spec, base, that_occurred(base, merges, pieces))
