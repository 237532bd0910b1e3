"""Environment variables as arguments, for libraries that read an option from nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable inside the `with` block, and restore it afterwards."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
