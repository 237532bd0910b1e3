"""The error of this package: data that is missing, damaged or unavailable."""

from __future__ import annotations

from impls.core.errors import BPEError


class DataError(BPEError):
    """A corpus, a vocabulary or a user's file cannot be used; the one-line message says which, why, and what to do."""
