"""The kernels of `impls.compiled` for those who read files, and must not know that room."""

from __future__ import annotations

from typing import Any

native: Any = None
"""`impls.compiled.codegen.native.native`, once that is imported."""
