"""iree-tokenizer: IREE's streaming tokenizer in C. Not exact: `/compile` under cl100k is `/com` and `pile`.

Its decoder silently skips unknown ids; invalid UTF-8 is left to `Tokenizer`.
"""

from __future__ import annotations

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import tokenizer_json
from impls.peers.peer import Calls, Peer


class IreeTokenizer(Peer):
    """`iree.tokenizer.Tokenizer` over the model's tokenizer.json."""

    surrogate_errors = (TypeError,)

    def _load(self, model: Model) -> Calls:
        tokenizer = self.library.Tokenizer.from_buffer(tokenizer_json(self.name, model))
        return self._calls_of(tokenizer, array=lambda text: tokenizer.encode_to_array(text).view(np.uint32))
