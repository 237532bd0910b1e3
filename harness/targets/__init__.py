"""What a user names as a tokenizer to judge, compare or explain: one grammar and one loader for every verb.

A command over the line protocol, `module:object`, a Python file, a model file run by
its library, an implementation.
"""

from harness.targets.spec import DEFAULT_MODEL, FORMS, NotLoadable, TargetSpec, is_target
from harness.targets.tokenizer import load_object, load_tokenizer

__all__ = ["DEFAULT_MODEL", "FORMS", "NotLoadable", "TargetSpec", "is_target", "load_object", "load_tokenizer"]
