"""Models of the families reach the peers: SentencePiece's rules, gaps between ids, tokens no lower ranks make."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import sentencepiece
from tokenizers import Tokenizer as HuggingFace

import impls
from impls import Model, Tokenizer
from impls.core.text.patterns import NAMED
from impls.formats import load
from impls.peers import conversion

PeerOf = Callable[..., type[Tokenizer]]
CORPUS = [
    "low lower lowest newer wider İstanbul'da hızlı koşan",
    "the cat sat on the mat  12½ 你好 def f(x):\n  return",
] * 8
TEXTS = ["", " ", "  a ", "the lower İstanbul", "x\n\ny", "\u2581a 你好 👍", "\x00", "<s> a", " 1", "newest  hats"]
BYTES = tuple(bytes([byte]) for byte in range(256))


def trained(**options: object) -> bytes:
    target = io.BytesIO()
    settings = {
        "model_type": "bpe", "normalization_rule_name": "identity", "byte_fallback": True, "vocab_size": 330,
        "remove_extra_whitespaces": False, "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2,
    }  # fmt: skip
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=target, **settings | options)
    return target.getvalue()


def read(content: bytes, folder: Path) -> Model:
    path = folder / "some.model"
    path.write_bytes(content)
    return load(path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, sentencepiece.SentencePieceProcessor]:
    """A model with SentencePiece's plain rules, and its library over the very file."""
    content = trained()
    library = sentencepiece.SentencePieceProcessor(model_proto=content)
    return read(content, tmp_path_factory.mktemp("plain")), library


def test_both_forms_of_sentencepiece_s_rules_give_its_ids(
    plain: tuple[Model, sentencepiece.SentencePieceProcessor],
) -> None:
    model, library = plain
    assert conversion.has_plain_rules(model)
    expected = [library.encode(text) for text in TEXTS]
    again = sentencepiece.SentencePieceProcessor(model_proto=conversion.sentencepiece_file(model))
    assert [again.encode(text) for text in TEXTS] == expected
    content = conversion.sentencepiece_json("peer", model)
    hugging_face = HuggingFace.from_str(content.decode())
    assert [hugging_face.encode(text, add_special_tokens=False).ids for text in TEXTS] == expected
    ids = sorted(json.loads(content)["model"]["vocab"].values())
    assert ids == list(range(len(ids))), "libraries that number tokens densely can read it"


@pytest.mark.parametrize(
    "options",
    [
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": True},
        {"normalization_rule_name": "nmt_nfkc"},
        {"byte_fallback": False, "vocab_size": 60},
    ],
)
def test_rarer_rules_of_sentencepiece_are_left_to_its_own_library(options: dict[str, object], tmp_path: Path) -> None:
    assert not conversion.has_plain_rules(read(trained(**options), tmp_path))
    assert not conversion.has_plain_rules(Model(tokens=BYTES))


@pytest.mark.parametrize("name", ["fastokens", "gigatoken", "kitoken", "splintr"])
def test_a_peer_runs_sentencepiece_s_rules_in_every_form(
    name: str, peer_of: PeerOf, plain: tuple[Model, sentencepiece.SentencePieceProcessor]
) -> None:
    model, library = plain
    peer = peer_of(name, model)(model)
    expected = [library.encode(text) for text in TEXTS]
    assert [peer.encode(text, disallowed_special=()) for text in TEXTS] == expected
    assert [peer.encode_array(text, disallowed_special=()).tolist() for text in TEXTS] == expected
    for threads in (1, 2, None):
        assert peer.encode_batch(TEXTS, threads, disallowed_special=()) == expected
        flat, borders = peer.encode_ragged(TEXTS, threads, disallowed_special=())
        assert [flat[a:b].tolist() for a, b in pairwise(borders)] == expected
    reference = impls.load("naive", model)
    for ids in expected:
        assert peer.decode(ids) == reference.decode(ids)
        assert peer.decode_bytes(ids) == reference.decode_bytes(ids)
    assert peer.encode("a\ud83d") == reference.encode("a\ud83d")


def test_a_token_no_lower_ranks_make_is_listed_by_every_way_to_join_it() -> None:
    model = Model(tokens=(*BYTES, b"abc", b"ab"), merge_rule="concatenation", pattern=NAMED["gpt2"])
    with pytest.raises(impls.Unsupported, match="cannot be made"):
        conversion.tokenizer_json("peer", model)
    hugging_face = HuggingFace.from_str(conversion.tokenizer_json("peer", model, every_way=True).decode())
    for text in ("abc", "ab", "xabc abcab"):
        expected = impls.load("priority", model).encode(text)
        assert hugging_face.encode(text, add_special_tokens=False).ids == expected


def test_ids_without_a_token_get_one_that_no_text_holds() -> None:
    model = Model(
        tokens=(None, None, *BYTES, None, b"ab"), merge_rule="concatenation", pattern=NAMED["gpt2"], normalization=None
    )
    content = conversion.tokenizer_json("peer", model, dense=True)
    vocabulary = json.loads(content)["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(260))
    hugging_face = HuggingFace.from_str(content.decode())
    for text in (" 0", "0 1", "ab  258", *(token for token, i in vocabulary.items() if i in (0, 1, 258))):
        expected = impls.load("priority", model).encode(text)
        assert hugging_face.encode(text, add_special_tokens=False).ids == expected


@pytest.mark.parametrize("name", ["fastokens", "gigatoken"])
def test_such_models_reach_the_fastest_peers(name: str, peer_of: PeerOf) -> None:
    underived = Model(tokens=(*BYTES, b"abc", b"ab"), merge_rule="concatenation", pattern=NAMED["gpt2"])
    gaps = Model(tokens=(None, *BYTES, None, b"ab"), merge_rule="concatenation", pattern=NAMED["gpt2"])
    for model in (underived, gaps):
        peer, reference = peer_of(name, model)(model), impls.load("priority", model)
        for text in ("abc", "ab", "xabc abcab", " 0"):
            assert peer.encode(text) == reference.encode(text)
