"""A target of the protocol, without the suite, that misbehaves on `encode` in the way of its argument."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable


def write(content: bytes) -> None:
    while content:
        content = content[os.write(1, content) :]


def forever(content: bytes) -> None:
    while True:
        write(content)


def result(number: int, answer: object = (1,)) -> bytes:
    return json.dumps({"id": number, "result": answer}).encode() + b"\n"


def stop(*_: object) -> None:
    time.sleep(60)


WAYS: dict[str, Callable[[int], object]] = {
    "flood": lambda number: forever(b"x" * 65536),
    "flood-lines": lambda number: forever(b"{}\n" * 20000),
    "cut": lambda number: (write(result(number)[:-5]), os._exit(0)),
    "no-line-end": lambda number: stop(write(result(number)[:-1])),
    "twice": lambda number: write(result(number) * 2),
    "late": lambda number: write(result(number)) if time.sleep(3) is None else None,
    "closes-stdout": lambda number: stop(os.close(1)),
    "answers-and-exits": lambda number: (write(result(number)), os._exit(0)),
    "does-not-read": stop,
}


def main(how: str) -> None:
    if how == "exits-at-once":
        sys.exit("there is nothing to load")
    if how == "never-starts":
        stop()
    for line in sys.stdin:
        request = json.loads(line)
        number, operation = request["id"], request["op"]
        if operation == "encode":
            WAYS[how](number)
        elif operation == "decode":
            write(result(number, bytes(request["ids"]).decode("utf-8", "replace")))
        else:
            write(json.dumps({"id": number, "error": "unknown operation"}).encode() + b"\n")


main(sys.argv[1])
