"""The implementations that run a model, so that a test may ask them all in turn."""

from __future__ import annotations

from collections.abc import Iterator

import impls
from impls import Model, Tokenizer


def exact_over(model: Model, *, least: int = 3) -> Iterator[Tokenizer]:
    """Yield each exact implementation over `model`, but for those that cannot run it; at least `least` can."""
    n = 0
    for name in impls.default_names():
        if impls.get(name).exact:
            try:
                tokenizer = impls.load(name, model)
            except impls.Unsupported:
                continue
            n += 1
            yield tokenizer
    assert n >= least, n
