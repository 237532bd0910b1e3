"""bpe-qwen: encodes by backtracking with a splitter for Qwen's pattern. Not exact: wrong for some non-ASCII characters.

It reads `vocab.json` and `merges.txt`. Its package imports transformers, which it does not require, so only the
compiled module is imported. It silently skips unknown ids, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED
from impls.peers.conversion import file_of, tokenizer_json
from impls.peers.peer import Calls, Peer


class BpeQwen(Peer):
    """`bpe_qwen.QwenTokenizer` over the model's vocabulary and merges."""

    def _load(self, model: Model) -> Calls:
        if model.pattern != NAMED["qwen"]:
            raise Unsupported(self.name, "it splits by Qwen's pattern only")
        parts = json.loads(tokenizer_json(self.name, model))["model"]
        merges = "".join(f"{left} {right}\n" for left, right in parts["merges"])
        with file_of(f"#version: 0.2\n{merges}".encode(), "merges.txt") as path:
            folder = Path(path).parent
            folder.joinpath("vocab.json").write_text(json.dumps(parts["vocab"]))
            tokenizer = self.library.QwenTokenizer(str(folder))
        return self._calls_of(tokenizer, array=lambda text: np.frombuffer(tokenizer.encode_bytes(text), np.uint32))
