"""SentencePiece's own models for tests: trained quickly by its library, and texts that exercise its rules."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
import sentencepiece
from sentencepiece_files import trained_file

from impls import Model
from impls.formats.sentencepiece_model import read

CORPUS = [
    "low lower lowest newer wider İstanbul'da hızlı hızlı koşan koşucular",
    "the cat sat on the mat; the cats   sat on mats (and hats).",
    "def f(x):\n    return x + 1\n        # x\n",
    "１２３ ﬁne fine ﬃ e\u0301té été 你好你好 hello\u3000world \u00a0 12½",
] * 4

_PLAIN: dict[str, Any] = {
    "normalization_rule_name": "identity",
    "character_coverage": 1.0,
    "byte_fallback": True,
    "remove_extra_whitespaces": False,
    "vocab_size": 420,
    "max_sentence_length": 100_000,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "unknown": {"byte_fallback": False, "character_coverage": 0.98, "vocab_size": 120},
    "runs of spaces": {"allow_whitespace_only_pieces": True},
    "no prefix": {"add_dummy_prefix": False},
    "extra spaces go": {"remove_extra_whitespaces": True},
    "no prefix, extra spaces go": {"remove_extra_whitespaces": True, "add_dummy_prefix": False},
    "nmt_nfkc": {"normalization_rule_name": "nmt_nfkc", "remove_extra_whitespaces": True},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf", "byte_fallback": False, "vocab_size": 150},
    "nfkc, spaces stay": {"normalization_rule_name": "nfkc"},
    "user-defined": {"user_defined_symbols": ["the", "he c", "<user>", "ﬁ", "\u2581\u2581", "e"]},
    "user-defined, nmt_nfkc": {
        "user_defined_symbols": ["the", " a  b", "ﬁ", "\u2581\u2581", "１"],
        "normalization_rule_name": "nmt_nfkc",
        "remove_extra_whitespaces": True,
    },
    "control": {"control_symbols": ["[INST]", "<tool>"], "unk_surface": "?!"},
}


@dataclass(frozen=True, slots=True)
class Trained:
    """A model of the library's trainer."""

    name: str
    model: Model
    """As it is read here."""
    library: sentencepiece.SentencePieceProcessor
    options: dict[str, Any] = field(default_factory=dict)


@cache
def _trained(name: str) -> Trained:
    options = _PLAIN | OPTIONS[name]
    content = trained_file(CORPUS, **options)
    return Trained(name, read(content), sentencepiece.SentencePieceProcessor(model_proto=content), options)


@pytest.fixture(params=OPTIONS)
def trained(request: pytest.FixtureRequest) -> Trained:
    """One model for each of `OPTIONS`."""
    return _trained(request.param)


@pytest.fixture(scope="session")
def trained_with() -> Callable[[str], Trained]:
    """A function from a name of `OPTIONS` to its model."""
    return _trained


_PARTS = [
    *"abcethlow .,1½İıé\u2581\n\t\u3000\u00a0\u200b\x00\x01😀\ufffd\u0301\u00a8Ａ", "  ", "    ", "the", "he c",
    "<user>", " a  b", "ﬁ", "ﬃ", "e\u0301", "１２", "\u2581\u2581", "<unk>", "<s>", "[INST]", "<0x41>", "你好",
]  # fmt: skip


@pytest.fixture(scope="session")
def random_texts() -> Callable[..., list[str]]:
    """A function from a number and a seed to as many texts."""
    return _random_texts


def _random_texts(n: int, seed: int = 1) -> list[str]:
    """`n` texts of parts that SentencePiece treats in its own ways, and of random characters."""
    rng = random.Random(seed)
    texts = ["", " ", "  ", "\u2581", "\u2581 ", " \u2581a", "\x01", " \x01 "]
    while len(texts) < n:
        size = rng.randrange(14)
        if rng.random() < 0.7:
            texts.append("".join(rng.choice(_PARTS) for _ in range(size)))
        else:
            text = "".join(chr(rng.randrange(rng.choice((0x80, 0x250, 0x3100, 0x11000)))) for _ in range(size))
            texts.append(text.encode("utf-8", "replace").decode())
    return texts[:n]
