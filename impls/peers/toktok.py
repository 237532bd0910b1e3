"""toktok: encodes by backtracking with splitters of its own; cl100k and o200k, built in. It also truncates.

Its documented functions count and truncate; the tokenizer behind them encodes. It silently skips unknown ids when it
decodes.
"""

from __future__ import annotations

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import as_lists, require_public
from impls.peers.peer import Calls, Peer, on_several


class Toktok(Peer):
    """The tokenizer of `toktok` with the model's name."""

    def _load(self, model: Model) -> Calls:
        tokenizer = self.library._encoding(require_public(self.name, model, self.built_in))
        return self._calls_of(
            tokenizer,
            array=lambda text: np.frombuffer(tokenizer.encode_to_buffer(text, disallowed_special=()), np.uint32),
            batch=on_several(lambda texts, threads: as_lists(*tokenizer.encode_batch_to_numpy(texts, threads))),
        )
