"""Truncation: a field of tokenizer.json, and settings that are a Python dictionary."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from impls.core.arguments import unsigned
from impls.core.errors import BPEError
from impls.drop_in.hf.arguments import DIRECTIONS, Count, Direction, one_of, written
from impls.drop_in.hf.encoding import Encoding

_STRATEGIES = ("longest_first", "only_first", "only_second")


class TruncationError(BPEError):
    """A text cannot be truncated as the settings require."""


class Truncation(msgspec.Struct, frozen=True, kw_only=True):
    """The `truncation` of tokenizer.json; `strategy` says which text of a pair is truncated."""

    direction: Direction = "Right"
    max_length: Count
    strategy: Literal["LongestFirst", "OnlyFirst", "OnlySecond"]
    stride: Count

    @staticmethod
    def of(max_length: Any, stride: Any, strategy: Any, direction: Any, n_added: int) -> Truncation:
        """Return the settings of `enable_truncation`; raise TypeError or OverflowError, and ValueError, for a stride
        too, that leaves no room beside `n_added` tokens of a post-processor."""
        truncation = Truncation(
            max_length=unsigned("max_length", max_length),
            stride=unsigned("stride", stride),
            strategy=written(one_of("strategy", strategy, _STRATEGIES)),
            direction=written(one_of("direction", direction, DIRECTIONS)),
        )
        if n_added <= truncation.max_length < truncation.stride + n_added:
            room = f"max_length, {truncation.max_length}, of which the post-processor takes {n_added}"
            raise ValueError(f"stride must be smaller than {room}; not {truncation.stride}")
        return truncation

    @property
    def options(self) -> dict[str, Any]:
        """Return the settings with the names that they have in `enable_truncation`."""
        (strategy,) = (name for name in _STRATEGIES if written(name) == self.strategy)
        return msgspec.structs.asdict(self) | {"strategy": strategy, "direction": self.direction.lower()}

    def cut(self, first: Encoding, second: Encoding | None, n_added: int) -> None:
        """Truncate one encoding or a pair to `max_length` minus `n_added`; raise `TruncationError`."""
        limit = self.max_length - n_added
        if limit < 0:  # like the library, treat a negative limit as none
            return
        lengths = [len(first), 0 if second is None else len(second)]
        excess = sum(lengths) - limit
        if limit == 0:
            lengths = [0, 0]
        elif excess <= 0:
            return
        elif self.strategy == "LongestFirst":
            # All of the shorter text is kept if that leaves as many tokens for the other.
            shorter = min(*lengths, limit // 2)
            lengths = [shorter, limit - shorter] if lengths[0] <= lengths[1] else [limit - shorter, shorter]
        else:
            cut = int(self.strategy == "OnlySecond")
            name = _STRATEGIES[1 + cut]
            if cut and second is None:
                raise TruncationError(f"{name}: there is no second text to truncate; give a pair")
            if lengths[cut] <= excess:
                raise TruncationError(f"{name}: {excess} tokens are too many for that text alone; cut both")
            lengths[cut] -= excess
        for encoding, length in zip((first, second), lengths, strict=True):
            if encoding is not None:
                encoding.truncate(length, self.stride, self.direction.lower())
