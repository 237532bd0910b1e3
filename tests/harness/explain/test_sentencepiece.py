"""`explain` on SentencePiece models: behind Hugging Face's library, and in the library's own files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tokenizers
from sentencepiece_files import trained_file

from harness.explain import Side, explain, load_side, side_of

# --- SentencePiece after Hugging Face ----------------------------------------------------------------------------


def metaspace(kind: str) -> Side:
    """One small vocabulary with `Prepend` + `Replace`, or with Metaspace."""
    tokens = ["<unk>", *"abc▁", "▁a", "▁▁", "b▁", "▁b"]
    merges = [("▁", "a"), ("▁", "▁"), ("b", "▁"), ("▁", "b")]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges, unk_token="<unk>")
    )
    if kind == "metaspace":
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    else:
        tokenizer.normalizer = tokenizers.normalizers.Sequence(
            [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
        )
    return side_of(tokenizer, kind)


def test_metaspace_cuts_before_each_space_and_puts_no_mark_before_one_where_prepend_does() -> None:
    explanation = explain(metaspace("prepend"), metaspace("metaspace"), "ab c")
    assert explanation.stage == "pieces"
    assert "prepend has the piece ‘▁ab▁c’; metaspace has the piece ‘▁ab’" in explanation.what
    explanation = explain(metaspace("prepend"), metaspace("metaspace"), " a")
    assert explanation.stage == "normalisation"
    assert "prepend replaces spaces by ▁ and prepends one; metaspace replaces spaces by ▁" in explanation.what


# --- the library's own files -------------------------------------------------------------------------------------


def test_sentencepiece_s_default_normalises_and_its_identity_does_not(tmp_path: Path) -> None:
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    options: dict[str, dict[str, Any]] = {"identity": plain, "default": {}}
    for name, more in options.items():
        texts = ["the cat sat on the mats", "fine cats sat"] * 4
        content = trained_file(texts, vocab_size=300, byte_fallback=True, character_coverage=1.0, **more)
        (tmp_path / f"{name}.model").write_bytes(content)
    identity, default = (load_side(str(tmp_path / f"{name}.model"), None) for name in options)
    for text, message in (
        ("the  cat", "collapses white space to single spaces and strips it"),
        ("\ufb01ne cats", "normalises it to NFKC"),
        ("the\tcat", "default.model"),
    ):
        explanation = explain(identity, default, text)
        assert explanation.stage == "normalisation"
        assert message in explanation.what
