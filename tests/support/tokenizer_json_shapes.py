"""A tokenizer.json of every shape that is read: normalizers, pre-tokenizers, added tokens, over small vocabularies."""

from __future__ import annotations

import base64
import json
import random
import warnings
from copy import deepcopy
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import tokenizers
from sentencepiece import sentencepiece_model_pb2
from sentencepiece_files import trained_file
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from impls import Model, formats

Document = dict[str, Any]
SAMPLES = Path(__file__).parents[2] / "datasets" / "samples"
ODD = """<m> | <m> |<n>|<w>|x<w>y| <w>,|<W>|theq|a theq |  |   |İ|ﬁ|Å|Σ|ς|①|½|3|12|1234|▁|'s|ab|_|’|.|!?|a|Z|ü|日本|
한글|😀|x|the| the|<|>|²|Ⅷ|ǅ"""
ODD_CHARACTERS = "\t\t\n\r\u0301\u0338\u00a0\u200b\u3000\u0085\x1c\x01\ufeff\u200d"


@cache
def texts() -> list[str]:
    rng = random.Random("shapes")
    odd = [*ODD.split("|"), *ODD_CHARACTERS, "\t\t", "\r\n", "e\u0301"]
    lines = [line for name in ("tr", "en", "code") for line in (SAMPLES / f"{name}.txt").read_text().split("\n")]
    return [
        "", " ", "a", " a", "a ", *lines[::9], *("".join(rng.choices(odd, k=rng.randrange(1, 8))) for _ in range(130)),
    ]  # fmt: skip


