"""ffbpe: trains byte-level vocabularies by several tie rules, and encodes, a long piece in parts.

It splits by one pattern of any kind, and knows only listed merges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np

from impls.core.arguments import id_list
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import WHOLE_TEXT
from impls.core.training import base_symbols, merge_budget
from impls.interface import Tokenizer, TrainingSpec
from impls.peers.conversion import plain_pattern, underived_reason
from impls.peers.packages import library, loading
from impls.peers.training import one_pattern, trained_on
from impls.production.training import checked_texts, merges_of_tokens, model_of_merges, require

ffbpe = library("ffbpe", "ffbpe", "ffbpe")

_ORDER = {"raw": "raw", "gpt2": "byte_level"}
_TIES = {"smallest": "smallest_pair_id", "largest": "largest_content"}


class Ffbpe(Tokenizer):
    """`ffbpe.BpeEncoder` over the model's merges, and `ffbpe.BpeTrainer`."""

    name: ClassVar[str] = "ffbpe"
    summary: ClassVar[str] = "Rust: trains by two rules for ties; encodes"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._encoder = _encoder(model)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._encoder.encode(text)
        return ids

    def _encode_text_to_array(self, text: str) -> np.ndarray:
        """As `_encode_text`, as the array the library makes."""
        ids: np.ndarray = self._encoder.encode_to_numpy(text)
        return ids

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids. The library raises for unknown ids, special ones included, and invalid UTF-8."""
        ids = id_list(ids)
        if errors == "replace":
            try:
                text: str = self._encoder.decode(ids)
                return text
            except (RuntimeError, ValueError, TypeError):
                pass
        return super().decode(ids, errors)

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges; raise `Unsupported` naming the field it cannot follow."""
        require(cls.name, spec, alphabet="bytes", max_token_bytes=None)
        if spec.ties not in _TIES:
            raise Unsupported(
                cls.name, f"TrainingSpec.ties: it trains with {' or '.join(map(repr, _TIES))}, not with {spec.ties!r}"
            )
        base = base_symbols((), spec)
        counter = ffbpe.PreTokenizer([], pat_str=one_pattern(cls.name, spec)).word_counter()
        counter.add_source(checked_texts(texts, spec))
        trainer = ffbpe.BpeTrainer(
            [],
            initial_alphabet=_ORDER[spec.base_order],
            tie_break=_TIES[spec.ties],
            bigram_cutoff_freq=spec.min_count,
        )
        trainer.add_word_counter(counter)
        trainer.train(len(base) + merge_budget(base, spec))
        learned = trained_on(base, trainer.vocab)
        return model_of_merges(cls.name, spec, base, merges_of_tokens(spec, base, learned))


def _encoder(model: Model) -> Any:
    name = Ffbpe.name
    if model.alphabet != "bytes":
        raise Unsupported(name, "its tokens start from bytes; this model's alphabet is 'chars'")
    if model.ignore_merges:
        raise Unsupported(name, "it knows merges only; this model's ignore_merges makes whole pieces tokens")
    pattern = plain_pattern(model)
    if len(pattern) > 1:
        raise Unsupported(name, f"it splits by one pattern; this model has {len(pattern)} split stages")
    if why := underived_reason(model):
        raise Unsupported(name, why)
    pairs = model.merges if model.merge_rule == "pairs" else model.recovered_merges[0]
    tokens = model.tokens
    with loading(name):
        return ffbpe.BpeEncoder(
            "byte",
            merges=[(tokens[left], tokens[right]) for left, right in pairs],
            vocab=dict(model.id_by_token),
            pat_str=pattern[0] if pattern else WHOLE_TEXT,
        )
