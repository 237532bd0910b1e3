"""Splitting engines with a fault planted: one of a later Unicode, one with another letter, one that drops."""

from __future__ import annotations

from impls import Model
from impls.priority import Priority

NEW_LETTERS, NEW_NUMBERS = "\u0c5c\ua7ce", "\U00011de0-\U00011de9"


def _changed(model: Model, letters: str = "", numbers: str = "") -> Model:
    """cl100k's pattern with more letters and numbers."""
    both = letters + numbers
    pattern = (
        rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}{both}]?[\p{{L}}{letters}]+|[\p{{N}}{numbers}]{{1,3}}"
        rf"| ?[^\s\p{{L}}\p{{N}}{both}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    return model.with_(pattern=(pattern,))


class Newer(Priority):
    """Knows letters and numbers that Unicode 16 does not have."""

    name = "newer"

    def __init__(self, model: Model) -> None:
        super().__init__(_changed(model, NEW_LETTERS, NEW_NUMBERS))


class Snowman(Priority):
    """Takes an old symbol for a letter."""

    name = "snowman"

    def __init__(self, model: Model) -> None:
        super().__init__(_changed(model, letters="\u2604"))


class Dropping(Priority):
    """Loses one character."""

    name = "dropping"

    def encode_ordinary(self, text: str) -> list[int]:
        return super().encode_ordinary(text.replace("\u00e9", ""))


class Misspelling(Priority):
    """Cuts where it must, and gives other tokens of the same lengths for one character."""

    name = "misspelling"

    def encode_ordinary(self, text: str) -> list[int]:
        return super().encode_ordinary(text.replace("\u00e9", "\u00e8"))
