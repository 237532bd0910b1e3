"""Random calls of tiktoken's `Encoding`: texts, special arguments, ids, bytes and threads, right and wrong ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

WORDS = [
    "hello", " world", " the", "don't", "I'LL", "123456789", "\n", "\r\n", "  ", "\t", " \n ", "\u00a0", "\u3000",
    "çay", " evlerimizden", "İ", "日本語", "中文", "שלום", "é", "e\u0301", "😀", "👨\u200d👩\u200d👧", "\0", "\ufeff",
    "\ufffd", "a" * 99, "aaaa", "!?", "</div>", "{}();", "ſ", "\u2028", "x",
]  # fmt: skip
SURROGATES = ["\ud83d", "\ude00", "\ud83d\ude00"]
NO_TEXTS = [None, 5, b"x", b"", 1.5, ["a"], ("a", "b"), bytearray(b"x"), True]
NO_SETS = [None, 5, "x", "ALL", b"all", (), ["x"], ("hello",), {}, {"x": 1}, {5}, {b"x"}, {None}, {"\ud800"}, {"x", 5}]
NO_IDS = [-1, 2**32, 2**40, -(2**70), 1.0, None, "1", b"1", [1], 1 + 0j, np.float32(1), True, np.int64(3), np.uint8(2)]
ERRORS = ["replace", "strict", "ignore", "backslashreplace", "surrogateescape", "no such", "", None, 5, "a\0b"]
THREADS = [8, 1, 2, 0, -1, None, "2", 1.5, [1], True]

TEXT_METHODS = ["encode", "encode", "encode_to_numpy", "encode_with_unstable"]
BATCH_METHODS = ["encode_batch", "encode_ordinary_batch"]
ID_METHODS = ["decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"]
ONE_METHODS = [
    "encode_single_token", "_encode_single_piece", "_encode_bytes", "encode_ordinary", "_encode_only_native_bpe",
]  # fmt: skip
TOKEN_METHODS = ["decode_single_token_bytes", "is_special_token"]
METHODS = [
    *TEXT_METHODS, *BATCH_METHODS, *ID_METHODS, *ONE_METHODS, *TOKEN_METHODS, "decode_batch", "decode_bytes_batch",
]  # fmt: skip

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class Calls:
    """Draws calls for one vocabulary; the same number gives the same call, with arguments of its own."""

    def __init__(self, tokens: Sequence[bytes], ids: Sequence[int], specials: Sequence[str]) -> None:
        self.tokens, self.ids, self.specials = list(tokens), list(ids), list(specials)

    def call(self, number: int) -> Call:
        """Return a method, its arguments and its options."""
        rng = random.Random(number)
        method = rng.choice(METHODS)
        if method in TEXT_METHODS:
            return method, (self.text(rng),), self.special_options(rng)
        if method in BATCH_METHODS:
            options = {} if method == "encode_ordinary_batch" else self.special_options(rng)
            return method, (self.batch(rng, self.text),), options | self.threads(rng)
        if method in ID_METHODS:
            return method, (self.ids_of(rng),), self.errors(rng) if method == "decode" else {}
        if method in ONE_METHODS:
            return method, (self.text_or_bytes(rng),), {}
        if method in TOKEN_METHODS:
            return method, (self.token(rng),), {}
        options = self.errors(rng) if method == "decode_batch" else {}
        return method, (self.batch(rng, self.ids_of),), options | self.threads(rng)

    def text(self, rng: random.Random) -> Any:
        if rng.random() < 0.06:
            return rng.choice(NO_TEXTS)
        parts = rng.choices(WORDS, k=rng.choice((0, 1, 2, 5, 12)))
        for _ in range(rng.choice((0, 0, 1, 3))):
            text = rng.choice(self.tokens).decode("utf-8", "ignore")
            parts.insert(rng.randint(0, len(parts)), text)
        if rng.random() < 0.3 and self.specials:
            parts.insert(rng.randint(0, len(parts)), rng.choice(self.specials)[: rng.choice((None, None, -1))])
        if rng.random() < 0.08:
            parts.insert(rng.randint(0, len(parts)), rng.choice(SURROGATES))
        text = "".join(parts)
        return np.str_(text) if rng.random() < 0.02 else text

    def special_options(self, rng: random.Random) -> dict[str, Any]:
        options: dict[str, Any] = {}
        for name in ("allowed_special", "disallowed_special"):
            if rng.random() < 0.5:
                options[name] = self.special_set(rng, name)
        return options

    def special_set(self, rng: random.Random, name: str) -> Any:
        kind = rng.random()
        if kind < 0.25:
            return "all"
        if kind < 0.5:
            return set() if name == "allowed_special" or rng.random() < 0.3 else ()
        chosen = rng.sample(self.specials, min(len(self.specials), rng.randint(0, 2)))
        if rng.random() < 0.3:
            chosen += rng.sample([*WORDS, "", "<|no|>"], 1)
        if kind < 0.85:
            return rng.choice((set, frozenset, frozenset, list, tuple) if name.startswith("dis") else (set, frozenset))(
                chosen
            )
        wrong = rng.choice(NO_SETS)
        return dict.fromkeys(chosen) if wrong == {} else wrong

    def token(self, rng: random.Random) -> Any:
        kind = rng.random()
        if kind < 0.8:
            return rng.choice(self.ids)
        return rng.choice(NO_IDS) if kind < 0.95 else rng.choice((max(self.ids) + 1, 10**6, 2**32 - 1))

    def ids_of(self, rng: random.Random) -> Any:
        kind = rng.random()
        if kind < 0.06:
            return rng.choice((None, 5, "12", "", b"", b"12", bytearray(b"1"), {1: 2}, {1, 2}, range(4), 1.5))
        if kind < 0.5:
            ids = list(b"".join(rng.choices([word.encode() for word in WORDS], k=rng.randint(0, 3))))
            ids = ids or [self.ids[0]]
        else:
            ids = [rng.choice(self.ids) for _ in range(rng.choice((0, 1, 3, 10)))]
        if rng.random() < 0.15:
            ids.insert(rng.randint(0, len(ids)), self.token(rng))
        make: Callable[[list[Any]], Any] = rng.choice((list, list, list, list, tuple, iter, np.array))
        try:
            return make(ids)
        except (ValueError, OverflowError):
            return ids

    def text_or_bytes(self, rng: random.Random) -> Any:
        kind = rng.random()
        if kind < 0.3:
            return self.text(rng)
        if kind < 0.5:
            return rng.choice(self.tokens)
        if kind < 0.6:
            return rng.choice([*self.specials, "x"])
        if kind < 0.7:
            return rng.choice((bytearray(b"ab"), memoryview(b"ab"), None, 5, ["a"]))
        data = str(self.text(random.Random(rng.random()))).encode("utf-8", "replace")[:60]
        cut = rng.randint(0, len(data))
        return (
            data[:cut]
            + rng.choice((b"", b"\xff", b"\xe3\x80", b"\xf0\x9f", b"\xed\xa0\x80", rng.randbytes(3)))
            + data[cut:]
        )

    def batch(self, rng: random.Random, one: Callable[[random.Random], Any]) -> Any:
        if rng.random() < 0.06:
            return rng.choice((None, 5, "abc", b"ab", {"a": 1}))
        items = [one(rng) for _ in range(rng.choice((0, 1, 2, 4)))]
        return rng.choice((list, list, tuple, iter))(items)

    def errors(self, rng: random.Random) -> dict[str, Any]:
        return {"errors": rng.choice(ERRORS)} if rng.random() < 0.5 else {}

    def threads(self, rng: random.Random) -> dict[str, Any]:
        return {"num_threads": rng.choice(THREADS) if rng.random() < 0.5 else 1}


def outcome(encoding: Any, call: Call) -> tuple[str, Any]:
    """Return ("value", what the call returns) or ("raised", the type of the exception)."""
    method, given, options = call
    try:
        value = getattr(encoding, method)(*given, **options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        return "raised", type(error)
    if isinstance(value, np.ndarray):
        return "value", (str(value.dtype), value.tolist())
    if method == "encode_with_unstable":
        stable, completions = value
        assert isinstance(completions, list)
        assert all(isinstance(ids, list) for ids in completions)
        assert len(set(map(tuple, completions))) == len(completions)
        return "value", (stable, set(map(tuple, completions)))
    return "value", value


def agree(theirs: tuple[str, Any], ours: tuple[str, Any]) -> bool:
    """Return whether two outcomes are the same value of the same type, or an exception `except` catches alike; where
    tiktoken panics anything goes that is no panic."""
    if theirs[0] == "raised" and not issubclass(theirs[1], Exception):
        return ours[0] == "value" or issubclass(ours[1], Exception)
    if theirs[0] != ours[0]:
        return False
    if ours[0] == "raised":
        return issubclass(ours[1], theirs[1])
    return type(theirs[1]) is type(ours[1]) and theirs[1] == ours[1]
