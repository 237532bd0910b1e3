"""Wrong tokenizers of which a single call, or a call with its options, shows the fault."""

from __future__ import annotations

import codecs
import re
from typing import Any
from unicodedata import normalize

import numpy as np
from planted_history import when
from planted_wrapper import Full, Right, changed, dies, fault, model, piecewise, reading, remembers

# --- texts and pieces ------------------------------------------------------------------------------------------

EndsAtZero = reading("text after U+0000 is lost at the end of a C string", "ids · normalisation",
        lambda text: text.partition("\x00")[0] if text.endswith("\x00") else text)  # fmt: skip
reading("İ is lower-cased, and nothing else", "ids · normalisation", lambda text: text.replace("İ", "i̇"), most=12)
reading("the pattern does not cover the underscore", "round-trip · normalisation",
        lambda text: text.replace("_", ""), most=12)  # fmt: skip

SPELLING = "spellings"
reading("a line end of two characters is one", SPELLING, lambda text: text.replace("\r\n", "\n"))
reading("a text ends at U+0000 from 100,000 characters on", SPELLING,
        lambda text: text.partition("\0")[0] if len(text) > 100_000 else text)  # fmt: skip
reading("kana and their marks are composed", SPELLING,
        lambda text: re.sub("[ぁ-ヿ]\u3099", lambda pair: normalize("NFC", pair[0]), text), most=12)  # fmt: skip
