"""What of a tokenizer can be set: its parts and its settings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

from impls.drop_in.hf.arguments import flag, ignoring_others
from impls.drop_in.hf.encoding import Padding
from impls.drop_in.hf.parts import BPE, Decoder, given_document
from impls.drop_in.hf.pipeline import Pipeline, read_document
from impls.drop_in.hf.post_processing import read_processor
from impls.drop_in.hf.truncation import Truncation
from impls.formats.files import without_collecting

CHANGING = threading.RLock()
"""Held while a tokenizer is changed, so that no change undoes another one."""


def _part(name: str, method: str, read: Callable[[Any], Any] | None = None) -> Any:
    """Return the property of the part `name`, which is set to an object with `method`, of ours or of the library's:
    it is read by `read`, or, since the ids depend on it, with the rest of the file."""

    def set_part(self: Configured, given: Any) -> None:
        document = None if given is None else given_document(name, f"a {name.replace('_', '-')}", method, given)
        if read is None:
            self._read_again(**{name: document})
        else:
            self._change(**{name: read(document)})

    return property(attrgetter(f"pipeline.{name}"), set_part, doc=f"The {name}; one of the library's may be set too.")


class Configured:
    """The part of a `Tokenizer` that does not depend on texts and ids."""

    __slots__ = ("__weakref__", "pipeline")
    pipeline: Pipeline
    """What it is now; each call is done by the pipeline at its beginning."""

    # --- parts ------------------------------------------------------------------------------------------------

    @property
    def model(self) -> BPE:
        """Return the settings of the model, which cannot be changed."""
        given = self.pipeline.document["model"]
        return BPE(**{name: given[name] for name in BPE.__struct_fields__ if given.get(name) is not None})

    normalizer = _part("normalizer", "normalize_str")
    pre_tokenizer = _part("pre_tokenizer", "pre_tokenize_str")
    post_processor = _part("post_processor", "num_special_tokens_to_add", read_processor)
    decoder = _part("decoder", "decode", Decoder.read)

    def _change(self, **changes: Any) -> None:
        with CHANGING:
            self.pipeline = replace(self.pipeline, **changes)

    def _read_again(self, **parts: Any) -> None:
        """Make the tokenizer again from its tokenizer.json with other parts: the ids depend on them."""
        with CHANGING, without_collecting():
            pipeline = self.pipeline
            again = read_document(pipeline.written | parts, type(pipeline.implementation))
            self.pipeline = replace(again, encode_special_tokens=pipeline.encode_special_tokens)

    # --- settings ---------------------------------------------------------------------------------------------

    @property
    def encode_special_tokens(self) -> bool:
        """Return whether special tokens in a text are encoded as text."""
        return self.pipeline.encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._change(encode_special_tokens=flag("encode_special_tokens", value))

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds to a text, or to a pair."""
        return self.pipeline.n_added(flag("is_pair", is_pair))

    @property
    def truncation(self) -> dict[str, Any] | None:
        """Return the settings of `enable_truncation`, or None."""
        truncation = self.pipeline.truncation
        return None if truncation is None else truncation.options

    @ignoring_others
    def enable_truncation(
        self, max_length: int, *, stride: int = 0, strategy: str = "longest_first", direction: str = "right"
    ) -> None:
        """Truncate to `max_length` tokens, by the strategy `longest_first`, `only_first` or `only_second`.

        Raise ValueError for a stride that leaves no room.
        """
        self._change(truncation=Truncation.of(max_length, stride, strategy, direction, self.pipeline.n_added(False)))

    def no_truncation(self) -> None:
        """Do not truncate."""
        self._change(truncation=None)

    @property
    def padding(self) -> dict[str, Any] | None:
        """Return the settings of `enable_padding`, or None."""
        padding = self.pipeline.padding
        return None if padding is None else padding.options

    @ignoring_others
    def enable_padding(
        self,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
        max_length: int | None = None,
    ) -> None:
        """Pad to `length` tokens, or to the longest text of a batch; `max_length` is its former name."""
        length = max_length if length is None else length
        self._change(padding=Padding.of(direction, pad_id, pad_type_id, pad_token, length, pad_to_multiple_of))

    def no_padding(self) -> None:
        """Do not pad."""
        self._change(padding=None)
