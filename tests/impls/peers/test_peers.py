"""The peers' encoders keep the interface's promises, whatever their libraries do with surrogates and unknown ids."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from every_form import every_form
from random_models import BYTES
from refusals import refused
from sentencepiece_files import trained_file

import impls
from harness.data import load_model
from impls import Model, SpecialToken, Tokenizer, TrainingSpec, UnknownId, Unsupported
from impls.core.text.patterns import NAMED
from impls.formats import load
from impls.peers.peer import Peer
from impls.registry import plugins

pytestmark = pytest.mark.needs("peers")
INEXACT = ("basetenkenizer", "bpe-qwen", "iree-tokenizer", "riptoken", "tokie")
FAILS = ("omnitoken",)
"""It raises errors for most texts."""
BUILT_IN = ("bpe-openai", "quicktok", "rs-bpe", "toktok", "wordchipper")
TAKES_BYTES = ("bpe-openai", "gigatoken", "tokie")
SENTENCEPIECE = ("fastokens", "gigatoken", "kitoken", "splintr")
"""Those whose ids of SentencePiece's models are the library's; others differ on rare texts."""
CORPUS = ["a bad cab's dad, a bad cab 1234\n\n  ab", "şıırı şırı, ab cd  é 語 👍", "dcba abcd bad cab"]
TEXTS = [
    *("abc", "bad cab's dad 1234\n\n  x", "şıırı <s> ab", "", "a\ud83d", "\ud83d\udc4d x"),
    *("".join(random.Random(seed).choices("abcde  \n'şı12.é語👍", k=30)) for seed in range(30)),
]


def _is_encoder(name: str) -> bool:
    if name not in impls.names() or not plugins()[name].module.startswith("impls.peers."):
        return False
    try:
        return not impls.get(name).no_encoder  # type: ignore[attr-defined]
    except impls.Missing:
        return False


ENCODERS = [name for name in impls.names() if name not in (*impls.default_names(), *FAILS) and _is_encoder(name)]


@cache
def trained(**fields: object) -> Model:
    spec = TrainingSpec(**{"vocab_size": 300, "special_tokens": ("<s>",), **fields})  # type: ignore[arg-type]
    return impls.train("priority", CORPUS, spec).model


@cache
def ranked(pattern: str = "gpt2") -> Model:
    return trained(pattern=pattern).with_(merges=(), merge_counts=None, merge_rule="concatenation")


@cache
def sentencepiece_model() -> Model:
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    content = trained_file(CORPUS * 8, byte_fallback=True, vocab_size=330, **plain)
    return load(Path("some.model"), content=content)


def models(name: str) -> Iterator[Model]:
    if name in BUILT_IN:
        yield load_model("cl100k_base")
        return
    for pattern in ("gpt2", "cl100k", "qwen", "deepseek", "none", r"\w+|\s+|[^\w\s]+"):
        yield trained(pattern=pattern)
        yield ranked(pattern)
    yield Model(tokens=(*BYTES, b"abc", b"ab"), merge_rule="concatenation", pattern=NAMED["gpt2"])  # not derived
    yield Model(tokens=(None, *BYTES, None, b"ab"), merge_rule="concatenation", pattern=NAMED["gpt2"])  # gaps
    if name in SENTENCEPIECE:
        yield sentencepiece_model()


def loaded(name: str) -> list[Tokenizer]:
    """The peer over each of these models that it does not refuse."""
    tokenizers = []
    for model in models(name):
        with suppress(Unsupported):
            tokenizers.append(impls.load(name, model))
    assert tokenizers
    return tokenizers


@pytest.mark.corpus
@pytest.mark.parametrize("name", ENCODERS)
def test_every_form_gives_the_ids_of_priority_or_the_model_is_refused(name: str) -> None:
    for peer in loaded(name):
        expected = every_form(peer, TEXTS, disallowed_special=())
        if name not in INEXACT:
            reference = impls.load("priority", peer.model)
            assert expected == [reference.encode(text, disallowed_special=()) for text in TEXTS], peer.model
        assert [peer.count(text) for text in TEXTS] == list(map(len, expected))


@pytest.mark.corpus
@pytest.mark.parametrize("name", ENCODERS)
def test_ids_are_decoded_special_and_unknown_ones_included(name: str) -> None:
    for peer in loaded(name):
        model, reference = peer.model, impls.load("naive", peer.model)
        ids = [i for i in range(len(model.tokens)) if model.tokens[i] is not None]
        chance = random.Random(name)
        for some in ([], ids[:3], *(chance.choices(ids, k=5) for _ in range(30)), list(model.whole_token_ids.values())):
            assert (peer.decode(some), peer.decode_bytes(some)) == (
                reference.decode(some), reference.decode_bytes(some),
            )  # fmt: skip
        for unknown in () if model.unknown else (10**6, -1, 2**40):
            for decode in (peer.decode, peer.decode_bytes):
                raised = refused(UnknownId, None, decode, iter([ids[-1], unknown]))
                assert (raised.id, raised.position) == (unknown, 1)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ENCODERS)
def test_special_text_and_bytes_are_those_of_the_interface(name: str) -> None:
    peer = loaded(name)[0]
    text, special = next(iter(peer.model.special_tokens.items()))
    assert peer.encode(f"ab{text}c", allowed_special="all") == [*peer.encode("ab"), special, *peer.encode("c")]
    assert special not in peer.encode(text, disallowed_special=())
    refused(SpecialToken, "character 2", peer.encode_array, f"ab{text}")
    assert peer.encode_bytes("bad cab é".encode()) == peer.encode("bad cab é")
    for data in (b"bad cab \xff", b"\xe8\xaa cab", b"\xed\xa0\x80", b"ab\0\xc3"):
        if name in TAKES_BYTES:
            assert peer.decode_bytes(peer.encode_bytes(data)) == data
        else:
            refused(Unsupported, f"^{name}: encodes text only", peer.encode_bytes, data)
    refused(Unsupported, None, impls.load, name, trained(vocab_size=60, alphabet="chars"))


@pytest.mark.corpus
def test_a_refusal_says_why() -> None:
    twice = Model(tokens=(*BYTES, b"aa", b"aaa"), merges=((97, 97), (97, 256)))
    for name, model, reason in [
        ("bpe-openai", trained(), "built in, and it reads no others; it has cl100k_base, o200k_base"),
        ("bpe-qwen", trained(), "splits by Qwen's pattern only"),
        ("mbpe", trained(), "it reads rank files"),
        ("quicktok", load_model("qwen").with_(normalization=None), "normalises by NFC"),
        ("riptoken", twice, "it merges by joined bytes, which gives different ids here"),
        ("ffbpe", trained(pattern="deepseek"), "this model has 3 split stages"),
        ("tokie", trained(pattern="qwen"), "by GPT-2's for any other"),
        ("tinybpe", Model(tokens=(None, *BYTES)), "numbers bytes first"),
    ]:
        refused(Unsupported, f"^{name}: .*{reason}", impls.load, name, model)
    with pytest.raises(Unsupported, match="refuses long texts"):
        impls.load("bpe-openai", load_model("cl100k_base")).encode("a" * 1_000_000)
    assert issubclass(impls.get("bpe-openai"), Peer)
