"""The server: a process that turns a Python object, or one of our implementations, into a target of the protocol.

`python -m harness.conform.serve object MODULE:OBJECT MODEL`, `... entry-point NAME MODEL` or `... file LIBRARY FILE`.
Requests and answers use file descriptors of their own: what the object prints goes to standard error, and its standard
input is empty.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import impls
from harness.conform.adapter import NotATokenizer, ObjectAdapter, failure
from harness.data import load_model
from harness.process.protocol import serve_lines
from harness.targets.loading import load_named
from harness.targets.spec import NotLoadable


def load(kind: str, name: str, model: str) -> ObjectAdapter:
    """Load the target of a `TargetSpec`; a model is given by its name or, for the kind `file`, by its path.

    Raises whatever loading raises.
    """
    if kind == "object":
        return ObjectAdapter(load_named(name, lambda: load_model(model)))
    tokenizer = impls.load(name, load_model(Path(model) if kind == "file" else model))
    return ObjectAdapter(tokenizer, tokenizer.model)


def _load_error(error: BaseException) -> dict[str, str]:
    """Return the error that says why the target could not be loaded."""
    if isinstance(error, NotLoadable | NotATokenizer):
        reason = str(error)
    else:
        found = failure(error)
        reason = f"raised {found['error']} while it was loaded: {found['message']}"
    return {"error": "NotLoadable", "message": reason}


def _foreign(value: object) -> dict[str, str]:
    """Encode a value that JSON cannot hold as an object, which is never a valid result."""
    return {"python type": type(value).__name__}


def main(arguments: list[str]) -> None:
    """Load the target on the first request, then answer requests until the input ends."""

    @cache
    def loaded() -> ObjectAdapter | dict[str, str]:
        try:
            return load(*arguments)
        except BaseException as error:
            return _load_error(error)

    def answer(line: bytes) -> bytes:
        request = json.loads(line)
        number, operation = request.pop("id"), request.pop("op")
        adapter = loaded()
        found: dict[str, Any]
        try:
            found = {"result": adapter.answer(operation, request)} if isinstance(adapter, ObjectAdapter) else adapter
        except BaseException as error:
            found = {**failure(error)}
        return json.dumps({"id": number, **found}, default=_foreign).encode()

    faulthandler.enable()
    serve_lines(answer)


if __name__ == "__main__":
    main(sys.argv[1:])
