"""Implementations that fail in every way there is, found by workers through the entry points beside this file."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from impls import Model, Tokenizer, TrainingSpec, Unsupported, get

CLOCK, CPU_CLOCK = time.perf_counter, time.process_time


class ToyBytes(Tokenizer):
    """Every byte is a token: right on a model without merges."""

    name = "toy-bytes"

    def encode_normalized(self, text: str) -> list[int]:
        return list(text.encode())


class ToySlow(ToyBytes):
    """Does the work two hundred times."""

    name = "toy-slow"

    def encode_normalized(self, text: str) -> list[int]:
        return [super(ToySlow, self).encode_normalized(text) for _ in range(200)][-1]


class ToySwapping(ToyBytes):
    """Swaps two neighbouring ids once in five thousand."""

    name = "toy-swapping"
    emitted = 0

    def encode_normalized(self, text: str) -> list[int]:
        ids = super().encode_normalized(text)
        for position in range(len(ids) - 1):
            self.emitted += 1
            if self.emitted % 5_000 == 0:
                ids[position], ids[position + 1] = ids[position + 1], ids[position]
        return ids


class ToyWrongOnQ(ToyBytes):
    """Takes every q for a k."""

    name = "toy-wrong-on-q"

    def encode_normalized(self, text: str) -> list[int]:
        return [ord("k") if i == ord("q") else i for i in super().encode_normalized(text)]


class ToyWrongOnA(ToyBytes):
    """Takes a long run of a for something else."""

    name = "toy-wrong-on-a"

    def encode_normalized(self, text: str) -> list[int]:
        ids = super().encode_normalized(text)
        return [0, *ids[1:]] if len(ids) > 1000 else ids


class ToyInexact(ToyBytes):
    """Uses a token that no merge makes, and says that it is not exact."""

    name = "toy-inexact"
    exact = False

    def encode_normalized(self, text: str) -> list[int]:
        parts = text.encode().split(b"ab")
        ids = list(parts[0])
        for part in parts[1:]:
            ids += [256, *part]
        return ids


class ToyMerging(ToyInexact):
    """Is inexact, and says that it is not."""

    name = "toy-merging"
    exact = True


class ToyLosingText(ToyBytes):
    """Right ids that do not decode to the text."""

    name = "toy-losing-text"

    def decode_bytes(self, ids: object) -> bytes:
        return super().decode_bytes(ids).replace(b"z", b"")  # type: ignore[arg-type]


class ToyLastText(ToyBytes):
    """Decodes to the text it encoded last, whatever the ids."""

    name = "toy-last-text"
    last = ""

    def encode_normalized(self, text: str) -> list[int]:
        self.last = text
        return super().encode_normalized(text)

    def decode_bytes(self, ids: object) -> bytes:
        return self.last.encode()


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


class ToyLazy(ToyBytes):
    """Defers the work until the answer is read."""

    name = "toy-lazy"

    def encode_normalized(self, text: str) -> list[int]:
        return Later(text)


class ToyMiscounting(ToyInexact):
    """Is inexact, and counts anything."""

    name = "toy-miscounting"

    def count(self, text: str) -> int:
        return 1


class PanicException(BaseException):
    """What a Rust panic looks like from Python."""


class ToyPanicking(ToyBytes):
    """Panics past `except Exception`."""

    name = "toy-panicking"

    def encode_normalized(self, text: str) -> list[int]:
        raise PanicException("called `Option::unwrap()` on a `None` value")


class ToyRaising(ToyBytes):
    """Raises an ordinary exception that names a folder."""

    name = "toy-raising"

    def encode_normalized(self, text: str) -> list[int]:
        raise ValueError("cannot open /some/secret/folder/file.bin")


class ToyDying(ToyBytes):
    """Dies of a signal, having said something."""

    name = "toy-dying"

    def encode_normalized(self, text: str) -> list[int]:
        os.write(2, b"about to die in /some/secret/folder/file.c\n")
        os.kill(os.getpid(), signal.SIGSEGV)
        return []


class ToyHanging(ToyBytes):
    """Never answers."""

    name = "toy-hanging"

    def encode_normalized(self, text: str) -> list[int]:
        while True:
            time.sleep(60)


class ToyHungry(ToyBytes):
    """Takes memory until it is stopped."""

    name = "toy-hungry"

    def encode_normalized(self, text: str) -> list[int]:
        kept = []
        while True:
            kept.append(bytearray(b"x" * 20_000_000))


class ToyRefusing(ToyBytes):
    """Cannot run any model."""

    name = "toy-refusing"

    def __init__(self, model: Model) -> None:
        raise Unsupported(self.name, "does not like this model")


class ToyChatty(ToyBytes):
    """Writes to standard output."""

    name = "toy-chatty"

    def encode_normalized(self, text: str) -> list[int]:
        os.write(1, b"noise on standard output\n" * 20)
        return super().encode_normalized(text)


class ToyLittering(ToyBytes):
    """Leaves a temporary folder behind and is killed while it encodes."""

    name = "toy-littering"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        tempfile.mkdtemp(prefix="litter-")

    def encode_normalized(self, text: str) -> list[int]:
        os.kill(os.getpid(), signal.SIGKILL)
        return []


class ToyMislearning(ToyBytes):
    """Learns one merge less than it should."""

    name = "toy-mislearning"

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        return get("priority").train_model(texts, replace(spec, vocab_size=spec.vocab_size - 1))


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


class Equal:
    """Equals everything, and is a number if asked."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1


class ToyEqualToAll(ToyBytes):
    """Answers objects that equal any id, as many as there are."""

    name = "toy-equal-to-all"

    def encode_normalized(self, text: str) -> list[int]:
        return [Equal()] * len(text.encode())  # type: ignore[list-item]


class ToyBusy(ToyBytes):
    """Works for a while."""

    def encode_normalized(self, text: str) -> list[int]:
        end = CLOCK() + 0.02
        while CLOCK() < end:
            pass
        return super().encode_normalized(text)


class ToyClockBender(ToyBusy):
    """Lets the clocks of the harness run at a tenth of their speed."""

    name = "toy-clock-bender"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        from harness.measure import contestant

        contestant.perf_counter = lambda: CLOCK() / 10  # type: ignore[assignment]
        contestant.process_time = lambda: CPU_CLOCK() / 10  # type: ignore[assignment]


class ToyClockPatcher(ToyBusy):
    """Lets the clocks of the standard library run at a tenth of their speed, which nobody here reads any more."""

    name = "toy-clock-patcher"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        time.perf_counter = lambda: CLOCK() / 10  # type: ignore[assignment]
        time.process_time = lambda: CPU_CLOCK() / 10  # type: ignore[assignment]
