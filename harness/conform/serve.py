"""The server: the process that turns a Python object, or one of our implementations, into a target of the protocol.

`python -m harness.conform.serve object MODULE:OBJECT MODEL`, `... entry-point NAME MODEL` or `... file LIBRARY FILE`.
Requests and answers have descriptors of their own: what the object prints goes to standard error, and it has no input.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys

from harness.conform.adapter import NotATokenizer, ObjectAdapter, failure
from harness.targets.objects import load_named
from harness.targets.spec import NotLoadable


def load(kind: str, words: list[str]) -> ObjectAdapter:
    """Load what a `TargetSpec` names. Raises whatever loading raises."""
    if kind == "object":
        name, model = words
        from harness.data import load_model

        return ObjectAdapter(load_named(name, lambda: load_model(model)))
    from harness.conform.serve_implementation import implementation_adapter

    return implementation_adapter(kind, *words)


def _load_error(error: BaseException) -> dict[str, str]:
    """Return the error that says why the target could not be loaded."""
    if isinstance(error, NotLoadable | NotATokenizer):
        reason = str(error)
    else:
        found = failure(error)
        reason = f"raised {found['error']} while it was loaded: {found['message']}"
    return {"error": "NotLoadable", "message": reason}


def serve(kind: str, words: list[str], requests: int, answers: int) -> None:
    """Load the target and answer requests until there are no more."""
    adapter: ObjectAdapter | None = None
    problem: dict[str, str] = {}
    try:
        adapter = load(kind, words)
    except BaseException as error:
        problem = _load_error(error)
    me = os.getpid()
    for line in os.fdopen(requests, "rb"):
        arguments = json.loads(line)
        number, operation = arguments.pop("id"), arguments.pop("op")
        try:
            answer = problem if adapter is None else {"result": adapter.answer(operation, arguments)}
        except BaseException as error:
            answer = dict(failure(error))
        if os.getpid() != me:
            os._exit(0)  # a fork of the target: only the original process answers
        content = json.dumps({"id": number, **answer}, default=_foreign).encode() + b"\n"
        left = memoryview(content)
        while left:
            left = left[os.write(answers, left) :]


def _foreign(value: object) -> dict[str, str]:
    """Encode what JSON cannot hold as an object, which is never a valid result."""
    return {"python type": type(value).__name__}


def main(arguments: list[str]) -> None:
    """Reserve the protocol's descriptors for ourselves, then serve."""
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
