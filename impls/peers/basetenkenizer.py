"""basetenkenizer: encodes for serving, with segments of chats. Not exact: it splits `'TX` by GPT-2's pattern as `'tx`.

It decodes only to text, and silently skips unknown ids, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

from impls.core.model import Model
from impls.peers.conversion import any_json
from impls.peers.peer import Calls, Peer, on_pool


class Basetenkenizer(Peer):
    """`basetenkenizer.Tokenizer` over the model's tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        tokenizer = self.library.Tokenizer.from_json_str(any_json(self.name, model).decode())
        return Calls(
            encode=lambda text: tokenizer.encode(text).ids,
            array=lambda text: tokenizer.encode(text).into_numpy()["ids"],
            batch=on_pool(lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts)]),
        )
