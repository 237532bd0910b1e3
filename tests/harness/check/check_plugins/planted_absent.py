"""A plug-in whose package is not installed."""

from planted_absent_package import Anything  # type: ignore[import-not-found]

__all__ = ["Anything"]
