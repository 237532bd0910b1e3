"""The peers' encoders keep the interface's promises, whatever their libraries do with surrogates and unknown ids."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice, pairwise

import numpy as np
import pytest

import impls
from impls import Model, SpecialToken, Tokenizer, TrainingSpec, UnknownId, Unsupported
from impls.core.text.patterns import NAMED
from impls.formats.known import KNOWN
from impls.formats.tiktoken_ranks import digest_of
from impls.production.libraries import loading

PeerOf = Callable[..., type[Tokenizer]]
ENCODERS = [
    "bpe-openai",
    "fastokens",
    "ffbpe",
    "gigatoken",
    "iree-tokenizer",
    "kitoken",
    "morpheme",
    "omnitoken",
    "quicktok",
    "riptoken",
    "rs-bpe",
    "snaptokens",
    "splintr",
    "tokie",
    "toktok",
    "tuetoken",
    "wordchipper",
]
BUILT_IN = ["bpe-openai", "quicktok", "rs-bpe", "toktok", "wordchipper"]
TAKES_BYTES = ["bpe-openai", "gigatoken", "tokie"]
INSTALLED = [
    name
    for name, module in {
        "bpe-openai": "bpe_openai",
        "fastokens": "fastokens",
        "ffbpe": "ffbpe",
        "gigatoken": "gigatoken",
        "kitoken": "kitoken",
        "morpheme": "morpheme",
        "quicktok": "quicktok",
        "rs-bpe": "rs_bpe",
        "snaptokens": "snaptokens",
        "splintr": "splintr",
        "toktok": "toktok",
        "tuetoken": "tuetoken",
        "wordchipper": "wordchipper",
    }.items()
    if find_spec(module) is not None
]
"""The exact ones whose libraries are here."""
CORPUS = ["a bad cab's dad, a bad cab 1234\n\n  ab", "şıırı şırı, ab cd  é 語 👍", "dcba abcd bad cab"]
TEXTS = [
    "abc",
    "bad cab's dad 1234\n\n  x",
    "şıırı <s> ab",
    *("".join(random.Random(seed).choices("abcde  \n'şı12.é語👍", k=30)) for seed in range(30)),
]


@pytest.fixture(scope="module")
def pairs() -> Model:
    """A trained model with a special token."""
    spec = TrainingSpec(vocab_size=300, special_tokens=("<s>",))
    return impls.train("priority", CORPUS, spec).model


@pytest.fixture(scope="module")
def ranked(pairs: Model) -> Model:
    """The same as a vocabulary of ranks."""
    return pairs.with_(merges=(), merge_counts=None, merge_rule="concatenation")


@pytest.mark.parametrize("rule", ["pairs", "concatenation"])
@pytest.mark.parametrize("name", ENCODERS)
def test_every_form_gives_the_ids_of_priority(
    name: str, rule: str, peer_of: PeerOf, pairs: Model, ranked: Model
) -> None:
    if name in BUILT_IN and rule == "pairs":
        with pytest.raises(Unsupported, match="built in"):
            peer_of(name, ranked)(pairs)
        return
    model = pairs if rule == "pairs" else ranked
    peer = peer_of(name, ranked)(model)
    expected = [impls.load("priority", pairs).encode(text, disallowed_special=()) for text in TEXTS]
    assert [peer.encode(text, disallowed_special=()) for text in TEXTS] == expected
    arrays = [peer.encode_array(text, disallowed_special=()) for text in TEXTS]
    assert [array.tolist() for array in arrays] == expected
    assert {array.dtype for array in arrays} == {np.dtype(np.uint32)}
    assert [peer.count(text) for text in TEXTS] == list(map(len, expected))
    for threads in (1, 2, None):
        assert peer.encode_batch(TEXTS, threads, disallowed_special=()) == expected
        flat, borders = peer.encode_ragged(TEXTS, threads, disallowed_special=())
        assert (flat.dtype, borders.dtype) == (np.uint32, np.int64)
        assert [flat[a:b].tolist() for a, b in pairwise(borders)] == expected
    long = 20_000 * "ab "
    assert peer.encode(long) == peer.encode_array(long).tolist()
    for text, ids in zip(TEXTS, expected, strict=True):
        assert peer.decode(ids) == text
        assert peer.decode_bytes(ids) == text.encode()
    assert type(peer.encode("abc")[0]) is int


@pytest.mark.parametrize("name", ENCODERS)
def test_special_tokens_are_those_of_the_interface(name: str, peer_of: PeerOf, ranked: Model) -> None:
    peer = peer_of(name, ranked)(ranked)
    special = ranked.special_tokens["<s>"]
    assert peer.encode("ab<s>c", allowed_special="all") == [*peer.encode("ab"), special, *peer.encode("c")]
    assert peer.encode_batch(["<s>", "a"], 2, allowed_special="all") == [[special], peer.encode("a")]
    assert special not in peer.encode("<s>", disallowed_special=())
    with pytest.raises(SpecialToken, match="character 2"):
        peer.encode_array("ab<s>")
    assert peer.decode([special, special]) == "<s><s>"
    assert peer.decode_bytes([*peer.encode("ab"), special]) == b"ab<s>"


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("text", ["a\ud83d", "\ud83d\udc4d x"])
def test_surrogates_are_encoded_as_tiktoken_does(name: str, text: str, peer_of: PeerOf, ranked: Model) -> None:
    peer = peer_of(name, ranked)(ranked)
    expected = impls.load("tiktoken", ranked).encode(text)
    assert peer.encode(text) == expected
    assert peer.encode_array(text).tolist() == expected
    assert peer.encode_batch([text, "a"], 1) == peer.encode_batch([text, "a"], 2) == [expected, peer.encode("a")]
    assert peer.count(text) == len(expected)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("unknown", [301, 10**6, -1, 2**40])
def test_an_unknown_id_is_named_with_its_position(name: str, unknown: int, peer_of: PeerOf, ranked: Model) -> None:
    peer = peer_of(name, ranked)(ranked)
    for decode in (peer.decode, peer.decode_bytes):
        with pytest.raises(UnknownId) as raised:
            decode(iter([97, unknown]))
        assert (raised.value.id, raised.value.position) == (unknown, 1)


@pytest.mark.parametrize("name", ENCODERS)
def test_ids_that_are_no_utf8_decode_with_replacement(name: str, peer_of: PeerOf, ranked: Model) -> None:
    peer = peer_of(name, ranked)(ranked)
    half = ranked.id_by_token[b"\xc5"]
    assert peer.decode([97, half, 98]) == "a\ufffdb"
    assert peer.decode_bytes([97, half, 98]) == b"a\xc5b"
    assert peer.decode([]) == ""
    assert peer.encode("") == []


@pytest.mark.parametrize("name", ENCODERS)
def test_an_alphabet_of_characters_is_refused(name: str, peer_of: PeerOf, ranked: Model) -> None:
    model = impls.train("priority", CORPUS, TrainingSpec(vocab_size=60, alphabet="chars")).model
    with pytest.raises(Unsupported):
        peer_of(name, ranked)(model)


@pytest.mark.parametrize(
    "name",
    [
        *("fastokens", "ffbpe", "gigatoken", "iree-tokenizer", "kitoken", "morpheme", "omnitoken", "riptoken"),
        *("snaptokens", "splintr", "tokie", "tuetoken"),
    ],
)
@pytest.mark.parametrize("pattern", ["cl100k", "turkish", "deepseek", "none", r"\w+|\s+|[^\w\s]+"])
def test_a_pattern_is_followed_or_refused(name: str, pattern: str, peer_of: PeerOf) -> None:
    model = impls.train("priority", CORPUS, TrainingSpec(vocab_size=290, pattern=pattern)).model
    known = {"tokie": ("cl100k",), "gigatoken": ("cl100k", "deepseek")}
    if pattern not in known.get(name, (pattern,)):
        with pytest.raises(Unsupported, match=r"pattern|pre_tokenizer"):
            peer_of(name)(model)
        return
    expected = impls.load("priority", model)
    for rule in ("pairs", "concatenation"):
        if rule == "concatenation":
            model = model.with_(merges=(), merge_counts=None, merge_rule=rule)
        try:
            peer = peer_of(name)(model)
        except Unsupported as error:
            if pattern != "cl100k" and name in ("snaptokens", "tuetoken") and re.search("pre.tokenizer", error.reason):
                continue  # of their own splitters, they say which pattern they do not know
            if pattern == "deepseek" and re.search("3 split stages|pre_tokenizer", error.reason):
                continue
            raise
        assert [peer.encode(text) for text in TEXTS] == [expected.encode(text) for text in TEXTS]


@pytest.mark.corpus
@pytest.mark.parametrize("model", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("name", ["priority", *INSTALLED])
def test_the_ids_of_a_public_vocabulary_are_those_of_tiktoken(name: str, model: str) -> None:
    from harness.data import load_corpus, load_model

    public = load_model(model)
    peer, reference = impls.load(name, public), impls.load("tiktoken", public)
    texts = [*TEXTS, *islice(load_corpus("samples").documents(), 60)]
    expected = [reference.encode(text, disallowed_special=()) for text in texts]
    assert [peer.encode(text, disallowed_special=()) for text in texts] == expected
    assert peer.encode_batch(texts, 2, disallowed_special=()) == expected
    assert [peer.decode_bytes(ids).decode() for ids in expected] == texts


@pytest.mark.parametrize("name", ENCODERS)
def test_bytes_that_are_no_utf8_come_back_or_are_refused(name: str, peer_of: PeerOf, ranked: Model) -> None:
    peer = peer_of(name, ranked)(ranked)
    assert peer.encode_bytes("bad cab é".encode()) == peer.encode("bad cab é")
    for data in (b"bad cab \xff", b"\xe8\xaa cab", b"\xed\xa0\x80", b"ab\0\xc3"):
        if name in TAKES_BYTES:
            ids = peer.encode_bytes(data)
            assert type(ids) is list
            assert peer.decode_bytes(ids) == data
        else:
            with pytest.raises(Unsupported, match=f"^{name}: takes texts only"):
                peer.encode_bytes(data)


def test_bpe_qwen_runs_models_of_its_pattern_in_every_form(peer_of: PeerOf, pairs: Model) -> None:
    with pytest.raises(Unsupported, match="splits by Qwen's pattern only"):
        peer_of("bpe-qwen")(pairs)
    model = impls.train("priority", CORPUS, TrainingSpec(vocab_size=290, pattern="qwen")).model
    peer, expected = peer_of("bpe-qwen")(model), impls.load("priority", model)
    lists = [expected.encode(text) for text in TEXTS]
    assert [peer.encode(text) for text in TEXTS] == lists
    assert [peer.encode_array(text).tolist() for text in TEXTS] == lists
    assert [peer.count(text) for text in TEXTS] == list(map(len, lists))
    assert peer.encode_batch(TEXTS, 1) == peer.encode_batch(TEXTS, 2) == lists
    assert [peer.decode(ids) for ids in lists] == TEXTS


def test_quicktok_runs_qwens_vocabulary_where_the_model_normalises(
    peer_of: PeerOf, ranked: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = peer_of("quicktok", ranked)
    known = dataclasses.replace(KNOWN[digest_of(ranked.id_by_token)], name="qwen")
    monkeypatch.setitem(KNOWN, digest_of(ranked.id_by_token), known)
    with pytest.raises(Unsupported, match="normalises by NFC"):
        adapter(ranked)
    assert adapter(ranked.with_(normalization="nfc")).encode("abc") == impls.load("priority", ranked).encode("abc")


def test_a_model_looked_up_otherwise_is_refused_where_joined_bytes_are_looked_up(peer_of: PeerOf) -> None:
    bytes_alone = tuple(bytes([byte]) for byte in range(256))
    twice = Model(tokens=(*bytes_alone, b"aa", b"aaa"), merges=((97, 97), (97, 256)))
    with pytest.raises(Unsupported, match="it looks joined bytes up, which gives other ids here"):
        peer_of("riptoken")(twice)
    with pytest.raises(Unsupported, match="this model has 2 split stages"):
        peer_of("riptoken")(Model(tokens=bytes_alone, pattern=(r"\s+", r"\S+")))


def test_bpe_openai_says_that_a_text_is_too_long(peer_of: PeerOf, ranked: Model) -> None:
    peer = peer_of("bpe-openai", ranked)(ranked)
    long = "a" * 1_000_000
    for encode in (peer.encode, peer.encode_array, lambda text: peer.encode_batch([text, text], 2)):
        with pytest.raises(Unsupported, match="refuses long texts: Input too long"):
            encode(long)


def test_fastokens_follows_the_bound_of_the_other_libraries(
    peer_of: PeerOf, ranked: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    for given, bound in ((None, "3"), ("5", "5")):
        monkeypatch.setenv("RAYON_NUM_THREADS", "3")
        monkeypatch.setenv("FASTOKENS_BPE_THREADS", "")
        if given is None:
            monkeypatch.delenv("FASTOKENS_BPE_THREADS")
        else:
            monkeypatch.setenv("FASTOKENS_BPE_THREADS", given)
        peer_of("fastokens", stand_in=True)(ranked)
        assert os.environ["FASTOKENS_BPE_THREADS"] == bound


def test_tokens_that_no_lower_ranks_make_are_refused_where_only_merges_are_known(peer_of: PeerOf) -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"abcd")
    model = Model(tokens=tokens, pattern=NAMED["gpt2"], merge_rule="concatenation")
    for name in ("tokie", "iree-tokenizer", "ffbpe"):
        with pytest.raises(Unsupported, match=r"b'abcd'"):
            peer_of(name)(model)
    for name in ("fastokens", "splintr", "gigatoken"):
        assert peer_of(name, stand_in=True)(model).encode("xabcd") == [120, 97, 98, 99, 100]
        with suppress(Unsupported):  # the libraries themselves may refuse such a token
            assert peer_of(name)(model).encode("abcd") == [256]


def test_a_gap_in_the_ids_is_refused_where_tokens_are_numbered_without(peer_of: PeerOf) -> None:
    model = Model(tokens=(*(bytes([byte]) for byte in range(256)), None, b"ab"), merges=((97, 98),))
    with pytest.raises(Unsupported, match="has none with the id 256"):
        peer_of("tokie")(model.with_(pattern=NAMED["gpt2"]))


def test_what_a_library_raises_or_panics_with_on_loading_names_the_reason() -> None:
    class PanicException(BaseException):
        pass

    for error in (PanicException("left: 3\nright: 2"), ValueError("left: 3"), RuntimeError("left: 3")):
        with pytest.raises(Unsupported, match=r"^x: it refuses the model: left: 3$"), loading("x"):
            raise error
    for passed in (KeyboardInterrupt(), OSError("disk full"), MemoryError(), UnknownId(1, 2)):
        with pytest.raises(type(passed)), loading("x"):
            raise passed
