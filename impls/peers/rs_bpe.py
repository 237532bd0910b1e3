"""rs-bpe: encodes by backtracking over compatible tokens, linear in the text; only cl100k and o200k, built in.

Its thread pool keeps the vocabulary it was first used with, whichever tokenizer uses it (`abc` by o200k after cl100k
gives cl100k's 13997); so only the first model of a process uses the pool. It silently skips unknown ids when it
decodes, and returns None for invalid UTF-8.
"""

from __future__ import annotations

from impls.core.model import Model
from impls.peers.conversion import require_public
from impls.peers.peer import Calls, Lists, Peer

_POOL: dict[str, str] = {}
"""The model the library's thread pool uses in this process."""


class RsBpe(Peer):
    """`rs_bpe`'s tokenizer of the same name as the model."""

    def _load(self, model: Model) -> Calls:
        openai, name = self.library.openai, require_public(self.name, model, self.built_in)
        tokenizer = getattr(openai, name)()

        def batch(texts: list[str], threads: int) -> Lists | None:
            if threads == 1 or _POOL.setdefault("model", name) != name:
                return None
            sizes = {"min_batch_size": 20, "chunk_size": 100}  # texts; those of its documentation
            return tokenizer.encode_batch_parallel(texts, openai.ParallelOptions(**sizes, max_threads=threads))[0]

        return self._calls_of(tokenizer, batch=batch)
