"""Wrong tokenizers whose fault is where a check is easily blind: options, long texts, threads, states, declarations.

Each class has one fault and says what it is; none of them was found before the checks asked for its kind.
"""

from __future__ import annotations

import re
import threading
from typing import Any

from planted_bugs import Full, Right, model
from planted_incremental import Growing, Grown

# --- special tokens ------------------------------------------------------------------------------------------


class SpecialsInLongTexts(Full):
    """Past 4,096 characters an allowed special token takes the space before it."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        for name in model().special_tokens if allowed_special and len(text) > 4096 else ():
            text = text.replace(f" {name}", name)
        return super().encode(text, allowed_special, disallowed_special)


class EightSpecialsAtMost(Full):
    """Of the allowed special tokens of a text only eight are recognised."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        names = [name for name in model().special_tokens if allowed_special == "all" or name in allowed_special]
        found = list(re.finditer("|".join(map(re.escape, names)) or "(?!)", text))
        if len(found) <= 8:
            return super().encode(text, allowed_special, disallowed_special)
        end = found[8].start()
        return super().encode(text[:end], allowed_special, disallowed_special) + super().encode(text[end:])


class CacheIgnoresOptions(Full):
    """Caches the ids of a text, whatever its options."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[int]] = {}

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        if text not in self.known:
            self.known[text] = super().encode(text, allowed_special, disallowed_special)
        return list(self.known[text])


class BatchIgnoresAllowed(Full):
    """A batch takes the options and does not heed them."""

    def encode_batch(
        self, texts: list[str], allowed_special: Any = (), disallowed_special: Any = ()
    ) -> list[list[int]]:
        return super().encode_batch(texts)


class OffsetsReadSpecials(Full):
    """`encode_with_offsets` reads the text of a special token as the special token."""

    def encode_with_offsets(self, text: str) -> Any:
        return self.tokenizer.encode_with_offsets(text, allowed_special="all")


# --- arguments, and what is declared -------------------------------------------------------------------------


class AfterATypeError(Right):
    """A call with something else than a str leaves the object broken."""

    is_broken = False

    def encode(self, text: str) -> list[int]:
        if not isinstance(text, str):
            self.is_broken = True
            raise TypeError("text must be a str")
        return super().encode(text)[:: -1 if self.is_broken else 1]


class SubclassOfStr(Right):
    """The length of a subclass of str is taken from the wrong place."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text if type(text) is str else text[:-1])


class TokenBytesOfNineBits(Full):
    """`token_bytes` keeps nine bits of the id."""

    def token_bytes(self, token: int) -> bytes:
        return model().bytes_by_id()[token & 0x1FF]


class OneIdTooFew(Full):
    """The number of ids it declares is one less."""

    def __init__(self) -> None:
        super().__init__()
        self.n_vocab = model().vocab_size - 1


class DeclaresOtherSpecials(Full):
    """The ids it declares for special tokens are others."""

    def __init__(self) -> None:
        super().__init__()
        self.special_tokens = {text: i - 1 for text, i in self.special_tokens.items()}


class LimitOf31Bits(Full):
    """A limit is kept in 31 bits."""

    def fits(self, text: str, n_tokens: int) -> bool:
        return super().fits(text, n_tokens & 0x7FFFFFFF)


# --- decoding ------------------------------------------------------------------------------------------------


class DecodesNothingToASpace(Right):
    """No ids decode to a space."""

    def decode(self, ids: list[int]) -> str:
        return super().decode(ids) if ids else " "


class CutsLongSingleTokens(Right):
    """A single id of a token of more than five bytes is cut."""

    def decode(self, ids: list[int]) -> str:
        text = super().decode(ids)
        return text[:5] if len(ids) == 1 and len(text.encode()) > 5 else text


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


