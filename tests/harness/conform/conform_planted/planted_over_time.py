"""Wrong tokenizers, each with one fault in state kept between calls, in threads, in volume or in time."""

from __future__ import annotations

import codecs
import threading
import time
import zlib
from typing import Any

from planted_bugs import Full, Right

# --- state between calls -------------------------------------------------------------------------------------


class LendsItsBuffer(Right):
    """Every call returns the same list, overwritten."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer: list[int] = []

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        self.buffer[:] = ids
        return self.buffer


class DecodesAsOneStream(Right):
    """What is cut off at the end of one call waits for the next."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def decode(self, ids: list[int]) -> str:
        return self.decoder.decode(self.tokenizer.decode_bytes(ids)) or "\ufffd"


class LendsItsCache(Right):
    """Returns the cached list itself, which the caller may change."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        if text not in self.known:
            self.known[text] = super().encode(text)
        return self.known[text]


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


# --- threads -------------------------------------------------------------------------------------------------


class FirstUseByThreads(Right):
    """Builds its tables with the first call; who comes meanwhile finds them half done."""

    ready = begun = False

    def encode(self, text: str) -> list[int]:
        if not self.begun:
            self.begun = True
            time.sleep(0.05)
            self.ready = True
        return super().encode(text) if self.ready else super().encode(text)[:1]


class DecodesIntoOneBuffer(Right):
    """Decodes into a buffer of the object, where two threads meet."""

    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(2)

    def decode(self, ids: list[int]) -> str:
        self.ids = ids
        if threading.current_thread() is not threading.main_thread():
            try:
                self.meeting.wait(0.02)
            except threading.BrokenBarrierError:
                self.meeting.reset()
        return super().decode(self.ids)


# --- volume --------------------------------------------------------------------------------------------------


class OneInManyTexts(Right):
    """One text in 100,000 is wrong, by its hash."""

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        return [*ids, ids[0]] if ids and zlib.crc32(text.encode("utf-8", "replace")) % 100_000 == 77 else ids


class FullTable(Right):
    """A table of 50,000 texts that gives the last one's ids to a text it has no room for, once."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[int] = set()

    def encode(self, text: str) -> list[int]:
        n_before = len(self.known)
        self.known.add(hash(text))
        return super().encode(text + "x" if n_before == 49_999 else text)


class BatchPastAThousand(Full):
    """Indexes a batch in ten bits."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(texts[k & 1023]) for k in range(len(texts))]


# --- time ----------------------------------------------------------------------------------------------------


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


class QuadraticDecoding(Right):
    """Made for streams: decodes all there is again for each id that comes."""

    def decode(self, ids: list[int]) -> str:
        text = ""
        for k in range(len(ids)):
            text = super().decode(ids[: k + 1])
        return text


class SlowerByTheCall(Right):
    """Looks through all texts it was ever given."""

    def __init__(self) -> None:
        super().__init__()
        self.met: list[str] = []

    def encode(self, text: str) -> list[int]:
        if text not in self.met:
            self.met.append(text)
        return super().encode(text)
