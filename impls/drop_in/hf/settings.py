"""What happens to encodings after the tokens are known, and its settings: truncation, post-processing, padding."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

from impls.core.arguments import wrong_type
from impls.drop_in.hf.arguments import flag
from impls.drop_in.hf.encoding import Encoding
from impls.drop_in.hf.lengths import Padding, Truncation, read_lengths
from impls.drop_in.hf.processors import PostProcessor, given_processor, joined, read_processor


class Settings:
    """The half of a `Tokenizer` that knows nothing of texts and ids."""

    def _read_settings(self, document: dict[str, Any]) -> None:
        """Take the settings of a tokenizer.json; raise `InvalidModel` naming what is wrong or not supported."""
        self._processor = read_processor(document.get("post_processor"))
        self._truncation, self._padding = read_lengths(document)
        self._encode_special_tokens = False

    @property
    def _settings(self) -> dict[str, Any]:
        """The settings as tokenizer.json has them."""
        return {
            "truncation": None if self._truncation is None else self._truncation.document,
            "padding": None if self._padding is None else self._padding.document,
            "post_processor": msgspec.to_builtins(self._processor),
        }

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in a text are encoded as text."""
        return self._encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._encode_special_tokens = flag("encode_special_tokens", value)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return an encoding, or a pair of them, truncated, with special tokens, and padded."""
        for name, given in (("encoding", encoding), ("pair", pair)):
            if not isinstance(given, Encoding) and (given is not None or name == "encoding"):
                raise wrong_type(name, "an Encoding", given)
        second = None if pair is None else pair.copy()
        return self._finished(encoding.copy(), second, flag("add_special_tokens", add_special_tokens))

    def _finished(self, first: Encoding, second: Encoding | None, adds: bool) -> Encoding:
        if self._truncation is not None:
            n_added = self.num_special_tokens_to_add(second is not None) if adds else 0
            self._truncation.cut(first, second, n_added)
        if self._processor is None:
            encoding = joined(first, second)
        else:
            encoding = self._processor.process(first, second, adds)
        if self._padding is not None:
            self._padding.fill([encoding])
        return encoding

    @property
    def post_processor(self) -> PostProcessor | None:
        """What puts special tokens around texts; one of the library's own may be set, too."""
        return self._processor

    @post_processor.setter
    def post_processor(self, processor: Any) -> None:
        self._processor = given_processor(processor)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds to a text, or to a pair."""
        is_pair = flag("is_pair", is_pair)
        return 0 if self._processor is None else self._processor.num_special_tokens_to_add(is_pair)

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The settings of `enable_truncation`, or None."""
        return None if self._truncation is None else asdict(self._truncation)

    def enable_truncation(self, max_length: int, **options: Any) -> None:
        """Truncate to `max_length` tokens; options: `stride=0`, `strategy="longest_first"` (`"only_first"`,
        `"only_second"`), `direction="right"`. Raise ValueError for a stride that leaves no room."""
        truncation = Truncation.of(max_length, options)
        truncation.check(self.num_special_tokens_to_add(False))
        self._truncation = truncation

    def no_truncation(self) -> None:
        """Do not truncate."""
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """The settings of `enable_padding`, or None."""
        return None if self._padding is None else asdict(self._padding)

    def enable_padding(self, **options: Any) -> None:
        """Pad to a length; options: `length=None` (the longest of a batch), `pad_to_multiple_of=None`,
        `direction="right"`, `pad_id=0`, `pad_type_id=0`, `pad_token="[PAD]"`."""
        self._padding = Padding.of(options)

    def no_padding(self) -> None:
        """Do not pad."""
        self._padding = None