class DecodersShareBytes(Full):
    """All decoders of a tokenizer are one."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = self.tokenizer.decoder()

    def decoder(self) -> Any:
        return self

    def push(self, ids: list[int]) -> str:
        return self.shared.push(ids)

    def finish(self) -> str:
        text, self.shared = self.shared.finish(), self.tokenizer.decoder()
        return text


# --- texts that grow, and long ones --------------------------------------------------------------------------


class DeletionsDoNothing(Growing):
    """Replacing by nothing changes the text and not the ids."""

    class grown(Grown):  # noqa: N801
        def replace(self, start: int, stop: int, text: str) -> None:
            ids = self.ids
            super().replace(start, stop, text)
            self.ids = self.ids if text else ids


class AppendingNothingCuts(Growing):
    """Appending nothing loses an id."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            super().append(text)
            self.ids = self.ids if text else self.ids[:-1]


class GrowsPast4096(Growing):
    """Past 4,096 characters only what is appended is encoded."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            before, is_long = self.ids, len(self.text) > 4096
            super().append(text)
            self.ids = before + self.tokenizer.encode(text) if is_long else self.ids


class GrownShareATail(Growing):
    """The text appended last waits in the tokenizer, where another growing text finds it."""

    waiting: Any = None

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            super().append(text)
            other, self.tokenizer.waiting = self.tokenizer.waiting, self
            if other is not None and other is not self and other.text:
                self.ids = self.tokenizer.encode(self.text + other.text[-1])


class ChunksAtWhiteSpace(Right):
    """A text of more than 65,536 characters is cut at the next white space: wrong where that is more than one space."""

    def encode(self, text: str) -> list[int]:
        ids, at, size = [], 0, 65_536
        while at < len(text):
            end = min(len(text), at + size)
            while end < len(text) and not text[end].isspace():
                end += 1
            ids += super().encode(text[at:end])
            at = end
        return ids


class CacheByEnds(Right):
    """Caches texts by their length, their first and their last 200 characters."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[tuple[int, str, str], list[int]] = {}

    def encode(self, text: str) -> list[int]:
        key = len(text), text[:200], text[-200:]
        if key not in self.known:
            self.known[key] = super().encode(text)
        return list(self.known[key])


class BatchOfOneInHalves(Full):
    """A long text that is alone in a batch is cut in halves, for two threads."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        if len(texts) != 1 or len(texts[0]) < 10_000:
            return super().encode_batch(texts)
        half = len(texts[0]) // 2
        return [self.encode(texts[0][:half]) + self.encode(texts[0][half:])]


# --- saving, threads -----------------------------------------------------------------------------------------


class SavingSpoils(Full):
    """After `save` the object has lost a part of itself."""

    is_saved = False

    def save(self, path: str) -> None:
        super().save(path)
        self.is_saved = True

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return super().encode(text, allowed_special, disallowed_special)[: -1 if self.is_saved else None]


class LoadForgetsDecoding(Full):
    """After `load` capitals are decoded as small letters."""

    is_loaded = False

    def load(self, path: str) -> None:
        super().load(path)
        self.is_loaded = True

    def decode(self, ids: list[int]) -> str:
        return super().decode(ids).lower() if self.is_loaded else super().decode(ids)


class LoadForgetsSpecials(LoadForgetsDecoding):
    """After `load` no special token is recognised."""

    def decode(self, ids: list[int]) -> str:
        return Full.decode(self, ids)

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return super().encode(text, () if self.is_loaded else allowed_special, disallowed_special)


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


def on_the_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


class CountOnThreads(Full):
    """Off the main thread `count` counts one more."""

    def count(self, text: str, at_most: int | None = None) -> int:
        return super().count(text, at_most) + (not on_the_main_thread())


class BytesOnThreads(Full):
    """Off the main thread `decode_bytes` loses a byte."""

    def decode_bytes(self, ids: list[int]) -> bytes:
        return super().decode_bytes(ids)[: None if on_the_main_thread() else -1]


class SpecialsOnThreads(Full):
    """Off the main thread no special token is allowed."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return super().encode(text, allowed_special if on_the_main_thread() else (), disallowed_special)
