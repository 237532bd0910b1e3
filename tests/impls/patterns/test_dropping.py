"""Patterns that drop text: every implementation drops the same, as the libraries do."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
import tiktoken
from every_form import every_form
from refusals import refused

import impls
from impls import Model, TrainingSpec, UnknownSymbol, Unsupported
from impls.core.text.patterns import Splitter
from impls.core.text.stages import DROPS_MATCHES, DROPS_REST, drops_text
from impls.formats import load, save
from impls.formats.tiktoken_ranks import ranks_of

STAGES = [
    (DROPS_REST + r"\p{L}+",), (DROPS_REST + r"a|b+",), (DROPS_MATCHES + r"\s",), (DROPS_MATCHES + r"ab|ba",),
    (r"\s|\S+", DROPS_MATCHES + "a", DROPS_REST + "[^c]+"),
]  # fmt: skip
IMPLEMENTATIONS = ["wordcount", "priority", "bytelevel", "compiled", "tokenizers", "sentencepiece"]


def some_texts(chance: random.Random) -> list[str]:
    lengths = [0, 1, 2, 3, 10, 60, 300]
    return ["".join(chance.choices("aabbc é日 \n", k=chance.choice(lengths))) for _ in range(20)]


@cache
def trained(stages: tuple[str, ...], alphabet: str = "bytes") -> Model:
    texts = some_texts(random.Random(5))
    spec = TrainingSpec(vocab_size=300 if alphabet == "bytes" else 60, alphabet=alphabet)  # type: ignore[arg-type]
    return impls.get("priority").train_model(texts, spec).with_(pattern=stages, merge_counts=None)


def test_what_is_dropped_is_what_the_stage_says() -> None:
    assert Splitter((DROPS_REST + "ab|c",)).split("xabcab y") == ["ab", "c", "ab"]
    assert Splitter((DROPS_MATCHES + "ab|c",)).split("xabyabc") == ["x", "y"]
    assert not drops_text(("ab|c",))


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_every_implementation_gives_the_ids_of_what_is_left(name: str, stages: tuple[str, ...]) -> None:
    for alphabet in ("bytes",) if name == "bytelevel" else ("bytes", "chars"):
        model = trained(stages, alphabet)
        tokenizer, reference = impls.load(name, model), impls.load("naive", model)
        texts = some_texts(random.Random(f"{name}{stages}"))
        expected = [reference.encode(text) for text in texts]
        assert every_form(tokenizer, texts) == expected
        assert [tokenizer.count(text) for text in texts] == [len(ids) for ids in expected]
        assert tokenizer.decode(expected[0]) == "".join(Splitter(stages).split(texts[0]))


@pytest.mark.parametrize("pattern", [r"\w+", r"a|b+", r"\S+\s"])
def test_tiktoken_drops_what_we_drop(pattern: str) -> None:
    model = trained((DROPS_REST + pattern,))
    theirs = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks_of(model), special_tokens={})
    for text in some_texts(random.Random(pattern)):
        for name in ("naive", "compiled", "tiktoken"):
            assert impls.load(name, model).encode(text) == theirs.encode(text)
    with pytest.raises(Unsupported, match="encodes what the pattern matches"):
        impls.load("tiktoken", model.with_(pattern=(DROPS_MATCHES + pattern,)))


@pytest.mark.parametrize("name", ["naive", "wordcount", "priority", "compiled", "tokenizers"])
def test_what_is_dropped_is_not_learned_from(name: str) -> None:
    for stage in (DROPS_REST + r"[ab]+", DROPS_MATCHES + r"[^ab]"):
        spec = TrainingSpec(vocab_size=280, pattern=stage, base_order="gpt2")
        texts = some_texts(random.Random(stage))
        left = ["".join(c if c in "ab" else "\0" for c in text).replace("\0", " ") for text in texts]
        expected = impls.get("naive").train_model([part for text in left for part in text.split()], spec)
        learned = impls.get(name).train_model(texts, spec)
        assert learned.merges == expected.merges
        assert len(learned.merges) > 10


@pytest.mark.parametrize("name", ["naive", "compiled", "tokenizers"])
def test_an_unknown_character_is_named_by_its_place_in_the_whole_text(name: str) -> None:
    model = Model(tokens=(b"a", b"b"), alphabet="chars", pattern=(DROPS_MATCHES + r"\s",))
    tokenizer = impls.load(name, model)
    assert tokenizer.encode("a  b \n a") == [0, 1, 0]
    raised = refused(UnknownSymbol, None, tokenizer.encode, "a  b \n xa")
    assert (raised.character, raised.offset) == ("x", 7)


@pytest.mark.parametrize("stages", STAGES)
def test_such_a_model_is_lossy_and_kept_by_files(stages: tuple[str, ...], tmp_path: Path) -> None:
    model = trained(stages)
    assert model.lossy == "text that the pattern leaves out is dropped"
    for format in ("bpebench", "tokenizer.json"):
        path = tmp_path / format
        save(model, path, format)
        assert load(path) == model
