"""The model families get the ids of their own libraries: tiktoken over the ranks, tokenizers over the file."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from functools import cache
from itertools import islice

import pytest
import tiktoken
import tokenizers

import impls
from impls import Model
from impls.patterns import NAMED

pytestmark = pytest.mark.corpus

Encode = Callable[[str], list[int]]
MODELS = ["llama3", "qwen", "qwen-nfc", "tekken", "deepseek", "whisper", "gpt2-merges"]
LARGE = ["compiled", "priority", "tiktoken"]
ALL = [*LARGE, "tokenizers", "wordcount", "bytelevel", "naive", "backtracking"]
IMPLEMENTATIONS = {name: ALL if name in ("whisper", "gpt2-merges") else LARGE for name in MODELS}
"""Large vocabularies take the others seconds to prepare."""
CANNOT = {("tiktoken", "deepseek"): "this model has 3 split stages"}
ALPHABET = "aaabeE 019'’.,-_/\\\n\r\t©é\u0301ñçğİıŞöß中文日本語한שלוםم🙂👍🏽\u200d\u00a0\u2028\u3000\x00½ſ<|>"


@cache
def model_named(name: str) -> Model:
    from harness.data import load_model

    return load_model(name)


@cache
def reference(name: str) -> Encode:
    """The family's own library over the published file, with nothing of ours between."""
    from harness.data import cache_folder

    folder = cache_folder() / "vocabularies"
    model_named(name)  # fetches it
    if name == "deepseek":
        theirs = tokenizers.Tokenizer.from_file(str(folder / "deepseek.tokenizer.json"))
        return lambda text: theirs.encode(text, add_special_tokens=False).ids
    if name == "gpt2-merges":
        bpe = tokenizers.models.BPE.from_file(*(str(folder / name / file) for file in ("encoder.json", "vocab.bpe")))
        pair = tokenizers.Tokenizer(bpe)
        pair.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        return lambda text: pair.encode(text).ids
    offset, pattern = 0, NAMED[{"whisper": "gpt2", "qwen-nfc": "qwen"}.get(name, name)][0]
    if name == "tekken":
        document = json.loads((folder / "tekken.json").read_bytes())
        offset, pattern = 1000, document["config"]["pattern"]
        used = islice(document["vocab"], 131_072 - offset)
        ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in used}
    else:
        file = folder / f"{name.removesuffix('-nfc')}.tiktoken"
        ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file.read_bytes().splitlines())}
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda text: [i + offset for i in encoding.encode_ordinary(model_named(name).normalize(text))]


@cache
def texts() -> tuple[str, ...]:
    from harness.data import load_corpus

    rng = random.Random(7)
    made = ["".join(rng.choice(ALPHABET) for _ in range(rng.choice((1, 2, 5, 20)))) for _ in range(200)]
    names = [f"parallel/{language}" for language in ("en", "ru", "he", "tr", "de", "fr", "pl", "ta", "zh")]
    real = ["\n".join(load_corpus(name, max_bytes=1_500).documents()) for name in (*names, "code")]
    return tuple(made + real)


@pytest.mark.parametrize("name", MODELS)
def test_every_implementation_gives_the_ids_of_the_familys_own_library(name: str) -> None:
    model = model_named(name)
    expected = list(map(reference(name), texts()))
    for implementation in IMPLEMENTATIONS[name]:
        if (implementation, name) in CANNOT:
            with pytest.raises(impls.Unsupported, match=CANNOT[implementation, name]):
                impls.load(implementation, model)
            continue
        tokenizer = impls.load(implementation, model)
        assert tokenizer.encode_batch(texts(), 1, disallowed_special=()) == expected, implementation
        assert tokenizer.decode(expected[-1]) == model.normalize(texts()[-1]), implementation


def test_llama3_looks_joined_bytes_up() -> None:
    model = model_named("llama3")
    for implementation in ("naive", "priority", "bytelevel", "wordcount", "compiled", "tiktoken"):
        assert impls.load(implementation, model).encode(" nghiệs") == [100_999, 82], implementation


def test_a_replay_of_merges_goes_back_where_lower_ranks_do_not_make_a_token() -> None:
    # xyz ranks below the merges that make its parts.
    tokens = [*(bytes([byte]) for byte in range(256)), b"xyz", b"xy", b"yz", b"zw", b"yzw"]
    model = Model(tokens=tuple(tokens), merge_rule="concatenation")
    rng = random.Random(3)
    for _ in range(300):
        text = "".join(rng.choice("xyzw") for _ in range(8))
        ids = impls.load("naive", model).encode(text)
        assert impls.load("wordcount", model).encode(text) == impls.load("priority", model).encode(text) == ids


def test_qwen_is_normalised_only_where_its_name_says_so() -> None:
    for implementation in ("priority", "compiled", "tiktoken"):
        raw, nfc = (impls.load(implementation, model_named(name)) for name in ("qwen", "qwen-nfc"))
        assert nfc.encode("e\u0301") == raw.encode("é") != raw.encode("e\u0301")


def test_deepseeks_added_tokens_are_parsed_where_special_ones_are_text() -> None:
    theirs = reference("deepseek")
    model = model_named("deepseek")
    assert len(model.added_tokens) == 53
    text = "".join(f"a{added} 12" for added in model.added_tokens)
    for implementation in ("priority", "compiled"):
        assert impls.load(implementation, model).encode(text, disallowed_special=()) == theirs(text), implementation


def test_tekkens_special_tokens_come_before_its_ranks() -> None:
    tokenizer = impls.load("priority", model_named("tekken"))
    assert tokenizer.encode("[INST]a</s>", allowed_special="all") == [3, 1097, 2]
    assert min(tokenizer.encode("[INST]a</s>", disallowed_special=())) >= 1000
