"""Hugging Face tokenizers over our model: its `Tokenizer`, made of the tokenizer.json we write, and its trainer.

The library encodes with its cache on, as by default, and by `encode_batch_fast`, the call that gives ids without
offsets. Special tokens are in it but switched off (`encode_special_tokens`): `Tokenizer` cuts the text around them. A
model that looks up joined bytes and has tokens that no lower ranks make (llama3) runs with all splits of each token
listed as merges, the closest approximation. A SentencePiece model is converted as by the library's own converter, and
the library writes the marks for white space where it does so as SentencePiece does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import tokenizers
from tokenizers import pre_tokenizers, trainers

from impls.core.arguments import check_text
from impls.core.errors import InvalidPattern, Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE, from_printable, to_printable
from impls.core.text.patterns import resolve
from impls.formats.tokenizer_json.split_stages import write_stages
from impls.formats.tokenizer_json.writer import write_compact
from impls.interface import TrainingSpec
from impls.operations import pieces
from impls.production.adapter import Adapter, Calls, Lists
from impls.production.libraries import check_stages, environment, failure, is_panic
from impls.production.training import base_and_budget, checked_texts, files_of_lines, model_of_merges

_PARALLELISM = "TOKENIZERS_PARALLELISM"
"""The library reads this variable at every call; it has no argument for it."""


class HuggingFace(Adapter):
    """`tokenizers.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "tokenizers"
    summary: ClassVar[str] = "Hugging Face's library: Rust, heap and word cache; has a trainer"
    surrogate_errors = (TypeError, UnicodeEncodeError)

    def _takes_original_texts(self, model: Model) -> bool:
        """Return whether the library applies SentencePiece's rules for rewriting as SentencePiece does."""
        rules = model.sentencepiece
        if rules is None or rules.charsmap or rules.user_defined_ids or model.normalization or model.whole_token_flags:
            return False
        return rules.dummy_prefix != "first"  # the library would treat each segment as the first

    def _load(self, model: Model) -> Calls:
        self._tokenizer = tokenizer = _tokenizer(model if self.normalizes else _for_written_texts(model))
        rules = model.sentencepiece
        drops = model.alphabet == "chars" and model.unknown is None and not (rules and rules.spells_all)
        if drops and rules and rules.byte_ids:
            raise Unsupported(self.name, "it drops characters with bytes that have no token; there is no unknown token")
        self._alphabet = {token.decode() for token in model.id_by_token} if drops else None
        # The library would decode such a special token as printable bytes.
        printed = any(not text.isascii() and CHARACTER_TO_BYTE.keys() >= set(text) for text in model.whole_token_ids)
        decodes_alike = model.alphabet == "bytes" and not printed and not _found_late(model)

        encode_batch = partial(tokenizer.encode_batch_fast, add_special_tokens=False)
        lists: Callable[[list[str]], Lists]
        lists = self._guarded(lambda texts: [encoding.ids for encoding in encode_batch(texts)])

        def encode(text: str) -> list[int]:
            self._refuse_unknown(text)
            return lists([text])[0]

        def batch(texts: list[str], threads: int) -> Lists:
            """Return the ids of texts; the library uses one thread, or for any other number all cores."""
            for text in texts:
                self._refuse_unknown(text)
            with environment(_PARALLELISM, "true" if threads > 1 else "false"):
                return lists(texts)

        return Calls(
            encode=encode,
            batch=batch,
            decode=partial(tokenizer.decode, skip_special_tokens=False) if decodes_alike else None,
            skips_unknown=True,
        )

    def encode_byte_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece that is not valid UTF-8, merged as printable characters."""
        return [token.id for token in self._tokenizer.model.tokenize(to_printable(piece))]

    def _refuse_unknown(self, text: str) -> None:
        """Raise for a character without a token, which the library drops, and for a tuple, which it treats as a pair of
        texts."""
        if type(text) is not str:
            check_text(text)
        if self._alphabet is None or (self.model.end_of_word is None and self._alphabet.issuperset(text)):
            return
        text.encode()  # a surrogate is replaced before it counts as unknown
        pieces.encode(self.model, text, self.model.symbols)

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by the library's `BpeTrainer`; raise `Unsupported` naming the field it cannot follow."""
        base, n_merges = base_and_budget(cls.name, spec, ties="smallest", base_order="gpt2")
        try:
            stages = resolve(spec.pattern)
            pre_tokenizer = write_stages(stages, byte_level=True)
        except InvalidPattern as error:
            raise Unsupported(cls.name, f"TrainingSpec.pattern: {error}") from None
        check_stages(cls.name, stages)
        trainer = trainers.BpeTrainer(
            vocab_size=len(base) + n_merges,
            min_frequency=spec.min_count,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            special_tokens=[],
            show_progress=False,
        )
        untrained: dict[str, Any] = {"type": "BPE", "vocab": {}, "merges": []}
        # A new tokenizer each time: one that has encoded before trains from stale cached ids.
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps({"model": untrained, "pre_tokenizer": pre_tokenizer}))
        try:
            if (files := files_of_lines(texts)) is not None:
                tokenizer.train(files, trainer)
            else:
                tokenizer.train_from_iterator(checked_texts(texts, spec), trainer)
        except BaseException as error:
            if not is_panic(error):
                raise
            raise failure(cls.name, stages, error) from None
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        pairs = [(from_printable(left), from_printable(right)) for left, right in merges]
        return model_of_merges(cls.name, spec, base, pairs)


def _for_written_texts(model: Model) -> Model:
    """Return the model for texts that `Model.normalize` has rewritten."""
    if _found_late(model):  # otherwise they would be searched again in rewritten text
        model = model.with_(special_tokens={}, added_tokens={})
    if model.sentencepiece is None:
        return model if model.normalization is None else model.with_(normalization=None)
    rules = replace(model.sentencepiece, escape_spaces=False, dummy_prefix="never", remove_extra_spaces=False)
    return model.with_(sentencepiece=replace(rules, charsmap=b"", charsmap_by_graphemes=False), normalization=None)


def _found_late(model: Model) -> bool:
    """Return whether special or added tokens are searched in rewritten text."""
    return any("normalized" in flags for flags in model.whole_token_flags.values())


def _tokenizer(model: Model) -> tokenizers.Tokenizer:
    check_stages(HuggingFace.name, model.pattern)
    # All as special tokens, since recognising those can be switched off, but not added ones.
    model = model.with_(special_tokens=model.whole_token_ids, added_tokens={})
    try:
        content = write_compact(model)
    except Unsupported:  # perhaps because of a special token, which encoding does not need
        content = write_compact(model.with_(special_tokens={}))
    tokenizer = tokenizers.Tokenizer.from_buffer(content)
    tokenizer.encode_special_tokens = True
    return tokenizer
