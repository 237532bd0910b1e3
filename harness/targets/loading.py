"""Load a target of any form: the object with encode and decode that it names, or a `Tokenizer` around that."""

from __future__ import annotations

import atexit
import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import impls
from harness.failures import describe
from harness.process.session import Session
from harness.targets.operations import SHAPES, described
from harness.targets.spec import NotLoadable, TargetSpec, is_target, split_object
from impls.core.errors import Unsupported
from impls.core.model.model import Model
from impls.plugin import Minimal, wrap


def load_named(name: str, model: Callable[[], Model] | None) -> object:
    """Return the object `name` refers to, created with `model()` if it needs a model.

    `name` is an instance, or a class or function that returns one when called without arguments or with the model. A
    file without `:object` must define one class with encode and decode. Raises `NotLoadable`, and the object's own
    `Unsupported`.
    """
    place, path = split_object(name)
    module = _module(name, place)
    try:
        target = attrgetter(path)(module) if path else _only_tokenizer(name, module)
    except AttributeError:
        raise NotLoadable(f"{name}: {module.__name__} has no {path}") from None
    if not isinstance(target, type) and _is_tokenizer(target):
        return target
    if not callable(target):
        raise NotLoadable(f"{name}: {_lacking(target)}, and is not callable")
    try:
        tokenizer: object = target(model()) if model is not None and _needs_argument(target) else target()
    except (KeyboardInterrupt, Unsupported):
        raise
    except BaseException as error:
        if isinstance(error, TypeError) and error.__traceback__ is not None and error.__traceback__.tb_next is None:
            hint = "name an instance, or a class or function that takes the model or nothing"
            raise NotLoadable(f"{name}: {error}; {hint}") from None
        raise NotLoadable(f"{name}: calling it raised {describe(error)}") from None
    if not _is_tokenizer(tokenizer):
        raise NotLoadable(f"{name}: {_lacking(tokenizer)}")
    return tokenizer


def _is_tokenizer(value: object) -> bool:
    return hasattr(value, "encode") and hasattr(value, "decode")


def _module(name: str, place: str) -> ModuleType:
    """Import the module of that name or file, with its folder (for a name: the current one) on the path."""
    file = Path(place)
    is_file = file.suffix == ".py"
    folder = str(file.resolve().parent) if is_file else os.getcwd()  # noqa: PTH109 - what Python itself adds
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return _of_file(file) if is_file else import_module(place)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{place}.".startswith(f"{missing}."):
            why = f"there is no module {missing} here or on PYTHONPATH"
        else:
            why = f"raised {describe(error)}"
        raise NotLoadable(f"{name}: cannot be imported: {why}") from None


def _of_file(file: Path) -> ModuleType:
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[file.stem] = module  # for pickles, and for its own imports
    spec.loader.exec_module(module)
    return module


def _only_tokenizer(name: str, module: ModuleType) -> Any:
    """Return the one class or instance with encode and decode that the module defines, or the module if it has both."""
    if callable(getattr(module, "encode", None)) and callable(getattr(module, "decode", None)):
        return module
    tokenizers = {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_") and not inspect.ismodule(value) and _is_tokenizer(value)
        if getattr(value if isinstance(value, type) else type(value), "__module__", "") == module.__name__
    }
    if len(tokenizers) == 1:
        return next(iter(tokenizers.values()))
    what = f"{len(tokenizers)} objects ({', '.join(tokenizers)})" if tokenizers else "nothing"
    raise NotLoadable(f"{name}: defines {what} with encode and decode; name one as {name}:OBJECT")


def _lacking(value: object) -> str:
    missing = next(method for method in ("encode", "decode") if not hasattr(value, method))
    needed = "encode(str) -> list[int] and decode(list[int]) -> str are needed"
    return f"{type(value).__name__} has no method {missing}; {needed}"


def _needs_argument(factory: Any) -> bool:
    """Return whether a class or function cannot be called without an argument; it is then given the model."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.default is p.empty and p.kind in by_place for p in parameters)


def load_tokenizer(name: str, model: impls.Model) -> impls.Tokenizer:
    """Load the target `name` over `model`; a command or a file brings its own model.

    Raises `NotLoadable`, and the exceptions of loading an implementation or a model.
    """
    if not is_target(name):
        return impls.load(name, model)
    spec = TargetSpec.parse(name)
    if spec.kind == "file":
        return impls.load(spec.words[0], impls.Model.load(Path(spec.words[1])))
    tokenizer = load_object(name, model)
    is_complete = isinstance(tokenizer, impls.Tokenizer)
    return tokenizer if is_complete else wrap(name, lambda model: tokenizer)(model)  # type: ignore[arg-type, return-value]


def load_object(name: str, model: impls.Model | None) -> object:
    """Load the object with encode and decode that an object's or command's name refers to.

    Raises `NotLoadable`, or `Unsupported`.
    """
    spec = TargetSpec.parse(name)
    if spec.kind == "command":
        return _Command(spec)
    return load_named(spec.words[0], None if model is None else lambda: model)


class _Command(Minimal):
    """A program used through `encode` and `decode`, restarted when it fails and ended with this process."""

    def __init__(self, spec: TargetSpec) -> None:
        self._session = Session(spec.command())
        atexit.register(self._session.close)
        try:
            described(self._session)
        except NotLoadable as error:
            raise NotLoadable(f"{spec.name}: {error}") from None

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._session.ask("encode", shape=SHAPES["encode"], text=text).result()
        return ids

    def decode(self, ids: list[int]) -> str:
        text: str = self._session.ask("decode", shape=SHAPES["decode"], ids=list(ids)).result()
        return text
