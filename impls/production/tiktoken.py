"""tiktoken over our model: its `Encoding`, made of the model's ranks, pattern and special tokens, and its trainer.

tiktoken joins any two neighbours whose joined bytes are a token, lowest id first. A model with listed merges runs only
where that provably gives the same ids. If ours has an equivalent, faster form that tiktoken ships, that is the pattern.

About a million white space characters in a row exhaust its regular expression engine, under patterns that look ahead
for the end of a run (o200k's). It then raises ValueError or `pyo3_runtime.PanicException`, which derives from
BaseException: both become `LibraryFailed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import ClassVar

import tiktoken
from tiktoken._educational import bpe_train

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import IN_TIKTOKEN, NAMED, WHOLE_TEXT
from impls.core.text.stages import DROPS_MATCHES, DROPS_REST
from impls.core.training import corpus_pieces
from impls.interface import TrainingSpec
from impls.production.adapter import Adapter, Calls, on_several
from impls.production.libraries import check_stages, ranks_for
from impls.production.training import base_and_budget, model_of_ranks

_SPANS_THE_CUT = re.compile(rb"[\r\n][\t\v\f\x1c-\x20\x80-\xff]+\Z")
"""A token that ends in a line end and possible white space, whole or cut inside a character."""


class Tiktoken(Adapter):
    """`tiktoken.Encoding` with the model's own ranks."""

    name: ClassVar[str] = "tiktoken"
    summary: ClassVar[str] = "OpenAI's library: Rust, merges by joined bytes; trains by its educational twin"
    surrogate_errors = (UnicodeEncodeError,)  # the library replaces surrogates itself, as we do

    def _load(self, model: Model) -> Calls:
        encoding = _encoding(model)
        encode_batch = encoding.encode_ordinary_batch
        return Calls(
            encode=self._guarded(encoding.encode_ordinary),
            array=self._guarded(lambda text: encoding.encode_to_numpy(text, disallowed_special=())),
            batch=on_several(lambda texts, n: self._guarded(partial(encode_batch, num_threads=n))(texts)),
            encode_bytes=self._guarded(encoding._encode_bytes),
            decode_bytes=encoding.decode_bytes,
        )

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by the library's educational trainer: exact and slow, it recounts for every merge.

        Raise `Unsupported` naming the field it cannot follow.
        """
        base, n_merges = base_and_budget(cls.name, spec, ties="first", base_order="raw", min_count=1)
        return model_of_ranks(cls.name, spec, base, _learned(list(corpus_pieces(texts, spec)), len(base) + n_merges))


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
    return tiktoken.Encoding(
        name,
        pat_str=pattern[0].removeprefix(DROPS_REST) if pattern else WHOLE_TEXT,
        mergeable_ranks=ranks,
        special_tokens={text: i for text, i in model.whole_token_ids.items() if text.encode() not in ranks},
    )


def _learned(pieces: list[str], vocab_size: int) -> dict[bytes, int]:
    """Return the ranks of the tokens, base included.

    The trainer takes one text and splits it itself. So the pieces are joined by a character that is in none of them,
    and the pattern matches everything else.
    """
    used = set("".join(pieces))
    between = next(character for code in range(0xE000, 0x110000) if (character := chr(code)) not in used)
    try:
        return bpe_train(between.join(pieces), vocab_size, f"[^{between}]+", visualise=None)
    except ValueError as error:
        # It fails with max() of an empty sequence when pairs run out; the learned tokens are in its frame.
        if error.__traceback__ is None or (frame := error.__traceback__.tb_next) is None:
            raise
        ranks: dict[bytes, int] = frame.tb_frame.f_locals["ranks"]
        return ranks
