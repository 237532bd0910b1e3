"""Files of SentencePiece, trained quickly by its library."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from sentencepiece import SentencePieceTrainer


def trained_file(texts: Iterable[str], **options: Any) -> bytes:
    """Return the model that the library trains on texts: byte pair encoding, as large as the texts allow."""
    written = io.BytesIO()
    usual = {"model_type": "bpe", "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2}
    SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=written, **usual | options)
    return written.getvalue()
