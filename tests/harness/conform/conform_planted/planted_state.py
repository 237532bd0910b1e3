"""Wrong tokenizers in what they keep between calls: growing texts and streams, caches, threads, errors."""

from __future__ import annotations

import threading
import time
import zlib
from typing import Any

from planted_wrapper import Full, Grown, Right, Stream, dies, fault, model, piecewise, remembers

# --- streams and growing texts -----------------------------------------------------------------------------------


def streaming(what: str, finding: str, reason: str = "", **methods: Any) -> None:
    stream = type("Stream", (Stream,), methods)
    fault(what, finding, type("Streaming", (Right,), {"decoder": lambda self: stream(self)}), reason, most=4)


def growing(what: str, finding: str, reason: str = "", **methods: Any) -> None:
    grown = type("Grown", (Grown,), methods)
    fault(what, finding, type("Growing", (Right,), {"incremental": lambda self: grown(self)}), reason)


STREAM, GROWING = "streaming-decode · decode", "incremental · incremental"
streaming("U+FFFD too early", STREAM, "further ids may change")
streaming("U+FFFD is held back", STREAM, "holds back", settled=lambda self, text: text.rstrip("\ufffd"))
streaming("the end is lost", STREAM, "finish", finish=lambda self: "",
          __init__=lambda self, tokenizer: setattr(self, "push", tokenizer.tokenizer.decoder().push))  # fmt: skip
streaming("a decoder ends the process", "streaming-decode · process", push=dies, __init__=dies)


def overlap(self: Any, text: str) -> None:
    kept = self.ids[:-2]
    while kept and "\ufffd" in self.tokenizer.decode(kept):
        kept.pop()
    begin = len(self.tokenizer.decode(kept))
    self.text += text
    self.ids = kept + self.tokenizer.encode(self.text[begin:])


def append_past_4096(self: Any, text: str) -> None:
    before, is_long = self.ids, len(self.text) > 4096
    Grown.append(self, text)
    self.ids = before + self.tokenizer.encode(text) if is_long else self.ids


def replace_bytes(self: Any, start: int, stop: int, text: str) -> None:
    data = self.text.encode("utf-8", "surrogatepass")
    edited = data[:start] + text.encode("utf-8", "surrogatepass") + data[stop:]
    Grown.replace(self, 0, len(self.text), edited.decode("utf-8", "replace"))


def append_what_waits(self: Any, text: str) -> None:
    other, self.tokenizer.latest = self.tokenizer.latest, self
    Grown.append(self, text)
    if other and other is not self and other.text:
        self.ids = self.tokenizer.encode(self.text + other.text[-1])


growing("only the last two tokens are encoded again", GROWING, "after append the ids", append=overlap)
growing("all but one id are called stable", GROWING, "ids are called stable, but",
        n_stable=property(lambda self: max(0, len(self.ids) - 1)))  # fmt: skip
growing("a copy is the same object", GROWING, copy=lambda self: self)
growing("an edit counts bytes", GROWING, "after replace the ids", replace=replace_bytes,
        append=lambda self, text: Grown.replace(self, len(self.text), len(self.text), text))  # fmt: skip
growing("past 4,096 characters only what is appended is encoded", GROWING, append=append_past_4096)
growing("two growing texts share what waits", "python-values · values", append=append_what_waits)

# --- what is kept between calls, threads, bad input, cost ----------------------------------------------------------

STATE, THREADS = "state · cache", "threads · threads"
fault("pieces are cached by 16 bits of a hash", STATE, Right, most=12,
      encode=piecewise(Right.encode, lambda piece: zlib.crc32(piece.encode()) & 0xFFFF))  # fmt: skip
fault("texts are cached by their ends", STATE, encode=remembers(lambda text: (len(text), text[:200], text[-200:])))


def leave_over(self: Any, text: str, ids: list[int]) -> list[int]:
    left = [self.latest[len(ids)]] if len(self.latest) > 300 and 0 < len(ids) < 10 else []
    self.latest = ids
    return ids + left


def repeat(self: Any, text: str, ids: list[int]) -> list[int]:
    latest, self.latest = self.latest, ids
    return list(latest) if next(self.numbers) % 1_000 == 0 else ids


def look_through(self: Any, text: str, ids: list[int]) -> list[int]:
    self.latest += [text] * (not any(text in self.latest for _ in range(5)))
    return ids


