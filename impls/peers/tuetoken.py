"""tuetoken: encodes by merging in linear time with a cache of pieces; it refuses what it cannot reproduce.

It decodes only to text, and silently skips unknown ids, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import any_json, file_of
from impls.peers.peer import Calls, Peer


class Tuetoken(Peer):
    """`tuetoken.Tokenizer` over the model's tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        with file_of(any_json(self.name, model), "tokenizer.json") as path:
            tokenizer = self.library.Tokenizer(path)
        return self._calls_of(tokenizer, array=lambda text: np.frombuffer(tokenizer.encode_to_bytes(text), np.uint32))
