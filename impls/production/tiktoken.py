"""tiktoken over our model: its `Encoding`, made of the model's ranks, pattern and special tokens.

tiktoken joins any two neighbours whose bytes together are a token, lowest id first. A model with listed merges runs
only where that provably gives the same ids. The pattern is the one tiktoken ships where ours has an equal, faster form.

About a million white space characters in a row exhaust its regular expression engine. It then raises ValueError or
`pyo3_runtime.PanicException`, which derives from BaseException: neither is caught here, so that whoever runs the
tokenizer sees the library fail; `except Exception` does not catch the panic.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

import numpy as np
import tiktoken

from impls.errors import Unsupported
from impls.formats.tiktoken_ranks import concatenation_differs, ranks_of
from impls.interface import SpecialSet, Tokenizer
from impls.model import Model
from impls.patterns import NAMED
from impls.production.whole_texts import whole_text

_SHIPPED = {NAMED["gpt2"]: NAMED["gpt2-0.14"], NAMED["cl100k"]: NAMED["cl100k-0.14"]}
_WHOLE_TEXT = r"(?s:.+)"


class Tiktoken(Tokenizer):
    """`tiktoken.Encoding` with the model's own ranks."""

    name: ClassVar[str] = "tiktoken"
    summary: ClassVar[str] = "OpenAI's library: Rust, looks joined bytes up"
    kind: ClassVar[Literal["production"]] = "production"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._encoding = _encoding(model)

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of a text in which nothing is special. A panic of the library passes through (see the module)."""
        return self._encoding.encode_ordinary(text)

    def encode_array(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> np.ndarray:
        """As `encode`, as a uint32 array made by the library itself."""
        whole = whole_text(self.model, text, allowed_special, disallowed_special)
        if whole is None:
            return super().encode_array(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
        return self._encoding.encode_to_numpy(whole, disallowed_special=())

    def encode_batch(
        self,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> list[list[int]]:
        """One list of ids per text, by the library's own thread pool."""
        whole = [whole_text(self.model, text, allowed_special, disallowed_special) for text in texts]
        ready = [text for text in whole if text is not None]
        if threads == 1 or len(ready) < len(whole) or len(ready) < 2:
            return super().encode_batch(
                texts, threads, allowed_special=allowed_special, disallowed_special=disallowed_special
            )
        threads = os.cpu_count() or 1 if threads is None else threads
        if threads < 1:
            raise ValueError(f"threads must be at least 1 or None, not {threads}")
        return self._encoding.encode_ordinary_batch(ready, num_threads=threads)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes the ids stand for. Raises `UnknownId(id, position)`, unless the model has an unknown token."""
        ids = list(ids)
        try:
            return self._encoding.decode_bytes(ids)
        except (KeyError, OverflowError, TypeError):
            return super().decode_bytes(ids)  # names the id and its position


def _encoding(model: Model) -> tiktoken.Encoding:
    name = Tiktoken.name
    if model.alphabet != "bytes":
        raise Unsupported(name, "its tokens start from bytes; this model's alphabet is 'chars'")
    if len(model.pattern) > 1:
        raise Unsupported(name, f"it splits by one pattern; this model has {len(model.pattern)} split stages")
    try:
        ranks = ranks_of(model)
    except Unsupported as error:
        raise Unsupported(name, error.reason) from None
    if why := concatenation_differs(model):
        raise Unsupported(name, f"it looks joined bytes up, which gives other ids here: {why}")
    pattern = _SHIPPED.get(model.pattern, model.pattern)
    specials = {text: i for text, i in model.whole_token_ids.items() if text.encode() not in ranks}
    try:
        return tiktoken.Encoding(
            name, pat_str=pattern[0] if pattern else _WHOLE_TEXT, mergeable_ranks=ranks, special_tokens=specials
        )
    except ValueError as error:
        raise Unsupported(name, f"it refuses the model: {error}") from None
