"""omnitoken: encodes words between spaces, and encodes only. Not exact: it knows no pre-tokenizer and no byte alphabet.

So it drops spaces and whatever is not written in tokenizer.json literally, or raises RuntimeError. Each call takes
about 20 ms, however short the text.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import file_of, tokenizer_json
from impls.peers.packages import library, loading

omnitoken = library("omnitoken", "omnitoken", "omnitoken")


class Omnitoken(Tokenizer):
    """`omnitoken.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "omnitoken"
    summary: ClassVar[str] = "Rust: one automaton for several kinds of vocabulary; encodes only"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._tokenizer: Any
        with loading(self.name), file_of(tokenizer_json(self.name, model), "tokenizer.json") as path:
            self._tokenizer = omnitoken.Tokenizer(path)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode(text)
        return ids
