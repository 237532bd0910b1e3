"""quicktok: encodes by backtracking with SIMD splitters of its own; cl100k, o200k, llama3 and Qwen's, built in.

Its Qwen vocabulary normalises by NFC, so only models that do are run. Not exact with llama3's: inside a piece it uses
tokens that no tokens of lower rank make, which may only be whole pieces.
"""

from __future__ import annotations

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.peers.conversion import as_lists, require_public
from impls.peers.peer import Calls, Peer, on_several


class Quicktok(Peer):
    """`quicktok.Tokenizer` of the model's name."""

    surrogate_errors = (TypeError,)

    def _load(self, model: Model) -> Calls:
        name = require_public(self.name, model, self.built_in)
        if name == "qwen" and model.normalization != "nfc":
            raise Unsupported(self.name, "it normalises by NFC with Qwen's vocabulary, and this model does not")
        tokenizer = self.library.Tokenizer("qwen3" if name == "qwen" else name)
        return self._calls_of(
            tokenizer,
            array=lambda text: tokenizer.encode_batch([text], 1)[0],  # arrays come only in batches
            batch=on_several(lambda texts, threads: as_lists(*tokenizer.encode_batch(texts, threads))),
        )
