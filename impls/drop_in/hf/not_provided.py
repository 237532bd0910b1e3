"""What the library provides and `bpebench.hf` does not: each name raises `NotProvided`, saying what to do instead."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Never

from impls.core.errors import BPEError

_LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
NOT_PROVIDED = {of: {name: instead for instead, names in by.items() for name in names} for of, by in _LISTED.items()}
"""Class -> name -> what to do instead."""


class NotProvided(BPEError, AttributeError):
    """A name of the library that `bpebench.hf` does not provide."""

    def __init__(self, name: str, instead: str) -> None:
        self.name, self.instead = name, instead
        super().__init__(f"bpebench.hf: {name} is not provided; {instead}")


def refuse(of: str, name: str) -> Never:
    """Raise `NotProvided` if the class `of` has `name` in the library but not here, else AttributeError."""
    if instead := NOT_PROVIDED[of].get(name):
        raise NotProvided(name if of == "module" else f"{of}.{name}", instead)
    raise AttributeError(f"bpebench.hf: the {of} has no attribute {name!r}")


def no_items(part: object, index: object) -> Never:
    """Raise `NotProvided`: the method `__getitem__` of a part, whose steps are items in the library."""
    name = f"{type(part).__name__}[{index!r}]"
    raise NotProvided(name, "set the part to another one; tokenizer.to_str() shows its steps")
