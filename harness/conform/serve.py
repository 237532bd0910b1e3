"""The server: the process that turns a Python object, or one of our implementations, into a target of the protocol.

`python -m harness.conform.serve object MODULE:OBJECT MODEL`, `... entry-point NAME MODEL` or `... file LIBRARY FILE`.
Requests and answers have descriptors of their own: what the object prints goes to standard error, and it has no input.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.conform.served import NoTokenizer, Served, failure
from harness.factories import needs_argument


class _Unloadable(Exception):
    """What is to be served cannot be had."""


def load(kind: str, words: list[str]) -> Served:
    """What `TargetSpec` names; raises whatever loading it raises."""
    if kind == "object":
        return Served(_resolved(*words))
    from harness.conform.serve_implementation import served_implementation

    return served_implementation(kind, *words)


def _resolved(name: str, model: str) -> Any:
    """The instance `module:object` stands for: the object itself, or what it makes, of the model where it needs one."""
    module_name, _, path = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            raise
        raise _Unloadable(f"there is no module {error.name} here or on PYTHONPATH") from None
    for part in path.split("."):
        if not hasattr(found, part):
            raise _Unloadable(f"{module_name} has no {path}")
        found = getattr(found, part)
    is_made = not isinstance(found, type) and callable(getattr(found, "encode", None))
    if is_made or not callable(found):
        return found
    if needs_argument(found):
        from harness.data import load_model

        arguments = [load_model(model)]
    else:
        arguments = []
    try:
        return found(*arguments)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # the call itself was refused
            raise _Unloadable(
                f"{error}; name an instance, or a class or function that takes the model or nothing"
            ) from None
        raise


def _said(error: BaseException) -> dict[str, str]:
    """Why the target could not be loaded."""
    if isinstance(error, _Unloadable | NoTokenizer):
        reason = str(error)
    else:
        found = failure(error)
        reason = f"raised {found['error']} while it was loaded: {found['message']}"
    return {"error": "NotLoadable", "message": reason}


def serve(kind: str, words: list[str], requests: int, answers: int) -> None:
    """Load the target and answer requests until there are no more."""
    served: Served | None = None
    problem: dict[str, str] = {}
    try:
        served = load(kind, words)
    except BaseException as error:
        problem = _said(error)
    me = os.getpid()
    for line in os.fdopen(requests, "rb"):
        arguments = json.loads(line)
        number, operation = arguments.pop("id"), arguments.pop("op")
        try:
            answer = problem if served is None else {"result": served.answer(operation, arguments)}
        except BaseException as error:
            answer = dict(failure(error))
        if os.getpid() != me:
            os._exit(0)  # a fork of the target: only the process we started speaks
        content = json.dumps({"id": number, **answer}, default=_foreign).encode() + b"\n"
        left = memoryview(content)
        while left:
            left = left[os.write(answers, left) :]


def _foreign(value: object) -> dict[str, str]:
    """What JSON cannot hold, in a shape no result has."""
    return {"python type": type(value).__name__}


def main(arguments: list[str]) -> None:
    """Keep the protocol's descriptors to ourselves, then serve."""
    answers = os.dup(1)
    os.dup2(2, 1)
    requests = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    faulthandler.enable()
    serve(arguments[0], arguments[1:], requests, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
