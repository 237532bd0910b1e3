"""Wrong tokenizers of which only some calls show it: types, decoding, lengths, options, methods that die.

Each class has one fault and says what it is; those that differ in the answer of one method only are a line each.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

import numpy as np
from planted_bugs import Full, Right, answers, found_by, model

VALUES = ("python-values", "values")
answers("NumpyIds", VALUES, "encode", lambda text, ids: list(np.asarray(ids, dtype=np.int64)))
answers("FalseForZero", VALUES, "encode", lambda text, ids: [bool(i) if i < 2 else i for i in ids])
answers("StringIds", VALUES, "encode", lambda text, ids: list(map(str, ids)))
answers("SubclassOfStr", VALUES, "encode", lambda text, ids: ids if type(text) is str else ids[:-1])
answers("FloatArray", VALUES, "encode_array", lambda text, ids: ids.astype(np.float64))
answers("ArrayOfObjects", VALUES, "encode_array", lambda text, ids: ids.astype(object))
answers(
    "BatchPastAThousand", ("batch", "batch"), "encode_batch", lambda texts, lists: (lists[:1024] * 99)[: len(lists)]
)
answers("NothingIsASpace", ("decode-any-order", "decode"), "decode", lambda ids, text: text if ids else " ")
answers("DropsPartOfACharacter", ("tokens", "decode"), "decode",
        lambda ids, text: text.replace("\ufffd", "") if len(ids) == 1 else text)  # fmt: skip


@found_by("ids", "normalisation")
class EndsAtZero(Right):
    """Passes its text on as a C string: text after U+0000 is lost, unless it is a line of its own."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.partition("\x00")[0] if text.endswith("\x00") else text)


@found_by("decode-any-order", "decode")
class EndsRepetition(Right):
    """Takes eight equal ids in a row for a model that stutters, and drops the rest of them."""

    def decode(self, ids: list[int]) -> str:
        kept: list[int] = []
        for i in ids:
            if kept[-8:] != [i] * 8:
                kept.append(i)
        return super().decode(kept)


@found_by("python-values", "values")
class UsesUpTheIds(Right):
    """Decodes by taking the ids out of the caller's list."""

    def decode(self, ids: list[int]) -> str:
        text = super().decode(ids)
        while ids:
            ids.pop()
        return text


@found_by("special-tokens", "special tokens")
class SwallowsSpace(Right):
    """A space before an allowed special token is lost; takes its options as `**kwargs`."""

    def encode(self, text: str, **kwargs: Any) -> list[int]:
        kwargs.setdefault("disallowed_special", ())
        if kwargs.get("allowed_special"):
            for name in model().special_tokens:
                text = text.replace(f" {name}", name)
        return self.tokenizer.encode(text, **kwargs)


@found_by("special-tokens", "special tokens")
class HoldsBackPrefix(Right):
    """Waits for the rest of a special token at the end of a text, which never comes."""

    def encode(self, text: str) -> list[int]:
        for name in model().special_tokens:
            for n in range(len(name) - 1, 2, -1):
                if text.endswith(name[:n]):
                    return super().encode(text[:-n])
        return super().encode(text)


@found_by("special-tokens", "special tokens")
class EightSpecialsAtMost(Full):
    """Of the allowed special tokens of a text only eight are recognised."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        names = [name for name in model().special_tokens if allowed_special == "all" or name in allowed_special]
        found = list(re.finditer("|".join(map(re.escape, names)) or "(?!)", text))
        if len(found) <= 8:
            return super().encode(text, allowed_special, disallowed_special)
        end = found[8].start()
        return super().encode(text[:end], allowed_special, disallowed_special) + super().encode(text[end:])


@found_by("special-tokens", "batch")
class BatchIgnoresAllowed(Full):
    """A batch takes the options and does not heed them."""

    def encode_batch(
        self, texts: list[str], allowed_special: Any = (), disallowed_special: Any = ()
    ) -> list[list[int]]:
        return super().encode_batch(texts)


@found_by("tokens", "vocabulary")
class OneIdTooFew(Full):
    """The number of ids it declares is one less."""

    def __init__(self) -> None:
        super().__init__()
        self.n_vocab = model().vocab_size - 1


@found_by("tokens", "special tokens")
class DeclaresOtherSpecials(Full):
    """The ids it declares for special tokens are others."""

    def __init__(self) -> None:
        super().__init__()
        self.special_tokens = {text: i - 1 for text, i in self.special_tokens.items()}


@found_by("python-values", "values")
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


@found_by("batch", "batch")
class BatchReadsSpecials(Full):
    """A batch reads the text of a special token as the special token."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.tokenizer.encode(text, allowed_special="all") for text in texts]