@cache
def trained(alphabet: str) -> Document:
    """A small file as the library trains it, over bytes or over characters with marks for spaces."""
    by_bytes = alphabet == "bytes"
    tokenizer = Tokenizer(models.BPE() if by_bytes else models.BPE(unk_token="<unk>"))
    words = pre_tokenizers.Split(tokenizers.Regex("▁[^▁]*|[^▁]+"), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False) if by_bytes else words
    lines = [*(SAMPLES / "tr.txt").read_text().split("\n"), "the thes ab abab 12 1234 ..!? <m> <n> ###"] * 2
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if by_bytes else [],
        special_tokens=[] if by_bytes else ["<unk>", "<s>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines if by_bytes else ["▁" + line.replace(" ", "▁") for line in lines], trainer)
    document: Document = json.loads(tokenizer.to_str())
    if not by_bytes:
        document["pre_tokenizer"] = None
    return document


def read(document: Document) -> Model:
    """Return the model of a document, whatever its reader warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return formats.load(Path("tokenizer.json"), content=json.dumps(document).encode())


def a_file(alphabet: str, model: Document | None = None, **fields: Any) -> Document:
    document = deepcopy(trained(alphabet) | fields)
    document["model"] |= model or {}
    if document["model"]["byte_fallback"]:
        first = n_ids(alphabet)
        document["model"]["vocab"] |= {f"<0x{byte:02X}>": first + byte for byte in range(256)}
        for entry in document["added_tokens"]:
            entry["id"] += 256 if entry["id"] >= first else 0
    return document


def n_ids(alphabet: str) -> int:
    return len(trained(alphabet)["model"]["vocab"])


def byte_level(*, prefix: bool = False, regex: bool = True) -> Document:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def before(*steps: Document, regex: bool = True) -> Document:
    return {"type": "Sequence", "pretokenizers": [*steps, byte_level(regex=regex)]}


def chain(*steps: Document | str) -> Document:
    return {"type": "Sequence", "normalizers": [{"type": step} if isinstance(step, str) else step for step in steps]}


def split(pattern: str, behavior: str, *, invert: bool, kind: str = "Regex") -> Document:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def metaspace(scheme: str, *, splits: bool = True) -> Document:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": splits}


def replace(old: str, new: str, kind: str = "String") -> Document:
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def strip(left: bool, right: bool) -> Document:
    return {"type": "Strip", "strip_left": left, "strip_right": right}


LLAMA = ({"type": "Prepend", "prepend": "▁"}, replace(" ", "▁"))
MARKS_REMOVED = [
    replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
]  # fmt: skip
"""The decoders of a file with `LLAMA`."""
FALL_BACK = {"byte_fallback": True, "fuse_unk": True}
BEHAVIORS = ("Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext", "Removed")
NORMALIZERS: dict[str, Document] = {
    **{name: {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")},
    "Strip": strip(True, True),
    "Strip left": strip(True, False),
    "Strip right": strip(False, True),
    "Replace": replace("ab", "xyz"),
    "Replace white space": replace(r"\s+", " ", "Regex"),
    "Prepend": {"type": "Prepend", "prepend": "x"},
    "Prepend a space": {"type": "Prepend", "prepend": " "},
    "Prepend a mark": LLAMA[0],
    "without accents": chain("NFD", "StripAccents", "Lowercase"),
    "nested": chain(chain("NFKC"), "Lowercase", strip(True, True)),
}


def token(text: str, i: int, *, special: bool = True, **flags: bool) -> Document:
    none = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    return {"id": i, "content": text, **none, "normalized": not special, **flags, "special": special}


def added(alphabet: str, **flags: bool) -> list[Document]:
    first = n_ids(alphabet)
    others = ("<n>", "<w>", "\t\t")
    more = [token(text, first + 1 + k, special=text == "<n>") for k, text in enumerate(others)]
    own: list[Document] = trained(alphabet)["added_tokens"]
    return [*own, token("<m>", first, **flags), *more]


def shapes() -> dict[str, Document]:
    """One file of each kind; `tokenizer_files` mixes kinds at random."""
    table = {"type": "Precompiled", "precompiled_charsmap": charsmap()}
    spaces = chain(table, strip(False, True), replace(" {2,}", "▁", "Regex"))
    at_spaces = split(" ", "MergedWithPrevious", invert=False, kind="String")
    few = a_file("chars", {**FALL_BACK, "fuse_unk": False}, normalizer=chain(*LLAMA))
    for byte in ("09", "0A", "9F", "80"):
        del few["model"]["vocab"][f"<0x{byte}>"]
    overlapping = [token("x<w>y", n_ids("bytes"), special=False), token("<w>", n_ids("bytes") + 1)]
    files = {
        "Digits": a_file("bytes", pre_tokenizer=before({"type": "Digits", "individual_digits": True})),
        "a space before": a_file("bytes", pre_tokenizer=byte_level(prefix=True)),
        "marks, split at spaces": a_file("chars", FALL_BACK, normalizer=LLAMA[1], pre_tokenizer=at_spaces),
        "a mark before": a_file("chars", FALL_BACK, normalizer=LLAMA[0]),
        "unknown": a_file("chars", {"fuse_unk": True}, normalizer=chain(*LLAMA)),
        "no unknown": a_file("chars", {"fuse_unk": False, "unk_token": None}, normalizer=chain(*LLAMA)),
        "marks, without bytes": few,
        "whole words, bytes": a_file("bytes", {"ignore_merges": True}),
        "unknown that is a token": a_file("bytes", {"unk_token": "ab", "fuse_unk": True}),
        "Precompiled, Metaspace": a_file("chars", normalizer=table, pre_tokenizer=metaspace("always")),
        "Precompiled, spaces": a_file("chars", normalizer=spaces, pre_tokenizer=metaspace("always")),
        "tokens that overlap": a_file("bytes", added_tokens=overlapping),
    }
    for name, step in NORMALIZERS.items():
        files[f"bytes, {name}"] = a_file("bytes", normalizer=step)
        if name.startswith("NF"):
            files[f"marks, {name}"] = a_file("chars", FALL_BACK, normalizer=chain(step, *LLAMA))
    for behavior, invert in product(BEHAVIORS, (False, True)):
        step = split(r"\s?\p{L}+", behavior, invert=invert)
        files[f"Split, {behavior}, {invert}"] = a_file("bytes", pre_tokenizer=before(step, regex=False))
    punctuation = {"type": "Punctuation", "behavior": "Isolated"}
    files["Punctuation, Isolated"] = a_file("bytes", pre_tokenizer=before(punctuation))
    for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer"):
        files[f"bytes, {kind}"] = a_file("bytes", pre_tokenizer=before({"type": kind}, regex=False))
    for scheme, splits in product(("always", "first", "never"), (False, True)):
        files[f"Metaspace {scheme}, {splits}"] = a_file("chars", pre_tokenizer=metaspace(scheme, splits=splits))
    for flags in ("lstrip", "rstrip", "lstrip rstrip", "single_word", "normalized", "normalized lstrip rstrip"):
        given = dict.fromkeys(flags.split(), True)
        tokens = added("bytes", **given)
        marks = {"added_tokens": added("chars", **given), "normalizer": chain(*LLAMA)}
        files[f"tokens {flags}, NFC"] = a_file("bytes", added_tokens=tokens, normalizer={"type": "NFC"})
        files[f"tokens {flags}, lowercase"] = a_file("bytes", added_tokens=tokens, normalizer={"type": "Lowercase"})
        files[f"tokens {flags}, marks"] = a_file("chars", FALL_BACK, **marks)
    return files


@cache
def charsmap() -> str:
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(trained_file(["low lower"] * 9, vocab_size=20))
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


SHAPES = shapes()
