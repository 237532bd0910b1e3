"""What the tests of the implementations share: small models written down by hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from impls import Model

HandMade = Callable[..., Model]


@pytest.fixture(scope="session")
def fuzz() -> int:
    """How many times as much a test at random tries: BPEBENCH_FUZZ, 1 by default."""
    return int(os.environ.get("BPEBENCH_FUZZ", "1"))


@pytest.fixture(scope="session")
def hand_made() -> HandMade:
    """A function from merges such as "a+b ab+a" to a model; `extra` adds tokens that no merge makes.

    Tokens: the letters in order (or the 256 bytes), then what the merges make, then the extra ones.
    """

    def build(merges: str, extra: str = "", alphabet: str = "chars", **fields: Any) -> Model:
        pairs = [tuple(part.encode() for part in merge.split("+")) for merge in merges.split()]
        if alphabet == "chars":
            tokens = sorted({letter.encode() for letter in f"{merges}{extra}" if letter not in "+ "})
        else:
            tokens = [bytes([byte]) for byte in range(256)]
        for token in [left + right for left, right in pairs] + [token.encode() for token in extra.split()]:
            if token not in tokens:
                tokens.append(token)
        ids = {token: i for i, token in enumerate(tokens)}
        listed = (
            () if fields.get("merge_rule") == "concatenation" else [(ids[left], ids[right]) for left, right in pairs]
        )
        return Model(tokens=tuple(tokens), merges=tuple(listed), alphabet=alphabet, **fields)

    return build