def first_use(self: Any, text: str, ids: list[int]) -> list[int]:
    if "begun" not in self.kept:
        self.kept["begun"] = True
        time.sleep(0.05)
        self.kept["ready"] = True
    return ids if "ready" in self.kept else ids[:1]


fault("a short text after a long one gets one of its ids", STATE, Right, encode=leave_over)
WrongOnceInAThousand = fault("every thousandth call repeats the previous answer", "ids · determinism", Right,
                             encode=repeat)  # fmt: skip
fault("all earlier texts are looked through", "state · resources", Right, encode=look_through)


def off_the_main_thread() -> bool:
    return threading.current_thread() is not threading.main_thread()


def meet(self: Any) -> None:
    if off_the_main_thread():
        try:
            self.kept.setdefault("meeting", threading.Barrier(2)).wait(0.02)
        except threading.BrokenBarrierError:
            self.kept["meeting"].reset()


class Races(Right):
    """Keeps the text in the object while encoding, where two threads collide."""

    def encode(self, text: str) -> list[int]:
        self.latest = text
        meet(self)
        return super().encode(self.latest)


def slots(self: Any, text: str, ids: list[int]) -> list[int]:
    number = self.kept.setdefault(threading.get_ident(), len(self.kept))
    return ids if number <= 99 else ids[::-1]


class Mixed(Full):
    """Decoding while another thread encodes loses the last character."""

    def encode(self, text: str, *options: Any, **named: Any) -> list[int]:
        self.kept["n"] = self.kept.get("n", 0) + 1
        try:
            return super().encode(text, *options, **named)
        finally:
            self.kept["n"] -= 1

    def decode(self, ids: list[int]) -> str:
        return super().decode(ids)[: -1 if self.kept.get("n") else None]


fault("two threads collide", THREADS, Races, most=12)
fault("a hundredth thread gets its ids backwards", THREADS, Right, encode=slots)
fault("tables are half done when other threads call first", THREADS, Right, encode=first_use)
fault("decoding beside encoding loses a character", THREADS, Mixed)
fault("no special token is allowed on threads", THREADS, encode=lambda self, text, ids, *options:
      Full.encode(self, text, () if off_the_main_thread() else options[0] if options else ()))  # fmt: skip

fault("ids of a padded table are skipped", "bad-input · bad input", type("Skips", (Right,), {"decode": lambda self, ids:
      Right.decode(self, [i for i in ids if not 0 <= i - model().vocab_size < 64])}))  # fmt: skip


class LeftoversOfABatch(Full):
    """What a refused batch had encoded is in the next one."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        self.latest.extend(map(self.tokenizer.encode, texts))
        lists, self.latest = self.latest, []
        return lists[: len(texts)]


class LeftoversOfAnError(Full):
    """Partial output from before an error is prepended to the next answer."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        before, self.latest = self.latest, self.tokenizer.encode(text[:1], disallowed_special=())
        ids, self.latest = super().encode(text, allowed_special, disallowed_special), []
        return before + ids


class LeftoversOfDecoding(Right):
    """An unknown id leaves the text of the ids before it in the buffer."""

    def decode(self, ids: list[int]) -> str:
        before, self.latest = self.latest, super().decode(ids[:1])
        text, self.latest = super().decode(ids), ""
        return (before or "") + text


fault("what a refused batch left is in the next", "bad-input · bad input", LeftoversOfABatch, "answer of encode_batch")
fault("what came before an error is prepended to the next ids", "bad-input · bad input", LeftoversOfAnError)
fault("what came before an error is prepended to the next text", "bad-input · bad input", LeftoversOfDecoding)


def quadratic(self: Any, text: str, ids: list[int]) -> list[int]:
    if text not in self.kept:
        self.kept[text] = [text[at:].count("~") for at in range(0, len(text), 8)]
    return ids


fault("quadratic, but not for a text met before", "cost · resources", Right, encode=quadratic)


fault("quadratic in allowed special tokens", "cost", encode=lambda self, text, ids, allowed=(), *_:
      [i for i in ids if text.count("~") < i] if allowed else ids)  # fmt: skip
fault("quadratic in the texts of a batch", "cost",
      encode_batch=lambda self, texts, lists: [ids for ids in lists if sum(range(len(texts))) >= 0])  # fmt: skip
