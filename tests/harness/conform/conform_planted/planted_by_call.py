"""Wrong tokenizers whose fault depends on how they are called: which call it is, what came before, what is beside it.

Each class has one fault and says what it is; none of them was there before the checks that look for its kind.
"""

from __future__ import annotations

import threading
from itertools import count
from typing import Any

import numpy as np
from planted_bugs import Full, Right

_MANY_IDS, _FEW_IDS = 300, 10

# --- which call it is ----------------------------------------------------------------------------------------


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


class ForgetsToGrow(Right):
    """After a text of one id the buffer has no room in the next call for a long text, and truncates it."""

    def __init__(self) -> None:
        super().__init__()
        self.latest = 2

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        found = ids[:_MANY_IDS] if self.latest == 1 else ids
        self.latest = len(ids)
        return found


class WrongTheSecondTime(Right):
    """The second call of a process finds the setup of the first half done."""

    def __init__(self) -> None:
        super().__init__()
        self.n_calls = 0

    def encode(self, text: str) -> list[int]:
        self.n_calls += 1
        ids = super().encode(text)
        return ids[:-1] if self.n_calls == 2 else ids


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


class SecondDecoding(Right):
    """The same ids decoded twice in a row: the second answer lacks the first character."""

    def __init__(self) -> None:
        super().__init__()
        self.latest: tuple[int, ...] = ()

    def decode(self, ids: list[int]) -> str:
        again, self.latest = tuple(ids) == self.latest, tuple(ids)
        return super().decode(ids)[again:]


# --- how a text begins and ends ------------------------------------------------------------------------------


class EatsByteOrderMark(Right):
    """Reads its text as a file that may begin with a byte order mark."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.removeprefix("\ufeff"))


class CarriageReturnAtTheEnd(Right):
    """A text that ends in a carriage return lacks its last id."""

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        return ids[:-1] if text.endswith("\r") else ids


class EndsAtZero(Right):
    """Passes its text on as a C string: text after U+0000 is lost, unless it is a line of its own."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.partition("\x00")[0] if text.endswith("\x00") else text)


# --- other ways to the same ids ------------------------------------------------------------------------------


class LargeBatchesInOrderOfLength(Full):
    """More than 200 texts are sorted to share the work evenly, and their ids come back as sorted."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return super().encode_batch(sorted(texts, key=len) if len(texts) > 200 else texts)


class BatchLeavesOutEmpty(Full):
    """A batch skips empty texts."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return super().encode_batch([text for text in texts if text])


class BatchCutsLongTexts(Full):
    """Texts of a batch are truncated to 32,768 characters, as if for a model's context."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return super().encode_batch([text[:32_768] for text in texts])


class ArrayCutsLongTexts(Full):
    """The array is made in blocks of 65,536 characters."""

    def encode_array(self, text: str) -> Any:
        blocks = range(0, max(1, len(text)), 65_536)
        return np.concatenate([super(ArrayCutsLongTexts, self).encode_array(text[at : at + 65_536]) for at in blocks])


class ArrayOfObjects(Full):
    """An array of Python objects."""

    def encode_array(self, text: str) -> Any:
        return super().encode_array(text).astype(object)


class ArrayTooNarrow(Full):
    """An array of 8 bits where the ids fit: the type depends on the text."""

    def encode_array(self, text: str) -> Any:
        ids = super().encode_array(text)
        return ids.astype(np.uint8) if ids.size and ids.max() < 256 else ids


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


class CountsInBlocks(Full):
    """Counts long texts in blocks of 65,536 characters, wherever those end."""

    def count(self, text: str) -> int:
        blocks = range(0, max(1, len(text)), 65_536)
        return sum(len(self.encode(text[at : at + 65_536])) for at in blocks)


class CountsByLength(Full):
    """Estimates the count of a text of more than 4,000 characters."""

    def count(self, text: str) -> int:
        n_tokens = len(self.encode(text[:4_000]))
        return n_tokens if len(text) <= 4_000 else round(n_tokens * len(text) / 4_000)


# --- decoding ------------------------------------------------------------------------------------------------


class DropsSinglePartOfACharacter(Right):
    """A single id that is not a whole character decodes to nothing."""

    def decode(self, ids: list[int]) -> str:
        text = super().decode(ids)
        return text.replace("\ufffd", "") if len(ids) == 1 else text


class BytesOfLongLists(Full):
    """More than 65,535 ids: `decode_bytes` keeps their number in 16 bits."""

    def decode_bytes(self, ids: list[int]) -> bytes:
        return super().decode_bytes(ids[: len(ids) & 0xFFFF] if len(ids) > 0xFFFF else ids)


class OffsetsInBytes(Full):
    """Past 1,000 ids offsets count bytes."""

    def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
        text, starts = super().decode_with_offsets(ids)
        if len(ids) > 1_000:
            starts = [len(text[:start].encode()) for start in starts]
        return text, starts


# --- threads -------------------------------------------------------------------------------------------------


class KnowsTheMainThread(Right):
    """Thread-local state is set up only for the thread that created the object; others find it empty."""

    def __init__(self) -> None:
        super().__init__()
        self.state = threading.local()
        self.state.is_ready = True

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        return ids if getattr(self.state, "is_ready", False) else ids[:1]


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
