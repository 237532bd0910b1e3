"""tokie: encodes by backtracking with a splitter for each known pattern. Not exact: it splits a tab and `'s` wrongly.

It silently replaces an unknown pattern by GPT-2's; such models are refused here. It has no setting for threads: long
texts and batches use all cores the process may run on.
"""

from __future__ import annotations

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED
from impls.peers.conversion import file_of, plain_pattern, tokenizer_json
from impls.peers.peer import Calls, Peer, on_pool

_PATTERNS = (NAMED["gpt2"], NAMED["cl100k"], NAMED["o200k"])


class Tokie(Peer):
    """`tokie.Tokenizer` over the model's tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        if plain_pattern(model) not in _PATTERNS:
            raise Unsupported(self.name, "it splits by GPT-2's, cl100k's, o200k's pattern, by GPT-2's for any other")
        if None in model.tokens:
            gap = model.tokens.index(None)
            raise Unsupported(self.name, f"it numbers tokens without a gap, and this model has none with the id {gap}")
        with file_of(tokenizer_json(self.name, model), "tokenizer.json") as path:
            tokenizer = self.library.Tokenizer.from_json(path)
        return self._calls_of(
            tokenizer,
            encode=lambda text: tokenizer.encode(text, False).ids,
            batch=on_pool(lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts, False)]),
        )
