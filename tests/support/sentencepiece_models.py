"""Models of SentencePiece written by hand, and texts that exercise its rules."""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from typing import Any

from impls import Model
from impls.core.text.sentencepiece_rules import SentencePieceRules


def pieces_model(
    texts: str, merges: str | None = None, *, byte_tokens: Container[int] = range(256),
    user_defined: Sequence[str] = (), **rules: Any,
) -> Model:  # fmt: skip
    """Return a model of `<s>`, the unknown token, texts ("▁ a ▁a"), and a token for each of `byte_tokens`.

    `merges` are written "▁+a a+b"; without them tokens merge by their joined text.
    """
    ids = {text: i for i, text in enumerate(texts.split(), 2)}
    first = 2 + len(ids)
    byte_ids = tuple(first + byte if byte in byte_tokens else -1 for byte in range(256)) if byte_tokens else ()
    return Model(
        tokens=(None, None, *(text.encode() for text in ids), *[None] * len(byte_ids)),
        merges=tuple(tuple(map(ids.__getitem__, merge.split("+"))) for merge in (merges or "").split()),  # type: ignore[misc]
        merge_rule="concatenation" if merges is None else "pairs",
        alphabet="chars",
        special_tokens={"<s>": 0},
        unknown="<unk>",
        unknown_id=1,
        sentencepiece=SentencePieceRules(
            byte_ids=byte_ids, user_defined_ids=tuple(map(ids.__getitem__, user_defined)), **rules
        ),
    )


_PARTS = [
    *"abcethlow .,1½İıé\u2581\n\t\u3000\u00a0\u200b\x00\x01😀\ufffd\u0301\u00a8Ａ", "  ", "    ", "the", "he c",
    "<user>", " a  b", "ﬁ", "ﬃ", "e\u0301", "１２", "\u2581\u2581", "<unk>", "<s>", "[INST]", "<0x41>", "你好",
]  # fmt: skip


def random_texts(n: int, seed: int = 1) -> list[str]:
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
