"""Peers are plug-ins: listed by name, imported when chosen, missing by the name of their package."""

from __future__ import annotations

import os
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from tokenizers import Tokenizer as HuggingFace

import impls
from impls import Missing, Model, TrainingSpec, Unsupported
from impls.core.text.patterns import NAMED
from impls.formats import load
from impls.peers import conversion
from impls.peers.peer import library
from impls.production.libraries import environment

PACKAGES = {
    "bpe-openai": "bpe-openai",
    "bpe-qwen": "bpe-qwen",
    "bpeasy": "bpeasy",
    "fastokens": "fastokens",
    "ffbpe": "ffbpe",
    "gigabpe": "gigabpe",
    "gigatoken": "gigatoken",
    "iree-tokenizer": "iree-tokenizer",
    "kitoken": "kitoken",
    "morpheme": "morpheme",
    "omnitoken": "omnitoken",
    "quicktok": "quicktok-v1",
    "riptoken": "riptoken",
    "rs-bpe": "rs-bpe",
    "rustbpe": "rustbpe",
    "snaptokens": "snaptokens",
    "splintr": "splintr-rs",
    "subword-nmt": "subword-nmt",
    "tokie": "tokie",
    "toktok": "toktok-rs",
    "tuetoken": "tuetoken",
    "wordchipper": "wordchipper",
}
BYTES = tuple(bytes([byte]) for byte in range(256))


@pytest.fixture(scope="module")
def pairs() -> Model:
    spec = TrainingSpec(vocab_size=290, special_tokens=("<s>",))
    return impls.train("priority", ["a bad cab, a bad cab's dad", "şıırı 👍 ab  1234"], spec).model


@pytest.mark.parametrize("name", PACKAGES)
def test_a_peer_is_listed_but_not_used_unless_named(name: str) -> None:
    assert name in impls.names()
    assert name not in impls.default_names()


@pytest.mark.parametrize("name", PACKAGES)
def test_a_peer_is_there_or_missing_by_its_package(name: str) -> None:
    try:
        peer = impls.get(name)
    except Missing as error:
        found = (error.implementation, error.package)
    else:
        found = (peer.name, PACKAGES[name])
        assert peer.kind == "peer"
        assert peer.summary
    assert found == (name, PACKAGES[name])


def test_listing_the_names_imports_no_library() -> None:
    import subprocess

    code = "import impls, sys; impls.names(); print([m for m in sys.modules if m.startswith('impls.peers')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_extra_pins_the_package_of_every_peer() -> None:
    extra = [line for line in requires("bpebench") or [] if "extra == 'peers'" in line or 'extra == "peers"' in line]
    pinned = {line.partition("==")[0] for line in extra}
    assert pinned == set(PACKAGES.values())


def test_a_library_that_needs_something_else_names_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "halfway_there.py").write_text("import not_there.at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    for module, absent in (("halfway_there", "not_there"), ("nowhere.at_all", "the-package")):
        with pytest.raises(Missing) as raised:
            library("peer", "the-package", module)
        assert raised.value.package == absent
    assert library("peer", "the-package", "json").dumps(1) == "1"


def test_a_module_is_loaded_without_the_package_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "whole_package"
    package.mkdir()
    (package / "__init__.py").write_text("import not_there\n")
    (package / "inner.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Missing):
        library("peer", "the-package", "whole_package.inner")
    assert library("peer", "the-package", "whole_package.inner", alone=True).answer == 42
    for absent in ("whole_package.outer", "no_such_package.inner"):
        with pytest.raises(Missing) as raised:
            library("peer", "the-package", absent, alone=True)
        assert raised.value.package == "the-package"


def test_both_forms_of_a_model_give_its_ids_and_hold_no_special_token(pairs: Model) -> None:
    ranked = pairs.with_(merges=(), merge_counts=None, merge_rule="concatenation", normalization="nfc")
    expected = impls.load("priority", pairs)
    text = "a bad cab's dad şıırı 👍 <s> 1234"
    ids = expected.encode(text, disallowed_special=())
    for model in (pairs, ranked):
        document = conversion.tokenizer_json("peer", model)
        hugging_face = HuggingFace.from_str(document.decode())
        assert hugging_face.encode(text, add_special_tokens=False).ids == ids
        assert b"<s>" not in document
        assert b"NFC" not in document
    assert conversion.has_ranks(ranked)
    with conversion.file_of(conversion.rank_file(ranked), "here/ranks") as path:
        assert load(Path(path), pattern="gpt2").tokens == ranked.tokens
    assert not Path(path).parent.exists()


def test_a_rank_file_is_used_only_for_ranks_and_named_patterns(pairs: Model) -> None:
    ranked = pairs.with_(merges=(), merge_counts=None, merge_rule="concatenation")
    assert not conversion.has_ranks(pairs)
    assert not conversion.has_ranks(ranked.with_(pattern=(r"\w+|\W+",)))
    assert not conversion.has_ranks(ranked.with_(pattern=NAMED["deepseek"]))
    assert conversion.has_ranks(ranked.with_(pattern=NAMED["cl100k-0.14"]))
    assert conversion.plain_pattern(ranked.with_(pattern=NAMED["cl100k-0.14"])) == NAMED["cl100k"]
    assert conversion.plain_pattern(ranked.with_(pattern=NAMED["turkish"])) == NAMED["turkish"]


def test_a_pattern_the_file_cannot_hold_is_a_reason() -> None:
    model = Model(tokens=BYTES, pattern=(r"(?s:.)",))
    with pytest.raises(Unsupported, match=r"^peer: as tokenizer\.json: "):
        conversion.tokenizer_json("peer", model)


def test_a_vocabulary_is_public_by_its_ranks_and_its_pattern(pairs: Model) -> None:
    ranked = pairs.with_(merges=(), merge_counts=None, merge_rule="concatenation")
    for model in (pairs, ranked):
        assert conversion.public_digest(model) is None
        with pytest.raises(Unsupported, match=r"it has o200k_base$"):
            conversion.require_public("peer", model, ["o200k_base"])


@pytest.mark.corpus
def test_the_public_vocabularies_are_known() -> None:
    from harness.data import load_model

    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
        model = load_model(name)
        assert conversion.require_public("peer", model, [name]) == name
        assert conversion.public_digest(model.with_(pattern=NAMED["turkish"])) is None
        with pytest.raises(Unsupported, match=r"it has x, y$"):
            conversion.require_public("peer", model, ["x", "y"])


def test_an_environment_variable_is_set_for_the_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_TEST", "before")
    with environment("BPEBENCH_TEST", "meanwhile"):
        assert os.environ["BPEBENCH_TEST"] == "meanwhile"
    assert os.environ["BPEBENCH_TEST"] == "before"
    monkeypatch.delenv("BPEBENCH_TEST")
    with pytest.raises(KeyError), environment("BPEBENCH_TEST", "meanwhile"):
        raise KeyError
    assert "BPEBENCH_TEST" not in os.environ


def test_the_threads_of_a_pool_are_the_variable_or_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", "7")
    assert conversion.rayon_threads() == 7
    for nothing in ("", "0", "many"):
        monkeypatch.setenv("RAYON_NUM_THREADS", nothing)
        assert 1 <= conversion.rayon_threads() <= (os.cpu_count() or 1)
