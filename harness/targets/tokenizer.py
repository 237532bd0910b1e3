"""A target of any form as a `Tokenizer`, for the verbs that compare tokenizers with each other."""

from __future__ import annotations

import atexit
from pathlib import Path

import impls
from harness.targets.objects import load_named
from harness.targets.spec import NotLoadable, TargetSpec, is_target
from impls.plugin import Minimal, wrap


def load_tokenizer(name: str, model: impls.Model) -> impls.Tokenizer:
    """Load the target `name` over `model`; a command or a file brings its own model.

    Raises `NotLoadable`, and what loading an implementation or a model raises.
    """
    if not is_target(name):
        return impls.load(name, model)
    spec = TargetSpec.parse(name)
    if spec.kind == "file":
        return impls.load(spec.words[0], impls.Model.load(Path(spec.words[1])))
    found = load_object(name, model)
    if isinstance(found, impls.Tokenizer):
        return found
    return wrap(name, lambda model: found)(model)  # type: ignore[arg-type, return-value]


def load_object(name: str, model: impls.Model | None) -> object:
    """Load the object with encode and decode behind an object's or command's name.

    Raises `NotLoadable`, or `Unsupported`.
    """
    spec = TargetSpec.parse(name)
    if spec.kind == "command":
        return _Command(spec)
    return load_named(spec.words[0], None if model is None else lambda: model)


class _Command(Minimal):
    """A program behind `encode` and `decode`, restarted when it fails, ended with this process."""

    def __init__(self, spec: TargetSpec) -> None:
        from harness.conform.target import Target, TargetFailed

        self._failed = TargetFailed
        try:
            self._target = Target(spec)
        except TargetFailed as error:
            raise NotLoadable(f"{spec.name}: it does not start: {error.reason}") from None
        atexit.register(self._target.close)

    def encode(self, text: str) -> list[int]:
        try:
            return self._target.encode(text)
        except self._failed:
            self._target.restart()
            raise

    def decode(self, ids: list[int]) -> str:
        try:
            return self._target.decode(ids)
        except self._failed:
            self._target.restart()
            raise
