"""The server: a process that turns a Python object, or one of our implementations, into a target of the protocol.

`python -m harness.conform.serve object MODULE:OBJECT MODEL`, `... entry-point NAME MODEL` or `... file LIBRARY FILE`.
Requests and answers use file descriptors of their own: what the object prints goes to standard error, and its standard
input is empty.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from functools import cache, partial
from pathlib import Path

import impls
from harness.conform.adapter import ObjectAdapter, failure
from harness.data import load_model
from harness.process.protocol import serve_lines
from harness.targets.loading import load_named
from harness.targets.spec import NotLoadable


def load(kind: str, name: str, model: str) -> ObjectAdapter:
    """Load the target of a `TargetSpec`; a model is given by its name or, for the kind `file`, by its path.

    Raises whatever loading raises.
    """
    if kind == "object":
        return ObjectAdapter(partial(load_named, name, lambda: load_model(model)))
    known = load_model(Path(model) if kind == "file" else model)
    return ObjectAdapter(partial(impls.load, name, known), known)


def main(arguments: list[str]) -> None:
    """Load the target on the first request, then answer requests until the input ends."""

    @cache
    def loaded() -> ObjectAdapter:
        try:
            return load(*arguments)
        except NotLoadable:
            raise
        except BaseException as error:
            failed = failure(error)
            raise NotLoadable(f"raised {failed['error']} while it was loaded: {failed['message']}") from None

    def answer(line: bytes) -> bytes:
        request = json.loads(line)
        number, operation = request.pop("id"), request.pop("op")
        try:
            answered = {"result": loaded().answer(operation, request)}
        except BaseException as error:
            answered = failure(error)
        # What JSON cannot hold becomes an object, which is never a valid result.
        return json.dumps({"id": number, **answered}, default=lambda value: {"python type": str(type(value))}).encode()

    faulthandler.enable()
    serve_lines(answer)


if __name__ == "__main__":
    main(sys.argv[1:])
