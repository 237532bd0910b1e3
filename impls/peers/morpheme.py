"""morpheme: encodes with offsets and masks, as Hugging Face's library does; only to lists.

It decodes only to text, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

from impls.core.model import Model
from impls.peers.conversion import any_json
from impls.peers.peer import Calls, Peer, on_pool


class Morpheme(Peer):
    """`morpheme.Tokenizer` over the model's tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        tokenizer = self.library.Tokenizer.from_str(any_json(self.name, model).decode())
        return Calls(
            encode=lambda text: tokenizer.encode(text, False).ids,
            batch=on_pool(lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts, False)]),
            count=lambda text: int(tokenizer.count(text, False)),
        )
