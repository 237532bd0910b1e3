"""The trainers of the peers' libraries, stood in for by `priority`: the same calls, by the specification."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import impls
from impls import Model
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.patterns import NAMED, Splitter


def trained(texts: list[str], vocab_size: int, pattern: str, **fields: Any) -> Model:
    """What a library learns that follows the specification."""
    spec = impls.TrainingSpec(vocab_size=vocab_size, pattern=pattern, **fields)
    return impls.get("priority").train_model(texts, spec)


def ffbpe_trainer() -> dict[str, Any]:
    class Counter:
        def __init__(self, pattern: str) -> None:
            self.pattern = pattern

        def word_counter(self) -> Counter:
            return self

        def add_source(self, texts: Iterator[str]) -> None:
            self.texts = list(texts)

    class Trainer:
        def __init__(self, _: list[str], initial_alphabet: str, tie_break: str, bigram_cutoff_freq: int) -> None:
            self.order = {"raw": "raw", "byte_level": "gpt2"}[initial_alphabet]
            self.ties = {"smallest_pair_id": "smallest", "largest_content": "largest"}[tie_break]
            self.least = bigram_cutoff_freq

        def add_word_counter(self, counter: Counter) -> None:
            self.counter = counter

        def train(self, vocab_size: int) -> None:
            fields = {"ties": self.ties, "base_order": self.order, "min_count": self.least}
            self.vocab = dict(trained(self.counter.texts, vocab_size, self.counter.pattern, **fields).id_by_token)

    return {"PreTokenizer": lambda _, pat_str: Counter(pat_str), "BpeTrainer": Trainer}


def gigatoken_trainer() -> dict[str, Any]:
    def train_bpe(
        corpus: bytes, vocab_size: int, specials: list[str], ties: str, separator: bytes
    ) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
        os.write(1, b"Starting merges\n")
        texts = [text.decode() for text in corpus.split(separator)]
        order = {"raw_token_ids": "raw", "huggingface": "gpt2"}[ties]
        model = trained(texts, vocab_size, "gpt2", base_order=order)
        merges = [(model.tokens[left], model.tokens[right]) for left, right in model.merges]
        return {}, merges + [(b"\x00", bytes([byte])) for byte in range(vocab_size - 256 - len(merges))]  # type: ignore[operator]

    def pretokenizer(text: bytes) -> Iterator[bytes]:
        return (piece.encode() for piece in Splitter(NAMED["gpt2"]).split(text.decode()))

    return {"train_bpe": train_bpe, "pretokenizer": pretokenizer}


def gigabpe_trainer() -> dict[str, Any]:
    def train_bpe(
        files: list[str], vocab_size: int, *, min_frequency: int, pretokenizer: str, threads: int
    ) -> tuple[dict[str, int], list[tuple[str, str]]]:
        assert pretokenizer == "bytelevel"
        assert threads > 0
        contents = [Path(file).read_bytes() for file in files]
        lines = [line for content in contents for line in re.findall("[^\n]*\n|[^\n]+", content.decode())]
        n_merges = vocab_size - len(set(b"".join(contents)))
        model = trained(lines, 256 + n_merges, "gpt2", base_order="gpt2", min_count=min_frequency)
        texts = [to_printable(token) for token in model.tokens if token is not None]
        return {}, [(texts[left], texts[right]) for left, right in model.merges]

    return {"train_bpe": train_bpe}
