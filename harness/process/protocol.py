"""The server's side of the lines of a `child`: how it is started, and how it answers.

It keeps the pipes to itself: what a library prints goes to standard error, and its standard input is empty.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable

_BOOT = (
    "import json, sys; from importlib import import_module; "
    "sys.path += [p for p in json.loads(sys.argv[1]) if p not in sys.path]; "
    "import_module(sys.argv[2]).main(sys.argv[3:])"
)


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `main(arguments)` of a module in a fresh interpreter, with our import path.

    Fresh, because a fork would inherit our threads and loaded libraries.
    """
    return [sys.executable, "-P", "-c", _BOOT, json.dumps([path for path in sys.path if path]), module, *arguments]


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
                os._exit(0)  # a fork by the library; only the original process answers
            while left:
                left = left[os.write(replies, left) :]
    sys.stdout.flush()
    os._exit(0)
