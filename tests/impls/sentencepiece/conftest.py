"""SentencePiece's own models for tests: trained quickly by its library, and texts that exercise its rules."""

from __future__ import annotations

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


@pytest.fixture(params=OPTIONS)
def trained(request: pytest.FixtureRequest) -> Trained:
    """One model for each of `OPTIONS`."""
    return _trained(request.param)


@cache
def _trained(name: str) -> Trained:
    options = _PLAIN | OPTIONS[name]
    content = trained_file(CORPUS, **options)
    return Trained(name, read(content), sentencepiece.SentencePieceProcessor(model_proto=content), options)
