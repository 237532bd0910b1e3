"""What to report of a field of a model that a file format has no place for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impls.core.model import Model


def _count(tokens: Mapping[str, int]) -> str:
    return f"{len(tokens)}, the first is {next(iter(tokens))!r}"


_DESCRIBED: dict[str, Callable[[Any], str]] = {
    "special_tokens": _count,
    "added_tokens": _count,
    "normalization": str,
    "unknown": str,
    "id_offset": lambda offset: f"{offset} (the ids themselves are kept)",
    "ignore_merges": lambda _: "a whole piece in the vocabulary is merged like any other",
}


def lost_fields(model: Model, *names: str) -> list[str]:
    """Return a line for each of the fields `names` that `model` makes use of, in this order."""
    lost: list[str] = []
    for name in names:
        value = getattr(model, name)
        if name == "merge_counts":
            lost += [] if value is None else [name]
        elif value:
            lost.append(f"{name}: {_DESCRIBED[name](value)}")
    return lost


def added_as_special(model: Model) -> list[str]:
    """Return a line for the added tokens of `model`, for a format that has only special tokens."""
    if not model.added_tokens:
        return []
    return [f"added_tokens: {len(model.added_tokens)} become special tokens, recognised only when allowed"]
