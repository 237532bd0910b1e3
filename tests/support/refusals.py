"""Calls that are refused, a line each: tests of wrong arguments are lists of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refused(error: Any, match: str | None, call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """Return the error, or one of several, that a call must raise; its text must match if one is given."""
    with pytest.raises(error, match=match) as raised:
        call(*arguments, **more)
    return raised.value
