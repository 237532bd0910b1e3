"""Implementations that fail in every way there is, found by workers through the entry points beside this file."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from impls import Model, Tokenizer, TrainingSpec, Unsupported, get

CLOCK, CPU_CLOCK = time.perf_counter, time.process_time


class ToyBytes(Tokenizer):
    """Every byte is a token: right on a model without merges."""

    name = "toy-bytes"

    def encode_normalized(self, text: str) -> list[int]:
        return list(text.encode())


def toy(name: str, encode: Callable[[Any, str], Any] = ToyBytes.encode_normalized, **fields: Any) -> Any:
    """Return an implementation that encodes in another way, `encode(self, text)`, or has other methods."""
    return type(name, (ToyBytes,), {"name": name, "encode_normalized": encode, **fields})


def panic(self: Tokenizer, text: str) -> list[int]:
    raise type("PanicException", (BaseException,), {})("called `Option::unwrap()` on a `None` value")


def raise_with_a_path(self: Tokenizer, text: str) -> list[int]:
    raise ValueError("cannot open /some/secret/folder/file.bin")


def die(self: Tokenizer, text: str) -> list[int]:
    os.write(2, b"about to die in /some/secret/folder/file.c\n")
    os.kill(os.getpid(), signal.SIGSEGV)
    return []


def hang(self: Tokenizer, text: str) -> list[int]:
    while True:
        time.sleep(60)


def eat(self: Tokenizer, text: str) -> list[int]:
    kept = []
    while True:
        kept.append(bytearray(b"x" * 20_000_000))


def work_for_a_while(self: Tokenizer, text: str) -> list[int]:
    end = CLOCK() + 0.02
    while CLOCK() < end:
        pass
    return list(text.encode())


def swap_once_in_5000(self: Any, text: str) -> list[int]:
    ids = list(text.encode())
    for position in range(len(ids) - 1):
        self.emitted += 1
        if self.emitted % 5_000 == 0:
            ids[position], ids[position + 1] = ids[position + 1], ids[position]
    return ids


def use_what_no_merge_makes(self: Tokenizer, text: str) -> list[int]:
    first, *others = text.encode().split(b"ab")
    return [*first, *(i for part in others for i in (256, *part))]


def remember(self: Any, text: str) -> list[int]:
    self.last = text
    return list(text.encode())


def refuse(self: Tokenizer, model: Model) -> None:
    raise Unsupported(self.name, "does not like this model")


def litter_and_die(self: Tokenizer, text: str) -> list[int]:
    tempfile.mkdtemp(prefix="litter-")
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def learn_one_merge_less(cls: type[Tokenizer], texts: Iterable[str], spec: TrainingSpec) -> Model:
    return get("priority").train_model(texts, replace(spec, vocab_size=spec.vocab_size - 1))


class Later(list[int]):
    """Ids that are made when they are read."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __len__(self) -> int:
        return len(self._text.encode())

    def __iter__(self) -> Iterator[int]:
        return iter(self._text.encode())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other)  # type: ignore[call-overload, no-any-return]


class Equal:
    """Equals everything, and is a number if asked."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1


swapping = toy("toy-swapping", swap_once_in_5000, emitted=0)
wrong_on_q = toy("toy-wrong-on-q", lambda self, text: list(text.encode().replace(b"q", b"k")))
wrong_on_a = toy("toy-wrong-on-a", lambda self, text: [0, *text.encode()[1:]] if len(text) > 1000 else [*text.encode()])
inexact = toy("toy-inexact", use_what_no_merge_makes, exact=False)
merging = toy("toy-merging", use_what_no_merge_makes)
miscounting = toy("toy-miscounting", use_what_no_merge_makes, exact=False, count=lambda self, text: 1)
lazy = toy("toy-lazy", lambda self, text: Later(text))
equal_to_all = toy("toy-equal-to-all", lambda self, text: [Equal()] * len(text.encode()))
panicking, raising, dying = toy("toy-panicking", panic), toy("toy-raising", raise_with_a_path), toy("toy-dying", die)
hanging, hungry, busy = toy("toy-hanging", hang), toy("toy-hungry", eat), toy("toy-busy", work_for_a_while)
chatty = toy("toy-chatty", lambda self, text: list(text.encode()) if os.write(1, b"noise\n" * 20) else [])
losing_text = toy("toy-losing-text", decode_bytes=lambda self, ids: ToyBytes.decode_bytes(self, ids).replace(b"z", b""))
last_text = toy("toy-last-text", remember, last="", decode_bytes=lambda self, ids: self.last.encode())
refusing, littering = toy("toy-refusing", __init__=refuse), toy("toy-littering", litter_and_die)
mislearning = toy("toy-mislearning", train_model=classmethod(learn_one_merge_less))


class ToyOnce(ToyBytes):
    """Refuses a text it has met, or the beginning of one."""

    name = "toy-once"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.met: set[str] = set()

    def encode_normalized(self, text: str) -> list[int]:
        if text[:300] in self.met:
            raise ValueError("met before")
        self.met.add(text[:300])
        return super().encode_normalized(text)


class ToySlow(ToyBytes):
    """Lets the clocks of the harness run at a thousand times their speed: it is slow however busy the machine is."""

    name = "toy-slow"
    speed = 1000.0

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        from harness.measure import worker

        worker.perf_counter = lambda: CLOCK() * self.speed  # type: ignore[assignment]
        worker.process_time = lambda: CPU_CLOCK() * self.speed  # type: ignore[assignment]


class ToyClockBender(ToySlow):
    """Lets the clocks of the harness run at a tenth of their speed."""

    name = "toy-clock-bender"
    speed = 0.1
    encode_normalized = work_for_a_while


class ToyClockPatcher(busy):  # type: ignore[misc]
    """Lets the clocks of the standard library run at a tenth of their speed, which nobody here reads any more."""

    name = "toy-clock-patcher"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        time.perf_counter = lambda: CLOCK() / 10  # type: ignore[assignment]
        time.process_time = lambda: CPU_CLOCK() / 10  # type: ignore[assignment]