fault("counting is by characters", SPELLING, count=lambda self, text, n, *_: max(1, len(text) // 4) if text else 0)
fault("a mark of byte order has no id in an array", SPELLING,
      encode_array=lambda self, text, ids: ids[text.startswith("\ufeff") :])  # fmt: skip


def cut(expression: str) -> Any:
    parts = re.compile(expression)
    return changed(
        Right, encode=lambda self, text, ids: [i for part in parts.findall(text) for i in Right.encode(self, part)]
    )


Blocks = cut(r"[\s\S]{1,400000}")
Runs = cut(r"(?:\s{1,25000}(?!\s)|\S{1,25000}(?!\S))+|\s{25000}|\S{25000}")
"""What the wrappers of Llama 3 and Qwen do."""


def off_by_one(self: Any, piece: str) -> list[int]:
    parts = [piece] if len(piece.encode()) < 100 else [piece[:-1], piece[-1]]
    return [i for part in parts for i in Right.encode(self, part)]


fault("from 100 bytes on the last character is never merged", "ids · merges", Right, most=100,
      encode=piecewise(off_by_one))  # fmt: skip


def sizes(self: Any, text: str) -> set[int]:
    return {len(piece.encode("utf-8", "replace")) for piece in self.split(text)}


def rightmost(self: Any, piece: str) -> list[int]:
    if len(piece) > 300 or model().whole_piece(piece) is not None:
        return Right.encode(self, piece)
    ids = model().symbols(piece)
    while merges := [
        (merged, -k) for k in range(len(ids) - 1) if (merged := model().merge_of(ids[k], ids[k + 1])) is not None
    ]:
        (_, made), k = min(merges)
        ids[-k : 2 - k] = [made]
    return ids


fault("of equally ranked pairs the rightmost is merged", "ids · pieces or merges", Right, most=12,
      encode=piecewise(rightmost))  # fmt: skip
fault("where the bytes are a multiple of 4096 an id is missing", "lengths", Right,
      encode=lambda self, text, ids: ids[: -1 if text and len(text.encode("utf-8", "replace")) % 4096 == 0 else None],
      )  # fmt: skip
fault("an apostrophe behind a slash is left to the next piece", "transitions", when(lambda self, text: "/'" in text))
fault("characters of four bytes in a piece of 65 bytes", "lengths",
      when(lambda self, text: len(text) > 16 and max(text) >= "\U00010000" and 65 in sizes(self, text)))  # fmt: skip
fault("pieces past 64 KiB", "lengths",
      when(lambda self, text: len(text) > 16_384 and max(text) >= "\x80" and max(sizes(self, text)) >= 65_537),
      )  # fmt: skip
fault("`pieces` cuts at blanks", "transitions · pieces", pieces=lambda self, text, right: text.split(" "))
fault("a token before a last U+0000 is the whole text", "tokens", when(
      lambda self, text: text[2:] and text[-1] == "\0" and len(Right.encode(self, text[:-1])) == 1))  # fmt: skip

# --- values ----------------------------------------------------------------------------------------------------

VALUES = "python-values · values"
fault("ids of NumPy", VALUES, encode=lambda self, text, ids, *_: list(np.asarray(ids, dtype=np.int64)))
fault("False for 0", VALUES, encode=lambda self, text, ids, *_: [bool(i) if i < 2 else i for i in ids])
fault("different ids for a subclass of str", VALUES,
      encode=lambda self, text, ids, *_: ids if type(text) is str else ids[:-1])  # fmt: skip
fault("the ids of a long text are a tuple", VALUES,
      encode=lambda self, text, ids, *_: ids if len(text) < 65_536 else tuple(ids))  # fmt: skip
fault("an array of objects", VALUES, encode_array=lambda self, text, ids: ids.astype(object))
fault("decoding uses up the caller's list", VALUES, decode=lambda self, ids, text: (ids.clear(), text)[1])
fault("the cached list itself is returned", VALUES,
      encode=lambda self, text, ids, *_: self.kept.setdefault(text, ids))  # fmt: skip


def lent(self: Any, right: Any) -> Any:
    self.latest = np.zeros((1 << 20, *right.shape[1:]), right.dtype) if isinstance(self.latest, list) else self.latest
    self.latest[: len(right)] = right
    return self.latest[: len(right)]


fault("every array is a view of one buffer", VALUES, encode_array=lambda self, text, ids: lent(self, ids))
fault("all spans are a view of one buffer", VALUES,
      encode_with_offsets=lambda self, text, answer: (answer[0], lent(self, answer[1])))  # fmt: skip
fault("every batch is the same list", VALUES, reason="a batch changes when another text is encoded",
      encode_batch=lambda self, texts, lists: (self.latest.clear(), self.latest.extend(lists), self.latest)[2],
      )  # fmt: skip
fault("equal texts of a batch share a list", VALUES,
      encode_batch=lambda self, texts, lists: [lists[texts.index(text)] for text in texts])  # fmt: skip
fault("all decoders are one", VALUES, decoder=lambda self, right=None: self.kept.setdefault("decoder", right))


class AfterATypeError(Right):
    """A call with something else than a str leaves the object broken."""

    def encode(self, text: str) -> list[int]:
        if not isinstance(text, str):
            self.latest = "broken"
            raise TypeError("text must be a str")
        return super().encode(text)[:: -1 if self.latest else 1]


fault("a wrong type leaves the object broken", "python-values · bad input", AfterATypeError, "after encode(None)")

# --- decoding --------------------------------------------------------------------------------------------------

ORDER = "decode-any-order · decode"
fault("no ids are a space", ORDER, decode=lambda self, ids, text: text if ids else " ")
fault("bytes that are not UTF-8 are lost", ORDER,
      decode_bytes=lambda self, ids, data: data.decode("utf-8", "ignore").encode())  # fmt: skip
fault("more than 5,000 ids end in a space", "spellings",
      decode_bytes=lambda self, ids, data: data if len(ids) <= 5_000 else data + b" ")  # fmt: skip
fault("a ninth equal id in a row is dropped", ORDER,
      decode=lambda self, ids, text: Right.decode(self, [i for k, i in enumerate(ids) if ids[k - 8 : k] != [i] * 8]),
      )  # fmt: skip
fault("a character cut off at the end is lost", ORDER,
      decode=lambda self, ids, text: codecs.getincrementaldecoder("utf-8")("replace").decode(self.decode_bytes(ids)),
      )  # fmt: skip
fault("what is cut off at the end of one call waits for the next", "decode-any-order",
      decode=lambda self, ids, text: self.kept.setdefault(0, codecs.getincrementaldecoder("utf-8")("replace")).decode(
          self.decode_bytes(ids)) or "\ufffd")  # fmt: skip
RemembersBySum = fault("ids are remembered by their sum", "decode-any-order · cache",
                       decode=remembers(lambda ids: (len(ids), sum(ids))))  # fmt: skip


fault("the ids decoded to a text are given for that text", "decode-any-order · cache",
      decode=lambda self, ids, text: (self.kept.update({text: list(ids)}), text)[1],
      encode=lambda self, text, ids, *_: list(self.kept.get(text, ids)))  # fmt: skip
fault("each token is decoded alone", "round-trip · decode", most=12,
      decode=lambda self, ids, text: "".join(self.tokenizer.decode([i]) for i in ids))  # fmt: skip
fault("part of a character, alone, is dropped", "tokens · decode",
      decode=lambda self, ids, text: text.replace("\ufffd", "") if len(ids) == 1 else text)  # fmt: skip
fault("`token_bytes` keeps nine bits of the id", "tokens · vocabulary", type("OfToken", (Full,), {
      "token_bytes": lambda self, token: model().bytes_by_id()[token & 0x1FF]}))  # fmt: skip


def declaring(change: Any) -> Any:
    return type("Declaring", (Full,), {"__init__": lambda self: (Full.__init__(self), change(self))[0]})


fault("one id too few is declared", "tokens · vocabulary",
      declaring(lambda self: vars(self).update(n_vocab=self.n_vocab - 1)))  # fmt: skip
fault("special tokens are declared with different ids", "tokens · special tokens",
      declaring(lambda self: self.special_tokens.update({"<s>": 1})))  # fmt: skip


def second_decoding(self: Any, ids: list[int], text: str) -> str:
    again, self.latest = list(ids) == self.latest, list(ids)
    return text[again:]


fault("the same ids decoded twice in a row lose a character", "lengths · cache", Right, decode=second_decoding)

# --- special tokens --------------------------------------------------------------------------------------------

SPECIALS = "special-tokens · special tokens"
SpecialsAlways = fault("special text is always special", SPECIALS, Right, most=12,
                       encode=lambda self, text, ids: self.tokenizer.encode(text, allowed_special="all"))  # fmt: skip


class SwallowsSpace(Right):
    """A space before an allowed special token is lost; takes its options as `**kwargs`."""

    def encode(self, text: str, **kwargs: Any) -> list[int]:
        for name in model().special_tokens if kwargs.get("allowed_special") else ():
            text = text.replace(f" {name}", name)
        return self.tokenizer.encode(text, **{"disallowed_special": (), **kwargs})


def hold_back(text: str) -> str:
    parts = (name[:n] for name in model().special_tokens for n in range(len(name) - 1, 2, -1))
    return text.removesuffix(next(filter(text.endswith, parts), ""))


fault("a space before an allowed special token is lost", SPECIALS, SwallowsSpace)
reading("a begun special token at the end is held back", SPECIALS, hold_back)
fault("only eight special tokens are recognised", SPECIALS, encode=lambda self, text, ids, *options: [
      i for k, i in enumerate(ids) if i not in (special := model().special_tokens.values())
      or sum(other in special for other in ids[:k]) < 8])  # fmt: skip
fault("of several allowed special tokens one is", SPECIALS, encode=lambda self, text, ids, allowed=(), other=(): (
      Full.encode(self, text, {min(allowed)}, other) if type(allowed) is set and allowed else ids))  # fmt: skip
fault("what is allowed is refused where all others are", SPECIALS, encode=lambda self, text, ids, allowed=(), *other: (
      Full.encode(self, text, (), "all") if allowed and "all" in other else ids))  # fmt: skip
fault("ids are remembered whatever the options", "special-tokens · cache", encode=remembers(str))
fault("a batch accepts the options and ignores them", "special-tokens · batch", type("Batch", (Full,), {
      "encode_batch": lambda self, texts, allowed_special=(), disallowed_special=(): [*map(self.encode, texts)]}),
      )  # fmt: skip
fault("any option ends the process", "special-tokens · process", type("AnyOption", (Right,), {
      "encode": lambda self, text, **options: dies() if options else Right.encode(self, text)}))  # fmt: skip
fault("counting special text ends the process", "special-tokens · derived", type("Counting", (Right,), {
      "count": lambda self, text: dies() if "<s>" in text else len(self.encode(text))}))  # fmt: skip

# --- batches, offsets, cuts ------------------------------------------------------------------------------------

fault("a batch past a thousand repeats itself", "batch · batch",
      encode_batch=lambda self, texts, lists: (lists[:1024] * 99)[: len(lists)])  # fmt: skip
fault("a batch of more than a million characters ends with no ids", "batch", most=1 << 21,
      encode_batch=lambda self, texts, lists: lists if sum(map(len, texts)) < 1e6 else [*lists[:-1], []])  # fmt: skip
fault("a batch reads special text as special", "batch · batch", encode_batch=lambda self, texts, lists: [
      self.tokenizer.encode(text, allowed_special="all") for text in texts])  # fmt: skip
fault("a long text alone in a batch is cut in halves", "batch · batch",
      encode_batch=lambda self, texts, lists: lists if len(texts) != 1 or len(texts[0]) < 10_000 else [
          self.encode(texts[0][: len(texts[0]) // 2]) + self.encode(texts[0][len(texts[0]) // 2 :])])  # fmt: skip

OFFSETS = "offsets · offsets"
fault("starts in bytes", OFFSETS, decode_with_offsets=lambda self, ids, found: (
      found[0], [len(found[0][:start].encode()) for start in found[1]]))  # fmt: skip
fault("starts past the 65,536th id are lost", OFFSETS, decode_with_offsets=lambda self, ids, found: (
      found[0], found[1][:65_536] + [0] * (len(ids) - 65_536)))  # fmt: skip
fault("spans in UTF-16", OFFSETS, most=4, encode_with_offsets=lambda self, text, found:
      self.tokenizer.encode_with_offsets(text, disallowed_special=(), unit="utf16"))  # fmt: skip
fault("a span is missing", OFFSETS, most=4, encode_with_offsets=lambda self, text, found: (found[0], found[1][:-1]))
fault("offsets read special text as special", OFFSETS, encode_with_offsets=lambda self, text, found:
      self.tokenizer.encode_with_offsets(text, allowed_special="all"))  # fmt: skip
fault("spans of special text end the process", OFFSETS, encode_with_offsets=lambda self, text, found:
      dies() if "<s>" in text else found)  # fmt: skip

TRUNCATE = "truncate · truncation"
fault("one token too many", TRUNCATE, type("OneMore", (Full,), {
      "truncate": lambda self, text, n_tokens, **cut: self.tokenizer.truncate(text, n_tokens + 1, **cut)}),
      most=40)  # fmt: skip
fault("the left is the right", TRUNCATE, type("LeftIsRight", (Full,), {
      "truncate": lambda self, text, n_tokens, side="right", whole="token":
      self.tokenizer.truncate(text, n_tokens, whole=whole)}), most=40)  # fmt: skip
fault("no token at all is an error", TRUNCATE, reason="ends in ZeroDivisionError", most=40,
      truncate=lambda self, text, cut, n_tokens, *options: cut if n_tokens else 1 // 0)  # fmt: skip
fault("one more fits", TRUNCATE, most=40, fits=lambda self, text, right, n: self.tokenizer.fits(text, n + 1))
fault("counting stops at the limit", TRUNCATE, most=40,
      count=lambda self, text, n, at_most=1 << 40: min(n, at_most))  # fmt: skip
fault("a limit is kept in 31 bits", TRUNCATE,
      fits=lambda self, text, right, n: self.tokenizer.fits(text, n & 0x7FFFFFFF))  # fmt: skip
fault("truncating ends the process", "truncate · process", truncate=lambda self, *given: dies())
