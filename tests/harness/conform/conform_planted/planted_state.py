"""Wrong tokenizers in what they keep between calls, lend to the caller, do on other threads, or cost after a while."""

from __future__ import annotations

import codecs
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from planted_bugs import Full, Right, answers, found_by

_MANY_IDS, _FEW_IDS = 300, 10


@found_by("special-tokens", "cache")
class CacheIgnoresOptions(Full):
    """Caches the ids of a text, whatever its options."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[int]] = {}

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        if text not in self.known:
            self.known[text] = super().encode(text, allowed_special, disallowed_special)
        return list(self.known[text])


def on_the_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


answers("CountOnThreads", ("threads", "threads"), "count", lambda text, n: n + (not on_the_main_thread()))
answers("BytesOnThreads", ("threads", "threads"), "decode_bytes",
        lambda ids, data: data[: None if on_the_main_thread() else -1])  # fmt: skip


def remembers(name: str, finding: tuple[str, str], method: str, key: Callable[[Any], object]) -> type[Right]:
    """Note a wrong tokenizer in which a method takes what has a key in common for the same."""

    def call(self: Any, given: Any, *options: Any, **named: Any) -> Any:
        known = self.__dict__.setdefault("known", {})
        if key(given) not in known:
            known[key(given)] = getattr(Full, method)(self, given, *options, **named)
        answer = known[key(given)]
        return list(answer) if isinstance(answer, list) else answer

    return found_by(*finding)(type(name, (Full,), {method: call}))


remembers("CacheByEnds", ("state", "cache"), "encode", lambda text: (len(text), text[:200], text[-200:]))
RemembersBySum = remembers("RemembersBySum", ("decode-any-order", "cache"), "decode", lambda ids: (len(ids), sum(ids)))


@found_by("state", "cache")
class LeftoversOfALongText(Right):
    """A buffer is not cleared: a short text right after a long one gets an id of that."""

    def __init__(self) -> None:
        super().__init__()
        self.latest: list[int] = []

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        left = len(self.latest) > _MANY_IDS and 0 < len(ids) < _FEW_IDS
        found = [*ids, self.latest[len(ids)]] if left else ids
        self.latest = ids
        return found


@found_by("ids", "determinism")
class WrongOnceInAThousand(Right):
    """Every thousandth call repeats the previous answer."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = count(1)
        self.latest: list[int] = []

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        latest, self.latest = self.latest, ids
        return list(latest) if next(self.numbers) % 1_000 == 0 else ids


@found_by("lengths", "cache")
class SecondDecoding(Right):
    """The same ids decoded twice in a row: the second answer lacks the first character."""

    def __init__(self) -> None:
        super().__init__()
        self.latest: tuple[int, ...] = ()

    def decode(self, ids: list[int]) -> str:
        again, self.latest = tuple(ids) == self.latest, tuple(ids)
        return super().decode(ids)[again:]


@found_by("threads", "threads")
class SlotsForSixteenThreads(Right):
    """A slot for each thread that ever called, and the seventeenth gets the text of the first."""

    def __init__(self) -> None:
        super().__init__()
        self.slots: dict[int, int] = {}
        self.local = threading.local()
        self.numbers = count()

    def encode(self, text: str) -> list[int]:
        if not hasattr(self.local, "number"):
            self.local.number = next(self.numbers)
        ids = super().encode(text)
        return ids if self.local.number <= 16 else ids[::-1]


@found_by("threads", "threads")
class ArrayOnThreads(Full):
    """`encode_array` keeps its ids in the object, where two threads meet."""

    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(2)

    def encode_array(self, text: str) -> Any:
        self.found = super().encode_array(text)
        if threading.current_thread() is not threading.main_thread():
            try:
                self.meeting.wait(0.02)
            except threading.BrokenBarrierError:
                self.meeting.reset()
        return self.found


@found_by("bad-input", "bad input")
class LeftoversOfAnError(Full):
    """Partial output from before an error is prepended to the next answer."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[int] = []

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        try:
            ids = super().encode(text, allowed_special, disallowed_special)
        except Exception:
            self.begun = self.tokenizer.encode(text[:1], disallowed_special=())
            raise
        ids, self.begun = self.begun + ids, []
        return ids


@found_by("bad-input", "bad input")
class LeftoversOfDecoding(Right):
    """An unknown id leaves the text of the ids before it in the buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = ""

    def decode(self, ids: list[int]) -> str:
        try:
            text, self.begun = self.begun + super().decode(ids), ""
        except Exception:
            self.begun = super().decode(ids[:1])
            raise
        return text


