"""A plug-in whose package is not installed."""

from toys_that_are_not_there import Nothing  # type: ignore[import-not-found]

__all__ = ["Nothing"]
