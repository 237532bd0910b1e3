"""bpe-openai: encodes by backtracking over compatible tokens behind tiktoken's interface. cl100k and o200k, built in.

It refuses texts of a million characters or of more than 200,000 tokens. It decodes in Python, as `Tokenizer` does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.peers.conversion import require_public
from impls.peers.peer import Calls, Peer, on_several


class BpeOpenai(Peer):
    """`bpe_openai.Encoding` of the same name as the model."""

    def _load(self, model: Model) -> Calls:
        tokenizer = self.library.get_encoding(require_public(self.name, model, self.built_in))

        def shorter(encode: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
            try:
                return encode(*arguments, **more)
            except (ValueError, self.library.TokenLimitError) as error:
                raise Unsupported(self.name, f"it refuses long texts: {error}") from None

        return self._calls_of(
            tokenizer,
            encode=partial(shorter, tokenizer.encode_ordinary),
            batch=on_several(lambda texts, n: shorter(tokenizer.encode_ordinary_batch, texts, num_threads=n)),
        )