@found_by("threads", "threads")
class FirstUseByThreads(Right):
    """Builds its tables with the first call; who comes meanwhile finds them half done."""

    ready = begun = False

    def encode(self, text: str) -> list[int]:
        if not self.begun:
            self.begun = True
            time.sleep(0.05)
            self.ready = True
        return super().encode(text) if self.ready else super().encode(text)[:1]


@found_by("state", "resources")
class SlowerByTheCall(Right):
    """Looks through all texts it was ever given."""

    def __init__(self) -> None:
        super().__init__()
        self.met: list[str] = []

    def encode(self, text: str) -> list[int]:
        if text not in self.met:
            self.met.append(text)
        return super().encode(text)


@found_by("cost", "resources")
class QuadraticBehindMemory(Right):
    """Quadratic, and a text met before costs nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        if text not in self.known:
            for at in range(0, len(text), 8):
                text[at:].count("~")
            self.known[text] = super().encode(text)
        return list(self.known[text])


@found_by("python-values", "values")
class AfterATypeError(Right):
    """A call with something else than a str leaves the object broken."""

    is_broken = False

    def encode(self, text: str) -> list[int]:
        if not isinstance(text, str):
            self.is_broken = True
            raise TypeError("text must be a str")
        return super().encode(text)[:: -1 if self.is_broken else 1]


@found_by("decode-any-order", "cache")
class EncodesWhatItDecoded(Right):
    """Remembers the ids it decoded to a text, and gives them for that text."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[int]] = {}

    def decode(self, ids: list[int]) -> str:
        text = super().decode(ids)
        self.known[text] = list(ids)
        return text

    def encode(self, text: str) -> list[int]:
        return list(self.known[text]) if text in self.known else super().encode(text)


@found_by("save-load", "saving")
class SavingSpoils(Full):
    """After `save` the object has lost a part of itself."""

    is_saved = False

    def save(self, path: str) -> None:
        super().save(path)
        self.is_saved = True

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return super().encode(text, allowed_special, disallowed_special)[: -1 if self.is_saved else None]


@found_by("save-load", "saving")
class LoadForgetsDecoding(Full):
    """After `load` capitals are decoded as small letters."""

    is_loaded = False

    def load(self, path: str) -> None:
        super().load(path)
        self.is_loaded = True

    def decode(self, ids: list[int]) -> str:
        return super().decode(ids).lower() if self.is_loaded else super().decode(ids)


@found_by("save-load", "saving")
class LoadForgetsSpecials(LoadForgetsDecoding):
    """After `load` no special token is recognised."""

    def decode(self, ids: list[int]) -> str:
        return Full.decode(self, ids)

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return super().encode(text, () if self.is_loaded else allowed_special, disallowed_special)


@found_by("threads", "threads")
class MixedThreads(Full):
    """Decoding while another thread encodes loses the last character."""

    n_encoding = 0

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        self.n_encoding += 1
        try:
            return super().encode(text, allowed_special, disallowed_special)
        finally:
            self.n_encoding -= 1

    def decode(self, ids: list[int]) -> str:
        return super().decode(ids)[: -1 if self.n_encoding else None]


@found_by("threads", "threads")
class SpecialsOnThreads(Full):
    """Off the main thread no special token is allowed."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return super().encode(text, allowed_special if on_the_main_thread() else (), disallowed_special)


@found_by("decode-any-order", None)
class DecodesAsOneStream(Right):
    """What is cut off at the end of one call waits for the next."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def decode(self, ids: list[int]) -> str:
        return self.decoder.decode(self.tokenizer.decode_bytes(ids)) or "\ufffd"


@found_by("python-values", "values")
class LendsItsCache(Right):
    """Returns the cached list itself, which the caller may change."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        if text not in self.known:
            self.known[text] = super().encode(text)
        return self.known[text]


@found_by("python-values", "values")
class LendsItsArray(Full):
    """Every array is a view of one buffer, which the next call overwrites."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = np.zeros(1 << 20, dtype=np.uint32)

    def encode_array(self, text: str) -> Any:
        ids = super().encode_array(text)
        if ids.size > self.buffer.size:
            return ids
        self.buffer[: ids.size] = ids
        return self.buffer[: ids.size]
