"""A small tekken.json."""

from __future__ import annotations

import base64
from typing import Any

N_SPECIAL = 30


def tekken_document() -> dict[str, Any]:
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b"never"]
    sizes = {"default_vocab_size": N_SPECIAL + 258, "default_num_special_tokens": N_SPECIAL}
    vocab = [{"rank": rank, "token_bytes": base64.b64encode(token).decode()} for rank, token in enumerate(tokens)]
    return {"config": {"pattern": "[a-z]+|[^a-z]+", **sizes}, "vocab": vocab}
