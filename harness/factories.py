"""Factories of tokenizers: called with the model, or without an argument."""

from __future__ import annotations

import inspect
from typing import Any


def needs_argument(factory: Any) -> bool:
    """Whether a class or function cannot be called without an argument; it is then given the model."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.default is p.empty and p.kind in by_place for p in parameters)
