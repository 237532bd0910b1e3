"""What a training takes over from the model it goes on from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from impls import InvalidSpec, Model, TrainingSpec
from impls.core.text.patterns import name_of


def spec_like(model: Model, fields: Mapping[str, Any], given: Collection[str]) -> TrainingSpec:
    """Return the specification of these fields, except that the pattern, the alphabet and `end_of_word` are those of
    `model` where they are not `given`.

    Raise `InvalidSpec` where the model's pattern is needed and has no name and several stages.
    """
    kept: dict[str, Any] = {"alphabet": model.alphabet, "end_of_word": model.end_of_word}
    if "pattern" not in given:
        name = name_of(model.pattern)
        if name is None and len(model.pattern) != 1:
            raise InvalidSpec("pattern", f"that of the model has {len(model.pattern)} stages; give one")
        kept["pattern"] = name or model.pattern[0]
    return TrainingSpec(**{**fields, **{name: value for name, value in kept.items() if name not in given}})


def n_listed_merges(model: Model) -> int:
    """Return the number of merges of a model that training can go on from."""
    return len(model.merges if model.merge_rule == "pairs" else model.recovered_merges[0])
