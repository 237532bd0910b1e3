"""`DecodeStream`: text from ids that arrive one after another, each character as soon as it is certain.

The library's class decodes all recent ids again at each step, and returns nothing while the result ends in U+FFFD, so
that replaced bytes come late, and text of a prompt may be repeated. Here a step returns the text that is certain by
`operations.streaming`: the joined parts are a prefix of the text of all ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impls.core.arguments import wrong_type
from impls.drop_in.hf.arguments import flag, id_list
from impls.drop_in.hf.pipeline import Pipeline
from impls.drop_in.hf.tokenizer import Tokenizer
from impls.operations.streaming import StreamDecoder


class DecodeStream:
    """One stream of ids; `ids` precede it, and their text is not returned."""

    __slots__ = ("_decoder", "_ids", "_pipeline", "_shown", "_skips")

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool | None = False) -> None:
        """Begin a stream; raise TypeError or OverflowError for wrong arguments."""
        self._ids = [] if ids is None else id_list("ids", ids)
        self._skips = bool(skip_special_tokens) and flag("skip_special_tokens", skip_special_tokens)
        self._pipeline: Pipeline | None = None
        self._decoder: StreamDecoder | None = None
        self._shown = ""

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> DecodeStream:
        copied = DecodeStream(self._ids, self._skips)
        if self._pipeline is not None:
            copied._begin(self._pipeline)
        return copied

    __copy__ = __deepcopy__

    def step(self, tokenizer: Tokenizer, id: int | Sequence[int]) -> str | None:
        """Return the text that becomes certain with one id or several, or None; ids without a token are ignored."""
        try:
            ids = id_list("id", [id] if isinstance(id, int) else id)
        except OverflowError as error:
            raise TypeError(str(error)) from None
        if not isinstance(tokenizer, Tokenizer):
            raise wrong_type("tokenizer", "a bpebench.hf.Tokenizer", tokenizer)
        if tokenizer.pipeline is not self._pipeline:
            self._begin(tokenizer.pipeline)
        self._ids += ids
        return self._push(ids) or None

    def _begin(self, pipeline: Pipeline) -> None:
        rules = pipeline.stream_rules
        self._pipeline = pipeline
        steps = rules.decoder
        streams = steps is None or steps.by_token or steps.joins_bytes
        self._decoder = StreamDecoder(rules, skip_special=self._skips) if streams else None
        self._shown = ""
        self._push(self._ids)

    def _push(self, ids: Sequence[int]) -> str:
        assert self._pipeline is not None
        if self._decoder is not None:
            return self._decoder.push(i for i in ids if self._pipeline.name_of(i) is not None)
        text = self._pipeline.decode(self._ids, self._skips).rstrip("\ufffd")
        if not text.startswith(self._shown):
            return ""
        new, self._shown = text[len(self._shown) :], text
        return new
