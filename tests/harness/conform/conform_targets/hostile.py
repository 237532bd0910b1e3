"""Python objects that fail in every way there is: each misbehaves in its own way before it answers."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar

from well_behaved import Right


def hostile(misbehave: Callable[[Any], object]) -> type[Right]:
    def encode(self: Right, text: str) -> list[int]:
        misbehave(self)
        return Right.encode(self, text)

    return type("Hostile", (Right,), {"encode": encode})


def chatter(self: Right) -> None:
    print('{"id": 1, "result": [7]}', flush=True)
    os.system("echo from a shell")
    sys.stdin.read()
    for _ in range(80):
        os.write(2, b"nothing to see here " * 5000 + b"\n")


def hang(self: Right) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def daemon(*_: object) -> None:
    """Leave a process behind that has left the session, the group and its parent."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.alarm(30)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            while True:
                time.sleep(60)
        os._exit(0)


def hop(self: Right) -> None:
    """Leave a daemon that is never the same process for long."""
    if os.fork() == 0:
        os.setsid()
        signal.alarm(30)
        ends = time.monotonic() + 30
        while time.monotonic() < ends:
            if os.fork():
                os._exit(0)
    time.sleep(60)


def eat(self: Right) -> None:
    kept = []
    while True:
        kept.append(bytearray(b"x" * 5_000_000))


def kill_the_parent(self: Right) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def raise_with_a_path(self: Right) -> None:
    raise ValueError("cannot open /some/secret/folder/file.bin")


Chatty, Hanging, Hopping, Hungry = map(hostile, (chatter, hang, hop, eat))
DaemonisingQuietly, ParentKiller, Raising = map(hostile, (daemon, kill_the_parent, raise_with_a_path))
DaemonisingAndDying = hostile(lambda self: os._exit(5) if daemon() is None else None)
BothReturn = hostile(lambda self: os.fork())
Segfault = hostile(lambda self: ctypes.string_at(0))


class WrongTypes(Right):
    """Its ids are what the text names."""

    ids: ClassVar[dict[str, Any]] = {"none": None, "float": [1.0], "text": "1"}

    def encode(self, text: str) -> Any:
        return self.ids[text]

    def decode(self, ids: list[int]) -> Any:
        return object()


class NotATokenizer:
    pass


class NeedsArguments(Right):
    def __init__(self, one: str, other: str) -> None:
        pass


class Unloadable(Right):
    def __init__(self) -> None:
        raise RuntimeError("no such device")
