"""Calls that are refused, a line each: tests of wrong arguments are lists of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refused(error: Any, match: str | None, call: Callable[..., Any], *arguments: Any, **more: Any) -> None:
    """Assert that a call raises an error, or one of several, and that its text matches if one is given."""
    with pytest.raises(error, match=match):
        call(*arguments, **more)
