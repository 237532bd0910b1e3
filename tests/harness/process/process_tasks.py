"""Tasks for workers of the pool, which import them by name."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

_calls = 0


def kill_second_of_a_process(number: int) -> int:
    """Answer the first call of each process, and end it in the second."""
    global _calls
    _calls += 1
    if _calls > 1:
        os._exit(7)
    return number


def die_of(number: int) -> int:
    if number == 2:
        os._exit(7)
    return number


def process_unless(number: int) -> int:
    """Return the process; end it for 2."""
    return os.getpid() if die_of(number) != 2 else 0


def sleep(seconds: float) -> None:
    time.sleep(seconds)


class Unsendable(Exception):
    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")


def raise_what_cannot_be_sent() -> None:
    raise Unsendable("this", "has two arguments")


def talk(words: str) -> str:
    print(words)
    print(words, file=sys.stderr)
    return sys.stdin.read()


def write_pid_and_wait(path: Path) -> None:
    path.write_text(str(os.getpid()))
    time.sleep(60)


def raise_this(error: BaseException) -> None:
    raise error
