"""The server: the process that turns a Python object, or one of our implementations, into a target of the protocol.

`python -m harness.conform.serve object MODULE:OBJECT MODEL`, `... entry-point NAME MODEL` or `... file LIBRARY FILE`.
Requests and answers have descriptors of their own: what the object prints goes to standard error, and it has no input.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys

from harness.conform.served import NoTokenizer, Served, failure
from harness.targets.objects import load_named
from harness.targets.spec import NotLoadable


def load(kind: str, words: list[str]) -> Served:
    """What `TargetSpec` names; raises whatever loading it raises."""
    if kind == "object":
        name, model = words
        from harness.data import load_model

        return Served(load_named(name, lambda: load_model(model)))
    from harness.conform.serve_implementation import served_implementation

    return served_implementation(kind, *words)


def _said(error: BaseException) -> dict[str, str]:
    """Why the target could not be loaded."""
    if isinstance(error, NotLoadable | NoTokenizer):
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
