"""Ways a vocabulary file can be wrong, as functions of its bytes, and files no reader should spend long on.

`DAMAGE` holds what may still leave a vocabulary (bits flipped in a token give another token); `RUIN` what never does.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import sentencepiece

import impls
from impls import TrainingSpec
from impls.formats import formats, save

Damage = Callable[[bytes], bytes]
MIB = 1 << 20


def _flipped(n_bits: int) -> Damage:
    def flip(content: bytes) -> bytes:
        rng = random.Random(n_bits)
        changed = bytearray(content)
        for _ in range(n_bits):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        return bytes(changed)

    return flip


def _cut(share: float) -> Damage:
    return lambda content: content[: int(len(content) * share)]


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Damage:
    return lambda content: b"\n".join(change(content.split(b"\n")))


def _inserted(what: bytes, share: float = 0.5) -> Damage:
    def insert(content: bytes) -> bytes:
        at = int(len(content) * share)
        return content[:at] + what + content[at:]

    return insert


def _digits(replacement: bytes) -> Damage:
    """The last number becomes `replacement`."""

    def change(content: bytes) -> bytes:
        end = max(content.rfind(b"%d" % digit) for digit in range(10)) + 1
        start = end
        while start > 0 and content[start - 1 : start].isdigit():
            start -= 1
        return content[:start] + replacement + content[end:]

    return change


def _zipped(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tokenizer.json", content)
    return buffer.getvalue()


DAMAGE: dict[str, Damage] = {
    "cut to a tenth": _cut(0.1),
    "cut in half": _cut(0.5),
    "cut near the end": _cut(0.97),
    "the last byte missing": lambda content: content[:-1],
    "the first byte missing": lambda content: content[1:],
    "one bit flipped": _flipped(1),
    "a dozen bits flipped": _flipped(12),
    "a thousand bits flipped": _flipped(1000),
    "every 97th byte gone": lambda content: bytes(byte for at, byte in enumerate(content) if at % 97),
    "line ends of Windows": lambda content: content.replace(b"\n", b"\r\n"),
    "line ends of old Macs": lambda content: content.replace(b"\n", b"\r"),
    "a null byte within": _inserted(b"\0"),
    "latin-1 within": _inserted(b"\xe9\xe8"),
    "a lone surrogate in UTF-8": _inserted(b"\xed\xa0\xbd"),
    "an overlong form": _inserted(b"\xc0\xaf"),
    "an escaped lone surrogate": _inserted(b"\\ud83d"),
    "two byte order marks": lambda content: b"\xef\xbb\xbf\xef\xbb\xbf" + content,
    "given twice": lambda content: content + content,
    "lines in reverse": _lines(lambda lines: lines[::-1]),
    "lines shuffled": _lines(lambda lines: random.Random(1).sample(lines, len(lines))),
    "a line twice": _lines(lambda lines: [*lines[:9], *lines[8:9], *lines[9:]]),
    "a line missing": _lines(lambda lines: [*lines[:9], *lines[10:]]),
    "blank lines within": _lines(lambda lines: [part for line in lines for part in (line, b"")]),
    "a huge id": _digits(b"4294967296"),
    "an id of a thousand digits": _digits(b"9" * 1000),
    "an id of a million digits": _digits(b"9" * MIB),
    "a negative id": _digits(b"-1"),
    "a broken id": _digits(b"1.5"),
    "an id of other digits": _digits("٣".encode()),
    "a huge count": _digits(b"2000000"),
    "a word of a megabyte": _inserted(b"a" * MIB),
    "words for constants": lambda content: content.replace(b"null", b"NaN").replace(b"false", b"Infinity"),
    "a file of another kind behind it": lambda content: content + b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "an id in exponents": _digits(b"1e999"),
    "an id in hexadecimal": _digits(b"0x10"),
    "every id the same": lambda content: re.sub(rb"\d+", b"7", content),
    "every digit a zero": lambda content: re.sub(rb"\d", b"0", content),
    "tabs for spaces": lambda content: content.replace(b" ", b"\t"),
    "spaces doubled": lambda content: content.replace(b" ", b"  "),
    "lines joined": lambda content: content.replace(b"\n", b""),
    "lines indented": _lines(lambda lines: [b"  " + line for line in lines]),
    "in capitals": lambda content: content.upper(),
    "marks that write from right to left within": _inserted("\u200f\u202e".encode()),
    "padded with zeros": lambda content: content + bytes(4096),
    "a hundred lists around it": lambda content: b"[" * 100 + content + b"]" * 100,
    "as a text in quotes": lambda content: json.dumps(content.decode("latin-1")).encode(),
    "as base64": base64.b64encode,
    "a hundred thousand lines more": _lines(lambda lines: lines + lines[-2:] * 50_000),
}
"""Of these a reader may make a vocabulary, or says what is wrong."""

RUIN: dict[str, Damage] = {
    "nothing": lambda _: b"",
    "white space": lambda _: b" \n\t\r\n" * 1000,
    "one byte": lambda _: b"\x80",
    "zeros": lambda content: bytes(len(content)),
    "ones": lambda content: b"\xff" * len(content),
    "random bytes": lambda content: random.Random(2).randbytes(len(content)),
    "UTF-16": lambda content: content.decode("latin-1").encode("utf-16"),
    "UTF-16 without a mark": lambda content: content.decode("latin-1").encode("utf-16-be"),
    "UTF-32": lambda content: content.decode("latin-1").encode("utf-32"),
    "packed by gzip": gzip.compress,
    "packed by bzip2": bz2.compress,
    "packed by xz": lzma.compress,
    "a bomb of xz": lambda _: lzma.compress(bytes(64 * MIB), preset=0),
    "a zip archive in a zip archive": lambda content: _zipped(_zipped(content)),
    "a zip bomb": lambda _: _zipped(bytes(64 * MIB)),
    "a gzip bomb": lambda _: gzip.compress(bytes(256 * MIB), 1),
    "a picture": lambda _: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40,
    "a web page": lambda _: b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n",
    "a pointer of Git LFS": lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
    "lists a million deep": lambda _: b"[" * MIB,
    "objects a million deep": lambda _: b'{"model":' * MIB,
    "normalizers 400 deep": lambda _: (
        b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "normalizer": '
        + b'{"type": "Sequence", "normalizers": [' * 400
        + b'{"type": "Odd"}'
        + b"]}" * 400
        + b"}"
    ),
    "a million lists": lambda _: b"[" + b"[]," * MIB + b"[]]",
    "ten million lists": lambda _: b"[" + b"[]," * (10 * MIB) + b"[]]",
    "300,000 keys": lambda _: b"{" + b",".join(b'"%d":{}' % k for k in range(300_000)) + b"}",
    "six million keys": lambda _: b"{" + b'"":0,' * (6 * MIB) + b'"":0}',
    "a line of 40 megabytes": lambda _: b"YQ== 0\n" + b"A" * (40 * MIB),
    "40 million lines": lambda _: b"\n" * (40 * MIB) + b"x",
    "a million lines of tokens": lambda _: b"".join(b"%06xAA %d\n" % (k, k) for k in range(MIB - 1)) + b"x\n",
    "a text of 40 megabytes": lambda _: b'{"model": "' + b"a" * (40 * MIB) + "🙂".encode() + b'"}',
    "a number of 40 megabytes": lambda _: b'{"model": ' + b"1" * (40 * MIB) + b"}",
    "escapes of 40 megabytes": lambda _: b'{"model": "' + b"\\ud83d" * (7 * MIB) + b'"}',
    "spaces of 40 megabytes": lambda content: b" " * (40 * MIB) + b"{",
    "a gigabyte in one line": lambda _: SPARSE,
    "a pattern of a million groups": lambda _: _with_pattern("(?:" * 100_000 + ")" * 100_000),
    "a replaced pattern of a megabyte": lambda _: _with_replaced("a|" * (MIB // 2) + "b"),
    "a pattern of a megabyte": lambda _: _with_pattern("a|" * (MIB // 2) + "b"),
}
"""Of these no reader makes a vocabulary."""

ODD: dict[str, Damage] = {
    "a pattern that never ends": lambda _: _with_pattern(r"(?:(?:a|aa|\\S+)+)+!"),
    "a replaced pattern that counts high": lambda _: _with_replaced("(?:(?:(?:a{1,1000}){1,1000}){1,1000}){1,1000}!"),
    "added tokens of a megabyte": lambda _: _with_tokens(["a" * MIB, "b" * MIB]),
    "a thousand added tokens in each other": lambda _: _with_tokens(["<" * k for k in range(1, 1000)]),
    "a pattern that counts high": lambda _: _with_pattern("(?:(?:(?:a{1,1000}){1,1000}){1,1000}){1,1000}!"),
}
"""Of these a reader makes a vocabulary, or says what is wrong."""

SPARSE = b"\x00 ten gigabytes, made as a sparse file"
SPARSE_BYTES = 10 << 30


def good_files(folder: Path) -> dict[str, Path]:
    """Format -> a small good file of it; of GPT-2's pair the merges, and `encoder.json`."""
    text = "low lower lowest newer wider, İstanbul'da  \n\tnew <s>"
    by_bytes = impls.train("priority", [text] * 2, TrainingSpec(vocab_size=280, special_tokens=("<s>",))).model
    words = TrainingSpec(vocab_size=60, alphabet="chars", end_of_word="</w>", pattern=r"\S+|\s")
    by_words = impls.train("priority", [text] * 2, words).model
    found: dict[str, Path] = {}
    for format in formats():
        path = folder / format / ("" if format == "gpt2" else "file")
        save(by_words if format == "subword-nmt" else by_bytes, path, format)
        found[format] = path / "vocab.bpe" if format == "gpt2" else path
    found["encoder.json"] = folder / "gpt2" / "encoder.json"
    for format, content in (("tekken", a_tekken_file()), ("sentencepiece", a_sentencepiece_model())):
        found[format] = folder / f"{format}.file"
        found[format].write_bytes(content)
    return found