@found_by("batch", "batch")
class BatchOfOneInHalves(Full):
    """A long text that is alone in a batch is cut in halves, for two threads."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        if len(texts) != 1 or len(texts[0]) < 10_000:
            return super().encode_batch(texts)
        half = len(texts[0]) // 2
        return [self.encode(texts[0][:half]) + self.encode(texts[0][half:])]


@found_by("decode-any-order", "decode")
class DropsCutCharacter(Right):
    """An incremental decoder that is never finalised: an incomplete character at the end is lost."""

    def decode(self, ids: list[int]) -> str:
        return codecs.getincrementaldecoder("utf-8")("replace").decode(self.tokenizer.decode_bytes(ids))


@found_by("decode-any-order", "decode")
class ReplacesEachByte(Right):
    """One U+FFFD for each bad byte, where the first bytes of one character should be one U+FFFD together."""

    def decode(self, ids: list[int]) -> str:
        data = self.tokenizer.decode_bytes(ids).decode("utf-8", "surrogateescape")
        return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in data)


@found_by("tokens", "vocabulary")
class TokenBytesOfNineBits(Full):
    """`token_bytes` keeps nine bits of the id."""

    def token_bytes(self, token: int) -> bytes:
        return model().bytes_by_id()[token & 0x1FF]


@found_by("lengths", None)
class MultipleOf4096(Right):
    """A full last buffer is taken for an empty one: where the bytes are a multiple of 4096 an id is missing."""

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        return ids[:-1] if text and len(text.encode("utf-8", "replace")) % 4096 == 0 else ids


@found_by("special-tokens", "special tokens")
class AnyCase(Full):
    """Recognises allowed special tokens in capitals as well."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        for name in model().special_tokens if allowed_special else ():
            text = text.replace(name.upper(), name)
        return super().encode(text, allowed_special, disallowed_special)


class Death(BaseException):
    """Ends the process, as a Rust panic does."""


def raising(error: BaseException, condition: str = "") -> Any:
    """A method that raises the error if its first argument holds `condition`, and else counts."""

    def method(self: Any, *given: Any) -> Any:
        if condition in str(given[:1]):
            raise error
        return len(self.encode(*given))

    return method


def known(ids: list[int]) -> list[int]:
    return [i for i in ids if 0 <= i < model().vocab_size]


DIED, BUG = Death("died of it"), ZeroDivisionError("bug")
for name, method, finding in (
    ("TruncatingDies", {"truncate": raising(DIED)}, ("truncate", "process")),
    ("TruncatingFails", {"truncate": raising(BUG)}, ("truncate", "truncation")),
    ("DecoderDies", {"decoder": raising(DIED)}, ("streaming-decode", "process")),
    ("DecoderFails", {"decoder": raising(BUG)}, ("streaming-decode", "decode")),
    ("IncrementalDies", {"incremental": raising(DIED)}, ("incremental", "process")),
    ("CountingSpecialsDies", {"count": raising(DIED, "<s>")}, ("special-tokens", "derived")),
    ("PiecesByBlank", {"pieces": lambda self, text: text.split(" ")}, ("transitions", "pieces")),
    ("SkipsUnknownIds", {"decode": lambda self, ids: Right.decode(self, known(ids))}, ("bad-input", "bad input")),
    ("AllowsNone", {"encode": lambda self, text, allowed_special=(), disallowed_special=(): Right.encode(self, text)},
     ("special-tokens", "special tokens")),
):  # fmt: skip
    found_by(*finding)(type(name, (Right,), method))
answers("StartsInBytes", ("offsets", "offsets"), "decode_with_offsets",
        lambda ids, found: (found[0], [len(found[0][:start].encode()) for start in found[1]]))  # fmt: skip


@found_by("offsets", "offsets")
class SpansOfSpecialsDie(Right):
    """The text of a special token ends the process in one method."""

    def encode_with_offsets(self, text: str) -> Any:
        if "<s>" in text:
            raise DIED
        return self.tokenizer.encode_with_offsets(text, disallowed_special=())


@found_by("special-tokens", "process")
class AnyOptionDies(Right):
    """Any option ends the process."""

    def encode(self, text: str, **options: Any) -> list[int]:
        if options:
            raise DIED
        return super().encode(text)


@found_by("special-tokens", "batch")
class AllowedBatchIsEmpty(Full):
    """With an option a batch has no answers."""

    def encode_batch(self, texts: list[str], **options: Any) -> list[list[int]]:
        return [] if options else [self.encode(text) for text in texts]
