"""Python objects that fail in every way there is."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from typing import ClassVar


class Right:
    """Every byte is a token."""

    def encode(self, text: str) -> list[int]:
        self.misbehave()
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")

    def misbehave(self) -> None:
        """What it does before it answers."""


class Chatty(Right):
    def misbehave(self) -> None:
        print('{"id": 1, "result": [7]}', flush=True)
        os.system("echo from a shell")
        sys.stdin.read()


class Hanging(Right):
    def misbehave(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)


class Stopping(Right):
    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class Shouting(Right):
    def misbehave(self) -> None:
        for _ in range(80):
            os.write(2, b"nothing to see here " * 5000 + b"\n")


class ShoutingForEver(Right):
    def misbehave(self) -> None:
        while True:
            os.write(2, b"nothing to see here " * 5000)


def daemon() -> None:
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


class Daemonising(Right):
    def misbehave(self) -> None:
        daemon()
        time.sleep(60)


class DaemonisingAndDying(Right):
    def misbehave(self) -> None:
        daemon()
        os._exit(5)


class DaemonisingQuietly(Right):
    def misbehave(self) -> None:
        daemon()


class Hopping(Right):
    """Its daemon is never the same process for long."""

    def misbehave(self) -> None:
        if os.fork() == 0:
            os.setsid()
            signal.alarm(30)
            ends = time.monotonic() + 30
            while time.monotonic() < ends:
                if os.fork():
                    os._exit(0)
        time.sleep(60)


class BothReturn(Right):
    def misbehave(self) -> None:
        os.fork()


class Hungry(Right):
    def misbehave(self) -> None:
        kept = []
        while True:
            kept.append(bytearray(b"x" * 5_000_000))


class HungryAtOnce(Right):
    def misbehave(self) -> None:
        b"x" * (1 << 40)


class Exiting(Right):
    def misbehave(self) -> None:
        sys.exit("no more")


class ExitingAtOnce(Right):
    def misbehave(self) -> None:
        os._exit(0)


class Segfault(Right):
    def misbehave(self) -> None:
        ctypes.string_at(0)


class PanicException(BaseException):
    """What a Rust panic looks like from Python."""


class Panicking(Right):
    def misbehave(self) -> None:
        raise PanicException("index out of bounds")


class Raising(Right):
    def misbehave(self) -> None:
        raise ValueError("cannot open /some/secret/folder/file.bin")


class Unspeakable(Right):
    def misbehave(self) -> None:
        class Bad(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        raise Bad


class ParentKiller(Right):
    def misbehave(self) -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


class ClosesAll(Right):
    def misbehave(self) -> None:
        os.closerange(0, 100)


class WrongTypes(Right):
    """Answers of the wrong type, by text."""

    answers: ClassVar[dict[str, object]] = {
        "none": None,
        "words": ["a"],
        "float": [1.0],
        "nan": [float("nan")],
        "text": "abc",
        "object": [object()],
    }

    def encode(self, text: str) -> list[int]:
        return self.answers[text]  # type: ignore[return-value]

    def decode(self, ids: list[int]) -> str:
        return b"bytes"  # type: ignore[return-value]


def factory() -> Right:
    return Right()


instance = Right()


class NeedsArguments(Right):
    def __init__(self, model: object, other: str) -> None:
        raise AssertionError


class Unloadable(Right):
    def __init__(self) -> None:
        raise RuntimeError("no such device")


class NotATokenizer:
    pass
