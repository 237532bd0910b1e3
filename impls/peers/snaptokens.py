"""snaptokens: encodes by hand-written splitters and word caches, a fork of fastokens; batches use Rayon's threads.

It requires a token for each id, and decodes by tokens' texts, so ids are decoded by `Tokenizer`. Code points newer than
Unicode 16 may get different ids than in other libraries.
"""

from __future__ import annotations

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import as_lists, tokenizer_json
from impls.peers.peer import Calls, Lists, Peer, on_pool

_LONG = 1000
"""For texts of at least this many characters, a list is made faster from flat output than from the encoding object."""


class Snaptokens(Peer):
    """`snaptokens.Tokenizer` over the model's tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        content = tokenizer_json(self.name, model, every_way=True, dense=True)
        tokenizer = self.library.Tokenizer.from_json_str(content.decode())

        def array(text: str) -> np.ndarray:
            return np.frombuffer(tokenizer.encode_batch_flat([text])[0], np.uint32)

        def batch(texts: list[str]) -> Lists:
            ids, offsets = tokenizer.encode_batch_flat(texts)
            return as_lists(np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64))

        return Calls(
            encode=lambda text: tokenizer.encode(text).ids if len(text) < _LONG else array(text).tolist(),
            array=array,
            batch=on_pool(batch, least=1),
        )
