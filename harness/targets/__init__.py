"""Targets: the names by which a user selects a tokenizer to check, compare or explain, with one grammar and loader.

A target is a command over the line protocol, `module:object`, a Python file, a model file run by its library, or an
implementation.
"""

from harness.targets.loading import load_object, load_tokenizer
from harness.targets.spec import DEFAULT_MODEL, FORMS, PUBLISHED, NotLoadable, TargetSpec, is_target

__all__ = [
    "DEFAULT_MODEL", "FORMS", "PUBLISHED", "NotLoadable", "TargetSpec", "is_target", "load_object", "load_tokenizer",
]  # fmt: skip
