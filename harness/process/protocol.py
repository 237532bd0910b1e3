"""Typed messages over the lines of a `child`: one JSON object a line, a request and then its reply.

The server's side keeps the pipes to itself: what a library prints goes to standard error, and it has no input.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

_BOOT = (
    "import json, sys; from importlib import import_module; "
    "sys.path += [p for p in json.loads(sys.argv[1]) if p not in sys.path]; "
    "import_module(sys.argv[2]).main(sys.argv[3:])"
)


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `main(arguments)` of a module in a fresh interpreter, with our import path.

    Fresh: a fork would carry our threads and loaded libraries into the verdict.
    """
    return [sys.executable, "-P", "-c", _BOOT, json.dumps([path for path in sys.path if path]), module, *arguments]


Request = TypeVar("Request")
Reply = TypeVar("Reply")
_encoder = msgspec.json.Encoder()


class Protocol(Generic[Request, Reply]):
    """The messages between a parent and the server it starts, each a msgspec type or a tagged union of them."""

    def __init__(self, requests: Any, replies: Any) -> None:
        self._requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(requests)
        self._replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(replies)

    def request_line(self, request: Request) -> bytes:
        """Return the line that asks `request`."""
        return _encoder.encode(request) + b"\n"

    def reply(self, line: bytes) -> Reply:
        """Return the reply in a line."""
        return self._replies.decode(line)

    def serve(self, answer: Callable[[Request], Reply], failure: Callable[[BaseException], Reply]) -> None:
        """Answer requests until the input ends; an error of `answer`, `BaseException` included, becomes a reply."""

        def reply(line: bytes) -> bytes:
            try:
                found = answer(self._requests.decode(line))
            except BaseException as error:  # a Rust panic is not an Exception
                found = failure(error)
            return _encoder.encode(found)

        serve_lines(reply)


def serve_lines(reply: Callable[[bytes], bytes]) -> None:
    """Write `reply(line)` and an end of line for each line of standard input, then end this process."""
    replies = os.dup(1)
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    server = os.getpid()
    with contextlib.suppress(BrokenPipeError):
        for line in requests:
            left = memoryview(reply(line) + b"\n")
            if os.getpid() != server:
                os._exit(0)  # a fork of the library: only the original process answers
            while left:
                left = left[os.write(replies, left) :]
    sys.stdout.flush()
    os._exit(0)
