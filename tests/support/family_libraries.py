"""Each family's own library over the published file, with nothing of ours between."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path

import sentencepiece
import tiktoken
import tokenizers

from impls import Model
from impls.core.text.patterns import NAMED

Encode = Callable[[str], list[int]]

PATTERNS = {
    "r50k_base": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k", "llama3": "llama3", "qwen": "qwen",
    "qwen3.6": "qwen3.6", "qwen-nfc": "qwen", "tekken": "tekken", "whisper": "gpt2",
}  # fmt: skip
"""Families of tiktoken -> the name of their pattern."""
FAMILIES = (*PATTERNS, "deepseek", "gpt2-merges", "mistral-v1", "mistral-v3")
IN_MISTRAL_COMMON = ("tekken", "mistral-v1", "mistral-v3")
"""Those that the package mistral-common runs too."""


@cache
def model_named(name: str) -> Model:
    """The model as we read it; fetches the file."""
    from harness.data import load_model

    return load_model(name)


def _file(name: str) -> Path:
    from harness.data import cache_folder
    from harness.data.catalogue import vocabularies

    model_named(name)
    return cache_folder() / vocabularies()[name].path


@cache
def own_library(name: str) -> Encode:
    """A function from a text to the ids of the family's own library; special text is read as text."""
    if name.startswith("mistral"):
        processor = sentencepiece.SentencePieceProcessor(model_file=str(_file(name)))
        return lambda text: processor.encode(text)  # type: ignore[no-any-return]
    if name == "deepseek":
        theirs = tokenizers.Tokenizer.from_file(str(_file(name)))
        return lambda text: theirs.encode(text, add_special_tokens=False).ids
    if name == "gpt2-merges":
        bpe = tokenizers.models.BPE.from_file(*(str(_file(name) / part) for part in ("encoder.json", "vocab.bpe")))
        pair = tokenizers.Tokenizer(bpe)
        pair.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        return lambda text: pair.encode(text).ids
    offset, pattern = 0, NAMED[PATTERNS[name]][0]
    if name == "tekken":
        document = json.loads(_file(name).read_bytes())
        offset, pattern = 1000, document["config"]["pattern"]
        used = islice(document["vocab"], 131_072 - offset)
        ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in used}
    else:
        lines = map(bytes.split, _file(name).read_bytes().splitlines())
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    if name == "qwen-nfc":
        nfc = tokenizers.normalizers.NFC()
        return lambda text: encoding.encode_ordinary(nfc.normalize_str(text))
    return lambda text: [i + offset for i in encoding.encode_ordinary(text)]


def mistral_common(name: str) -> Encode:
    """The same by the package mistral-common; raises ImportError where it is not installed."""
    if name == "tekken":
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        tekkenizer = Tekkenizer.from_file(str(_file(name)))
        return lambda text: tekkenizer.encode(text, bos=False, eos=False)  # type: ignore[no-any-return]
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer

    tokenizer = SentencePieceTokenizer(str(_file(name)))
    return lambda text: tokenizer.encode(text, bos=False, eos=False)  # type: ignore[no-any-return]
