"""Streams of ids as other libraries decode them, or their users by hand, beside what is certain after each id.

    python tests/bench/streams.py [MODEL]
    bpebench conform tests/bench/streams.py:HuggingFace -m o200k_base --check streaming-decode

The first says for ids of texts, for random ids and for random bytes, one a push, how many streams are right, and of the
others what is wrong and the shortest; the second is the verdict of `conform` on one of the classes.
"""

from __future__ import annotations

import codecs
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from random import Random
from typing import Any

Decode = Callable[[Sequence[int]], str]
N_RANDOM = 3_000
LONGEST_TEXT = 3_000
BYTES = b"A\xe2\x82\xed\xa0\xf0\x9f\xc3\xff\xef\xbf\xbd"


class Steps:
    """Pushes ids one by one through `step`; there is nothing to finish with."""

    def __init__(self, step: Callable[[int], str | None]) -> None:
        self.step = step

    def push(self, ids: Sequence[int]) -> str:
        return "".join(self.step(i) or "" for i in ids)

    def finish(self) -> str:
        return ""


class NewPart:
    """Decodes all ids at each push, and takes what is longer than before."""

    def __init__(self, decode: Decode) -> None:
        self.decode = decode
        self.ids: list[int] = []
        self.shown = ""

    def push(self, ids: Sequence[int]) -> str:
        self.ids += ids
        text = self.settled(self.decode(self.ids))
        new, self.shown = text[len(self.shown) :], text
        return new

    def settled(self, text: str) -> str:
        return text

    def finish(self) -> str:
        return self.decode(self.ids)[len(self.shown) :]


class WaitingNewPart(NewPart):
    """The same, but a text that ends in U+FFFD waits."""

    def settled(self, text: str) -> str:
        return self.shown if text.endswith("\ufffd") else text


class ReadBytes:
    """Has Python's incremental decoder read the bytes of each push."""

    def __init__(self, decode_bytes: Callable[[Sequence[int]], bytes]) -> None:
        self.decode_bytes = decode_bytes
        self.read = codecs.getincrementaldecoder("utf-8")("replace").decode

    def push(self, ids: Sequence[int]) -> str:
        return self.read(self.decode_bytes(ids))

    def finish(self) -> str:
        return self.read(b"", final=True)


class Tiktoken:
    """`Encoding.decode` of all ids so far, minus what was said."""

    library = "tiktoken"
    stream: Callable[[Decode], Any] = NewPart

    def __init__(self, model: Any) -> None:
        import impls

        self.tokenizer: Any = impls.load(self.library, model)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, disallowed_special=())
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(ids))

    def decoder(self) -> Any:
        return type(self).stream(self.decode)


class TiktokenWaiting(Tiktoken):
    """The same, waiting while the text ends in U+FFFD."""

    stream = WaitingNewPart


class TiktokenBytes(Tiktoken):
    """`Encoding.decode_bytes`, read by Python's incremental decoder."""

    def decoder(self) -> ReadBytes:
        return ReadBytes(self.tokenizer.decode_bytes)


class HuggingFace(Tiktoken):
    """`tokenizers.decoders.DecodeStream`."""

    library = "tokenizers"

    def decoder(self) -> Steps:
        from tokenizers.decoders import DecodeStream

        stream = DecodeStream(skip_special_tokens=False)
        return Steps(lambda i: stream.step(self.tokenizer._tokenizer, i))


WAYS = (HuggingFace, Tiktoken, TiktokenWaiting, TiktokenBytes)


def pushed(decoder: Any, ids: Sequence[int]) -> list[str]:
    """Return the text of each id and of the end."""
    return [*(decoder.push([i]) for i in ids), decoder.finish()]


def fault(right: list[str], got: list[str]) -> str:
    """Say what is wrong with `got`; empty where nothing is."""
    whole, text = "".join(right), "".join(got)
    if whole != text:
        return "loses the end" if whole.startswith(text) else "another text"
    pairs = zip(accumulate(right), accumulate(got), strict=True)
    return next(("early" if len(b) > len(a) else "late" for a, b in pairs if a != b), "")


def streams(model: Any, encode: Callable[[str], list[int]]) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield each kind of stream with its lists of ids, none of them special."""
    from harness.generators import texts as material
    from harness.generators.texts import RandomIds

    random, of_model = Random(1), RandomIds(model)
    special = set(model.special_tokens.values())
    texts = [*material.hard_texts(), *material.sample_texts(), *material.random_texts(0, 1_500)]
    short = [text for text in texts if len(text) < LONGEST_TEXT and text.encode("utf-8", "ignore").decode() == text]
    yield "ids of texts", [encode(text) for text in short]
    yield "random ids", [[i for i in of_model.draw(random) if i not in special] for _ in range(N_RANDOM)]
    singles = [model.id_by_token[bytes([byte])] for byte in BYTES]
    yield "random bytes", [random.choices(singles, k=random.randint(1, 6)) for _ in range(N_RANDOM)]


def main(name: str = "o200k_base") -> None:
    """Print a line for each way and kind of stream, and one for each fault with its shortest ids."""
    import impls
    from harness.data import load_model

    model = load_model(name)
    reference = impls.load("compiled", model)
    for kind, lists in streams(model, lambda text: reference.encode(text, disallowed_special=())):
        for way in WAYS:
            target = way(model)
            faults: Counter[str] = Counter()
            shortest: dict[str, list[int]] = {}
            for ids in lists:
                if found := fault(pushed(reference.decoder(), ids), pushed(target.decoder(), ids)):
                    faults[found] += 1
                    shortest[found] = min(shortest.get(found, ids), ids, key=len)
            print(f"{kind}: {way.__name__}: {len(lists) - faults.total():,} of {len(lists):,} right")
            for found, ids in shortest.items():
                tokens = " ".join(str(reference.decode_bytes([i])) for i in ids)
                print(f"    {found}: {faults[found]:,}, shortest {ids} {tokens}")


if __name__ == "__main__":
    main(*sys.argv[1:])
