"""minibperust: minbpe's tokenizer in Rust, with a cache of pieces. It numbers bytes by their value, merges after them.

For a model that numbers bytes differently (all of OpenAI's), the ids it gives are renumbered here, in Python.
"""

from __future__ import annotations

from impls.core.model import Model
from impls.peers.conversion import merges_after_bytes, one_pattern_of
from impls.peers.peer import Calls, Peer, on_pool


class Minibperust(Peer):
    """`MiniBpeRust.rustminibpe.RustEncoder` over the model's merges."""

    def _load(self, model: Model) -> Calls:
        merges, id_of_byte = merges_after_bytes(self.name, model)
        byte_of_id = sorted(range(256), key=id_of_byte.__getitem__)
        by_value = [(*(byte_of_id[i] if i < 256 else i for i in pair),) for pair in merges]
        tokenizer = self.library.rustminibpe.RustEncoder(one_pattern_of(model), by_value)
        if byte_of_id == list(range(256)):
            return Calls(encode=tokenizer.encode_ordinary, batch=on_pool(tokenizer.encode_batch))
        ids = [*id_of_byte, *range(256, len(model.tokens))].__getitem__
        return Calls(
            encode=lambda text: list(map(ids, tokenizer.encode_ordinary(text))),
            batch=on_pool(lambda texts: [list(map(ids, row)) for row in tokenizer.encode_batch(texts)]),
        )
