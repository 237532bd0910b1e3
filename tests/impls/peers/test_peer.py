"""What every peer has from its base and from the conversion of models, without any library of a peer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from importlib.metadata import requires
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from random_models import BYTES
from refusals import refused
from sentencepiece import SentencePieceProcessor
from sentencepiece_files import trained_file
from tokenizers import Tokenizer as HuggingFace

import impls
from harness.targets.availability import availability
from impls import Missing, Model, TrainingSpec, UnknownId, Unsupported
from impls.core.text.patterns import NAMED
from impls.formats import load
from impls.peers import PEERS, conversion
from impls.peers.peer import Calls, Peer, library, on_several
from impls.production.libraries import environment, loading
from impls.registry import plugins

TEXTS = ["low lower lowest newer wider İstanbul'da", "the cat sat on the mat  12½ 你好 def f(x):\n  return"]


@pytest.fixture(scope="module")
def pairs() -> Model:
    spec = TrainingSpec(vocab_size=290, special_tokens=("<s>",))
    return impls.train("priority", ["a bad cab, a bad cab's dad", "şıırı 👍 ab  1234"], spec).model


# --- the base --------------------------------------------------------------------------------------------------------


class PanicException(BaseException):
    """What a Rust library raises when it panics."""


class Asked(Peer):
    """A peer whose library is `priority`; it notes which of its calls were used."""

    name = "asked"
    calls: ClassVar[list[str]] = []
    fails: type[BaseException] | None = None

    def _load(self, model: Model) -> Calls:
        inner = impls.load("priority", model)

        def noted(call: str, function: Any, *arguments: Any) -> Any:
            self.calls.append(call)
            if self.fails is not None and call == "decode_bytes":
                raise self.fails
            return function(*arguments)

        return Calls(
            encode=partial(noted, "encode", lambda text: inner.encode_ordinary(text.encode().decode())),
            array=partial(
                noted, "array", lambda text: np.array(inner.encode_ordinary(text.encode().decode()), np.uint32)
            ),
            batch=on_several(partial(noted, "batch", inner.encode_batch)),
            count=partial(noted, "count", lambda text: len(inner.encode_ordinary(text.encode().decode()))),
            encode_bytes=partial(noted, "encode_bytes", list),
            decode=partial(noted, "decode", lambda ids: inner.decode(ids)),
            decode_bytes=partial(noted, "decode_bytes", lambda ids: inner.decode_bytes(ids)),
        )

    def by(self, method: str, *arguments: Any) -> tuple[Any, list[str]]:
        """What a method returns, and which calls of the library it needed."""
        self.calls.clear()
        found = getattr(self, method)(*arguments)
        return found, list(dict.fromkeys(self.calls))


def test_the_librarys_calls_are_used_where_they_fit_and_the_interfaces_elsewhere(pairs: Model) -> None:
    peer, texts = Asked(pairs), ["a bad cab", "", "dad"]
    lists = [impls.load("priority", pairs).encode(text) for text in texts]
    for threads, calls in ((1, ["encode"]), (2, ["batch"])):
        assert peer.by("encode_batch", texts, threads) == (lists, calls)
        (ids, offsets), used = peer.by("encode_ragged", texts, threads)
        assert ([ids[a:b].tolist() for a, b in pairwise(offsets)], used) == (lists, calls)
    assert peer.by("encode_array", "dad")[1] == ["array"]
    assert peer.by("count", "a bad cab") == (len(lists[0]), ["count"])
    assert peer.by("count", "a\ud83d")[0] == len(impls.load("priority", pairs).encode("a\ufffd"))
    assert peer.by("encode_bytes", b"a\xff") == ([97, 255], ["encode_bytes"])
    assert peer.by("decode", lists[0]) == (texts[0], ["decode"])
    assert peer.by("decode_bytes", lists[0]) == (texts[0].encode(), ["decode_bytes"])
    refused(UnknownId, None, peer.decode_bytes, [97, 10**6])
    half = [pairs.id_by_token[b"\xc5"]]
    assert (peer.decode(half), peer.decode(half, "ignore")) == ("\ufffd", "")


@pytest.mark.parametrize("error", [ValueError, PanicException, KeyboardInterrupt])
def test_a_decoder_may_fail(pairs: Model, error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asked, "fails", error)
    if error is KeyboardInterrupt:
        refused(KeyboardInterrupt, None, Asked(pairs).decode_bytes, [97])
    else:
        assert Asked(pairs).decode_bytes(iter([97])) == b"a"


def test_a_decoder_that_skips_unknown_ids_gets_none() -> None:
    class Skips(Peer):
        name = "skips"

        def _load(self, model: Model) -> Calls:
            return Calls(encode=list, decode_bytes=lambda ids: b"asked", skips_unknown=True)  # type: ignore[arg-type]

    peer = Skips(Model(tokens=(*BYTES, None, b"ab"), merge_rule="concatenation"))
    assert (peer.decode_bytes([97]), peer.decode_bytes([]), peer.decode_bytes([257])) == (b"asked", b"", b"ab")
    for unknown in (256, -1, 2**40):
        refused(UnknownId, None, peer.decode_bytes, [97, unknown])


# --- packages --------------------------------------------------------------------------------------------------------


def test_a_peer_is_listed_with_its_package_but_neither_imported_nor_used_unless_named() -> None:
    code = "import impls, sys; impls.names(); print([m for m in sys.modules if m.startswith('impls.peers')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("[]\n", "")
    modules = {name: plugins()[name].module for name in impls.names() if name not in impls.default_names()}
    assert PEERS.keys() == {name for name, module in modules.items() if module.startswith("impls.peers.")}
    assert all(peer["summary"] for peer in PEERS.values())
    extra = [line for line in requires("bpebench") or [] if line.endswith(("extra == 'peers'", 'extra == "peers"'))]
    assert {line.partition("==")[0] for line in extra} == {peer["package"] for peer in PEERS.values()}
    for name, peer in PEERS.items():
        missing = availability(name).state.startswith("missing")
        with pytest.raises(Missing, match=peer["package"]) if missing else nullcontext():
            assert impls.get(name).name == name


def test_a_library_that_needs_something_else_names_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "whole_package"
    package.mkdir()
    (package / "__init__.py").write_text("import not_there.at_all\n")
    (package / "inner.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    alone = {"package": "the-package", "without_package": True}
    monkeypatch.setitem(PEERS, "peer", alone | {"module": "whole_package.inner"})
    assert library("peer").answer == 42
    for module, entry, absent in (
        ("whole_package", {"package": "the-package"}, "not_there"),
        ("nowhere.at_all", {"package": "the-package"}, "the-package"),
        ("whole_package.outer", alone, "the-package"),
        ("nowhere.inner", alone, "the-package"),
    ):
        monkeypatch.setitem(PEERS, "peer", entry | {"module": module})
        raised = refused(Missing, None, library, "peer")
        assert raised.package == absent


# --- conversion ------------------------------------------------------------------------------------------------------


def ids_of(content: bytes, texts: Iterable[str]) -> list[list[int]]:
    hugging_face = HuggingFace.from_str(content.decode())
    return [hugging_face.encode(text, add_special_tokens=False).ids for text in texts]


def test_both_forms_of_a_model_give_its_ids_and_hold_no_special_token(pairs: Model) -> None:
    ranked = pairs.with_(merges=(), merge_counts=None, merge_rule="concatenation", normalization="nfc")
    text = "a bad cab's dad şıırı 👍 <s> 1234"
    ids = impls.load("priority", pairs).encode(text, disallowed_special=())
    for model in (pairs, ranked):
        document = conversion.tokenizer_json("peer", model)
        assert ids_of(document, [text]) == [ids]
        assert b"<s>" not in document
        assert b"NFC" not in document
    with conversion.file_of(conversion.rank_file(ranked), "here/ranks") as path:
        assert load(Path(path), pattern="gpt2").tokens == ranked.tokens
    assert not Path(path).parent.exists()


def test_a_rank_file_is_used_only_for_ranks_and_named_patterns(pairs: Model) -> None:
    ranked = pairs.with_(merges=(), merge_counts=None, merge_rule="concatenation")
    assert not conversion.has_ranks(pairs)
    for pattern, has_ranks in (((r"\w+|\W+",), False), (NAMED["deepseek"], False), (NAMED["cl100k-0.14"], True)):
        assert conversion.has_ranks(ranked.with_(pattern=pattern)) is has_ranks
    assert conversion.plain_pattern(ranked.with_(pattern=NAMED["cl100k-0.14"])) == NAMED["cl100k"]
    assert conversion.plain_pattern(ranked.with_(pattern=NAMED["turkish"])) == NAMED["turkish"]
    with pytest.raises(Unsupported, match=r"^peer: as tokenizer\.json: "), loading("peer"):
        conversion.tokenizer_json("peer", Model(tokens=BYTES, pattern=(r"(?s:.)",)))


def test_tokens_that_no_merge_makes_and_ids_without_a_token() -> None:
    model = Model(tokens=(None, *BYTES, b"abc", b"ab"), merge_rule="concatenation", pattern=NAMED["gpt2"])
    refused(Unsupported, "cannot be made", conversion.tokenizer_json, "peer", model)
    refused(Unsupported, "b'abc'", conversion.listed_merges, "peer", model)
    content = conversion.any_json("peer", model)
    vocabulary = json.loads(content)["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(259))
    filler = next(token for token, i in vocabulary.items() if i == 0)
    texts = ["abc", "ab", "xabc abcab", " 0", filler]
    assert ids_of(content, texts) == [impls.load("priority", model).encode(text) for text in texts]


def test_merges_after_bytes_are_those_of_a_model_numbered_so(pairs: Model) -> None:
    merges, id_of_byte = conversion.merges_after_bytes("peer", pairs)
    assert (tuple(merges), id_of_byte) == (pairs.merges, list(range(256)))
    with pytest.raises(Unsupported, match="numbers bytes first"):
        conversion.merges_after_bytes("peer", Model(tokens=(b"ab", *BYTES), merges=((98, 99),)))


@pytest.mark.parametrize(
    "options",
    [
        {}, {"add_dummy_prefix": False}, {"remove_extra_whitespaces": True}, {"normalization_rule_name": "nmt_nfkc"},
        {"byte_fallback": False, "vocab_size": 60},
    ],
)  # fmt: skip
def test_only_the_plain_rules_of_sentencepiece_are_left_to_a_library(options: dict[str, Any]) -> None:
    settings: dict[str, Any] = {
        "normalization_rule_name": "identity", "byte_fallback": True, "vocab_size": 330,
        "remove_extra_whitespaces": False,
    }  # fmt: skip
    content = trained_file(TEXTS * 8, **settings | options)
    model = load(Path("some.model"), content=content)
    assert conversion.has_plain_rules(model) is not bool(options)
    if not options:
        own = SentencePieceProcessor(model_proto=content)
        again = SentencePieceProcessor(model_proto=conversion.sentencepiece_file(model))
        document, texts = (conversion.sentencepiece_json(model), [*TEXTS, "", " ", "  a ", "x\ny", "\x00", "<s> a"])
        expected = [own.encode(text) for text in texts]
        assert [again.encode(text) for text in texts] == ids_of(document, texts) == expected
        ids = sorted(json.loads(document)["model"]["vocab"].values())
        assert ids == list(range(len(ids))), "libraries that number tokens densely can read it"


@pytest.mark.corpus
def test_a_vocabulary_is_public_by_its_ranks_and_its_pattern(pairs: Model) -> None:
    from harness.data import load_model

    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
        model = load_model(name)
        assert conversion.require_public("peer", model, [name]) == name
        assert conversion.public_vocabulary(model.with_(pattern=NAMED["turkish"])) is None
    for other in (pairs, model):
        refused(Unsupported, r"it has x, y$", conversion.require_public, "peer", other, ["x", "y"])


def test_an_environment_variable_is_set_for_the_while_and_bounds_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", "5")
    with environment("RAYON_NUM_THREADS", "7"):
        assert conversion.rayon_threads() == 7
    assert os.environ["RAYON_NUM_THREADS"] == "5"
    for nothing in ("", "0", "many"):
        monkeypatch.setenv("RAYON_NUM_THREADS", nothing)
        assert 1 <= conversion.rayon_threads() <= (os.cpu_count() or 1)
    monkeypatch.delenv("RAYON_NUM_THREADS")
    with environment("RAYON_NUM_THREADS", "7"):
        pass
    assert "RAYON_NUM_THREADS" not in os.environ
