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

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> DecodeStream:
        return DecodeStream(self._ids, self._skips)

    __copy__ = __deepcopy__

    def step(self, tokenizer: Tokenizer, id: int | Sequence[int]) -> str | None:
        """Return the text that becomes certain with one id or several, or None; ids without a token are ignored."""
        try:
            ids = id_list("id", [id] if isinstance(id, int) else id)
        except OverflowError as error:
            raise TypeError(str(error)) from None
        if not isinstance(tokenizer, Tokenizer):
            raise wrong_type("tokenizer", "a bpebench.hf.Tokenizer", tokenizer)
        pipeline = tokenizer.pipeline
        if pipeline is not self._pipeline:
            self._begin(pipeline)
        self._ids += ids
        return self._push(pipeline, ids) or None

    def _begin(self, pipeline: Pipeline) -> None:
        steps = pipeline.stream_rules.decoder
        streams = steps is None or steps.by_token or steps.joins_bytes
        self._decoder = StreamDecoder(pipeline.stream_rules, skip_special=self._skips) if streams else None
        self._pipeline, self._shown = pipeline, ""
        self._push(pipeline, self._ids)

    def _push(self, pipeline: Pipeline, ids: Sequence[int]) -> str:
        if self._decoder is not None:
            return self._decoder.push(i for i in ids if pipeline.name_of(i) is not None)
        text = pipeline.decode(self._ids, self._skips).rstrip("\ufffd")
        if not text.startswith(self._shown):
            return ""
        new, self._shown = text[len(self._shown) :], text
        return new
