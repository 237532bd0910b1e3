"""`explain` on SentencePiece models: behind Hugging Face's library, and in the library's own files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tokenizers

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
    found = explain(metaspace("prepend"), metaspace("metaspace"), "ab c")
    assert found.stage == "pieces"
    assert "prepend has the piece ‘▁ab▁c’; metaspace has the piece ‘▁ab’" in found.what
    found = explain(metaspace("prepend"), metaspace("metaspace"), " a")
    assert found.stage == "normalisation"
    assert "prepend replaces spaces by ▁ and prepends one; metaspace replaces spaces by ▁" in found.what


# --- the library's own files -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sentencepiece_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Trains a small model with the options given; its file."""
    import io

    import sentencepiece

    folder = tmp_path_factory.mktemp("sentencepiece")

    def train(name: str, **options: Any) -> Any:
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["the cat sat on the mats", "fine cats sat"] * 4), model_writer=written,
            model_type="bpe", vocab_size=300, hard_vocab_limit=False, byte_fallback=True, character_coverage=1.0,
            minloglevel=2, num_threads=1, **options,
        )  # fmt: skip
        path = folder / f"{name}.model"
        path.write_bytes(written.getvalue())
        return path

    return train


def test_sentencepiece_s_default_normalises_and_its_identity_does_not(sentencepiece_file: Any) -> None:
    identity = load_side(
        str(sentencepiece_file("identity", normalization_rule_name="identity", remove_extra_whitespaces=False)), None
    )
    default = load_side(str(sentencepiece_file("default")), None)
    for text, said in (
        ("the  cat", "collapses white space to single spaces and strips it"),
        ("\ufb01ne cats", "normalises it to NFKC"),
        ("the\tcat", "default.model"),
    ):
        found = explain(identity, default, text)
        assert found.stage == "normalisation"
        assert said in found.what
