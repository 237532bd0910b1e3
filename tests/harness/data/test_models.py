"""Models by name: published vocabularies (fetched), those trained here, files, and unknown names."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused

import impls
from harness.data import (
    DataError,
    available_models,
    describe_models,
    load_model,
    model_names,
    trained_model_names,
    trained_model_path,
)
from harness.data.catalogue import vocabularies
from impls.core.errors import UnknownName

_PUBLISHED = list(vocabularies())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    return tmp_path


def _a_model() -> impls.Model:
    return impls.Model(tokens=(*(bytes([byte]) for byte in range(256)), b"ab"), merges=((97, 98),))


@pytest.mark.corpus
def test_the_families_have_their_own_rules() -> None:
    ends = {"r50k_base": 50_256, "cl100k_base": 100_257, "o200k_base": 199_999, "qwen": 151_643, "qwen3.6": 248_044}
    assert {name: load_model(name).special_tokens["<|endoftext|>"] for name in ends} == ends
    small, large = load_model("gpt2"), load_model("p50k_base")
    assert (small.digest, large.tokens[:50_256]) == (load_model("r50k_base").digest, small.tokens[:50_256])
    assert large.tokens[50_256:] == (None, *(b" " * n for n in range(2, 26)))
    llama3 = load_model("llama3")
    assert len(llama3.recovered_merges[1]) == 678
    assert (llama3.n_tokens, llama3.special_tokens["<|eot_id|>"]) == (128_256, 128_009)
    tekken = load_model("tekken")
    assert (tekken.id_offset, tekken.vocab_size, tekken.special_tokens["[INST]"]) == (1000, 131_072, 3)
    deepseek = load_model("deepseek")
    assert (len(deepseek.pattern), len(deepseek.added_tokens), deepseek.merge_rule) == (3, 53, "pairs")
    qwen = load_model("qwen")
    assert load_model("qwen-nfc") == qwen.with_(normalization="nfc")
    newer = load_model("qwen3.6")
    assert len(newer.recovered_merges[1]) == 232
    ids = impls.load("compiled", newer).encode("हिन्दी भाषा")
    assert ids == [215989, 150127, 177453, 181651, 149050, 23121]
    whisper = load_model("whisper")
    assert (whisper.tokens[-1], whisper.special_tokens["<|tr|>"]) == ("场".encode(), 50_268)


@pytest.mark.corpus
def test_a_vocabulary_in_the_cache_is_available() -> None:
    for name in _PUBLISHED:
        model = load_model(name)
        assert name in available_models()
        assert vocabularies()[name].round_trip == model.round_trip, "as it is listed, so is it"


def test_without_a_cache_nothing_is_available_but_all_is_described(cache: Path) -> None:
    assert available_models() == []
    described = {row["name"]: row["cached"] for row in describe_models()}
    assert set(described) == {*_PUBLISHED, "gpt2", "whisper-multilingual"}
    assert not any(described[name] for name in _PUBLISHED)
    assert {row["name"]: row["about"] for row in describe_models()}["gpt2"] == "another name of r50k_base"


def test_a_model_kept_under_a_name_is_found_by_it(cache: Path) -> None:
    _a_model().save(trained_model_path("turkish-10k"))
    assert load_model("turkish-10k").digest == _a_model().digest
    assert trained_model_names() == ["turkish-10k"]
    assert available_models() == ["turkish-10k"]
    assert set(model_names()) == {*_PUBLISHED, "gpt2", "whisper-multilingual", "turkish-10k"}
    assert describe_models()[-1]["about"] == "trained here"


@pytest.mark.parametrize("name", ["qwen2", "llama4", "o200k"])
def test_an_unknown_model_is_answered_with_near_names_and_where_the_list_is(cache: Path, name: str) -> None:
    with pytest.raises(
        UnknownName, match=rf"unknown model '{name}'; did you mean .* known: r50k_base, .*see `bpebench list`"
    ):
        load_model(name)


@pytest.mark.parametrize("name", ["", "a/b", "../a", ".hidden", "a b", "gpt2", "o200k_base"])
def test_a_name_that_cannot_be_kept_is_refused(cache: Path, name: str) -> None:
    refused(DataError, r"cannot be a model's name|published vocabulary", trained_model_path, name)
