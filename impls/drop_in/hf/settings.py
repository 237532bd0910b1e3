"""Truncation and padding: settings that are Python dictionaries, and fields of tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from impls.core.arguments import unsigned
from impls.core.errors import BPEError, InvalidModel
from impls.drop_in.hf.arguments import ignore, one_of
from impls.drop_in.hf.encoding import DIRECTIONS, Encoding, padding_options

STRATEGIES = ("longest_first", "only_first", "only_second")


class TruncationError(BPEError):
    """A text cannot be truncated as the settings require."""


@dataclass(frozen=True)
class Truncation:
    """The settings of truncation; `strategy` says which text of a pair is truncated."""

    max_length: int
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    @staticmethod
    def of(max_length: Any, options: dict[str, Any]) -> Truncation:
        """Return the settings of `enable_truncation`; raise TypeError, OverflowError or ValueError."""
        ignore(options.keys() - {"stride", "strategy", "direction"})
        return Truncation(
            unsigned("max_length", max_length),
            unsigned("stride", options.get("stride", 0)),
            one_of("strategy", options.get("strategy", "longest_first"), STRATEGIES),
            one_of("direction", options.get("direction", "right"), DIRECTIONS),
        )

    @property
    def document(self) -> dict[str, Any]:
        """Return the settings as in tokenizer.json."""
        return {
            "direction": self.direction.capitalize(),
            "max_length": self.max_length,
            "strategy": _camel(self.strategy),
            "stride": self.stride,
        }

    def check(self, n_added: int) -> None:
        """Raise ValueError for a stride that leaves no room beside `n_added` tokens of a post-processor."""
        if n_added <= self.max_length < self.stride + n_added:
            room = f"max_length, {self.max_length}, of which the post-processor takes {n_added}"
            raise ValueError(f"stride must be smaller than {room}; not {self.stride}")

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
        elif self.strategy == "longest_first":
            lengths = [limit, 0] if second is None else _longest_first(lengths[0], lengths[1], limit)
        else:
            cut = STRATEGIES.index(self.strategy) - 1
            if cut and second is None:
                raise TruncationError("only_second: there is no second text to truncate; give a pair")
            if lengths[cut] <= excess:
                raise TruncationError(f"{self.strategy}: {excess} tokens are too many for that text alone; cut both")
            lengths[cut] -= excess
        for encoding, length in zip((first, second), lengths, strict=True):
            if encoding is not None:
                encoding.truncate(length, self.stride, self.direction)


def _longest_first(n_first: int, n_second: int, limit: int) -> list[int]:
    """Return how many tokens of each text are kept: all of the shorter one if that leaves as many for the other."""
    shorter = min(n_first, n_second)
    longer = max(shorter, limit - shorter)
    if shorter + longer > limit:
        shorter, longer = limit // 2, limit - limit // 2
    return [longer, shorter] if n_first > n_second else [shorter, longer]


@dataclass(frozen=True)
class Padding:
    """The settings of padding; without a `length`, pad to the longest of a batch."""

    length: int | None = None
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_token: str = "[PAD]"
    pad_type_id: int = 0
    direction: str = "right"

    @staticmethod
    def of(options: dict[str, Any]) -> Padding:
        """Return the settings of `enable_padding`; raise TypeError, OverflowError or ValueError."""
        if "max_length" in options:  # the former name of `length`
            options = {"length": options.pop("max_length")} | options
        length, multiple = options.pop("length", None), options.pop("pad_to_multiple_of", None)
        return Padding(
            None if length is None else unsigned("length", length),
            None if multiple is None else unsigned("pad_to_multiple_of", multiple),
            **padding_options(options),
        )

    @property
    def document(self) -> dict[str, Any]:
        """Return the settings as in tokenizer.json."""
        strategy = "BatchLongest" if self.length is None else {"Fixed": self.length}
        written = {"strategy": strategy, "direction": self.direction.capitalize()}
        return written | {name: value for name, value in asdict(self).items() if name not in ("length", "direction")}

    def fill(self, encodings: Sequence[Encoding]) -> None:
        """Pad all encodings to the same length."""
        length = max(map(len, encodings), default=0) if self.length is None else self.length
        if self.pad_to_multiple_of:
            length += -length % self.pad_to_multiple_of
        for encoding in encodings:
            encoding.fill(length, self.direction, self.pad_id, self.pad_type_id, self.pad_token)


# --- tokenizer.json ----------------------------------------------------------------------------------------------


def read_lengths(document: dict[str, Any]) -> tuple[Truncation | None, Padding | None]:
    """Return `truncation` and `padding` of a tokenizer.json; raise `InvalidModel` saying what is invalid."""
    field = "truncation"
    try:
        truncation = None if (given := document.get(field)) is None else _truncation(given)
        field = "padding"
        return truncation, None if (given := document.get(field)) is None else _padding(given)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        problem = f"{error} is missing or not known" if isinstance(error, KeyError) else error
        raise InvalidModel(f"{field}: {problem}") from None


def _truncation(given: dict[str, Any]) -> Truncation:
    strategy = {_camel(name): name for name in STRATEGIES}[given["strategy"]]
    options = {"stride": given["stride"], "strategy": strategy, "direction": given.get("direction", "Right").lower()}
    return Truncation.of(given["max_length"], options)


def _padding(given: dict[str, Any]) -> Padding:
    options = {name: value for name, value in given.items() if name != "strategy"}
    length = None if given["strategy"] == "BatchLongest" else given["strategy"]["Fixed"]
    return Padding.of(options | {"length": length, "direction": given["direction"].lower()})


def _camel(name: str) -> str:
    return "".join(map(str.capitalize, name.split("_")))