def a_sentencepiece_model() -> bytes:
    """A small good one, by its own library."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["low lower lowest newer wider"] * 9),
        model_writer=model,
        model_type="bpe",
        vocab_size=300,
        byte_fallback=True,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def a_tekken_file() -> bytes:
    """A small good one."""
    vocab = [{"rank": rank, "token_bytes": base64.b64encode(bytes([rank])).decode()} for rank in range(256)]
    config = {"pattern": "a+|[^a]+", "default_vocab_size": 259, "default_num_special_tokens": 3}
    special = [{"rank": 0, "token_str": "<s>"}]
    return json.dumps({"config": config, "special_tokens": special, "vocab": vocab}).encode()


def _with_pattern(pattern: str) -> bytes:
    split = f'{{"type": "Split", "pattern": {{"Regex": "{pattern}"}}, "behavior": "Isolated", "invert": false}}'
    return b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": ' + split.encode() + b"}"


def _with_replaced(pattern: str) -> bytes:
    step = f'{{"type": "Replace", "pattern": {{"Regex": "{pattern}"}}, "content": ""}}'
    return b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "normalizer": ' + step.encode() + b"}"


def _with_tokens(texts: list[str]) -> bytes:
    entries = [{"id": k + 1, "content": text, "normalized": bool(k % 2)} for k, text in enumerate(texts)]
    return json.dumps({"model": {"type": "BPE", "vocab": {"x": 0}, "merges": []}, "added_tokens": entries}).encode()
