"""wordchipper: encodes by generated splitters and a choice of merge loops. It reads only OpenAI's vocabularies.

It downloads those unless they are in its cache folder; without a network it leaves an empty file there, with which it
then returns byte values. So it gets a cache folder with the model's ranks.
"""

from __future__ import annotations

from pathlib import Path

from impls.core.model import Model
from impls.peers.conversion import file_of, rank_file, require_public
from impls.peers.peer import Calls, Peer, on_pool
from impls.production.libraries import environment


class Wordchipper(Peer):
    """`wordchipper.Tokenizer` of one of OpenAI's vocabularies, its special tokens switched off."""

    def _load(self, model: Model) -> Calls:
        name = require_public(self.name, model, self.built_in)
        cached, variable = f"openai/{name}/{name}.tiktoken", "WORDCHIPPER_CACHE_DIR"
        with file_of(rank_file(model), cached) as path, environment(variable, str(Path(path).parents[2])):
            tokenizer = self.library.Tokenizer.from_pretrained(name)
        none = self.library.SpecialFilter.include_none()
        return Calls(
            encode=lambda text: tokenizer.encode(text, none),
            batch=on_pool(lambda texts: tokenizer.encode_batch(texts, none)),
            decode_bytes=tokenizer.decode_bytes if dict(tokenizer.specials) == dict(model.whole_token_ids) else None,
        )
