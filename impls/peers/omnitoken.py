"""omnitoken: encodes words between spaces, and encodes only. Not exact: it knows no pre-tokenizer and no byte alphabet.

So it drops spaces and whatever is not written in tokenizer.json literally, or raises RuntimeError. Each call takes
about 20 ms, however short the text.
"""

from __future__ import annotations

from impls.core.model import Model
from impls.peers.conversion import file_of, tokenizer_json
from impls.peers.peer import Calls, Peer


class Omnitoken(Peer):
    """`omnitoken.Tokenizer` over the model's tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        with file_of(tokenizer_json(self.name, model), "tokenizer.json") as path:
            return self._calls_of(self.library.Tokenizer(path))
