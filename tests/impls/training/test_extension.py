"""Going on from a model: what is learned, what is kept, and which models are refused."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hand_made import hand_made
from literal_training import as_bytes, literally, random_corpus, random_spec
from random_models import BYTES
from refusals import refused

import impls
from impls import InvalidModel, InvalidSpec, Model, TrainingSpec, Unsupported
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.core.training import base_symbols, corpus_pieces, first_base_id

TIES = ["smallest", "first", "largest", "shortest"]
EXTENDERS = ["naive", "priority", "wordcount", "compiled"]
every_extender = pytest.mark.parametrize("name", ["naive", "compiled"])


def extended(name: str, model: Model, texts: list[str], spec: TrainingSpec) -> Model:
    return impls.get(name).extend_model(model, texts, spec)


def trained(texts: list[str], **fields: Any) -> Model:
    return impls.get("priority").train_model(texts, TrainingSpec(**fields))


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_training_to_a_size_and_on_to_a_larger_one_is_training_at_once(alphabet: str, ties: str, fuzz: int) -> None:
    chance = random.Random(f"on {alphabet} {ties}")
    n_kept = n_new = 0
    for _ in range(12 * fuzz):
        texts = ["ab", *random_corpus(chance)]
        spec = random_spec(chance, ties, alphabet, texts)
        n_base = len(base_symbols(corpus_pieces(texts, spec), spec))
        at_once = impls.get("priority").train_model(texts, spec)
        least = n_base + len(spec.special_tokens) + (spec.unknown is not None)
        part = replace(spec, vocab_size=chance.randint(least, at_once.vocab_size))
        begun = impls.get("priority").train_model(texts, part)
        n_kept, n_new = n_kept + len(begun.merges), n_new + len(at_once.merges) - len(begun.merges)
        for name in EXTENDERS:
            model = extended(name, begun, texts, spec)
            assert model == at_once, (name, texts, part, spec)
    assert min(n_kept, n_new) > 2


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_going_on_with_another_corpus_is_what_the_specification_says(alphabet: str, ties: str, fuzz: int) -> None:
    chance = random.Random(f"another {alphabet} {ties}")
    n_new = n_unknown = 0
    for _ in range(18 * fuzz):
        first, texts = ["ab", *random_corpus(chance)], ["ab", *random_corpus(chance)]
        spec = random_spec(chance, ties, alphabet, first)
        begun = impls.get("priority").train_model(first, spec)
        base = base_symbols(corpus_pieces(first, spec), spec)
        assert list(begun.tokens[first_base_id(spec) :][: len(base)]) == base
        outside = {*base_symbols(corpus_pieces(texts, spec), spec)} - {*base}
        n_unknown += bool(outside)
        on = replace(
            spec, pattern=chance.choice(["none", "gpt2", "superword"]), vocab_size=begun.vocab_size + 20,
            min_count=chance.choice([1, 2]),
            max_token_bytes=chance.choice([None, 6]), max_merges=chance.choice([None, len(begun.merges) + 3]),
        )  # fmt: skip
        outside |= {*base_symbols(corpus_pieces(texts, on), on)} - {*base}
        if outside and on.unknown is None:
            for name in EXTENDERS:
                with pytest.raises(InvalidSpec, match=r"alphabet: the model to extend has no token for .*unknown"):
                    extended(name, begun, texts, on)
            continue
        expected, counts = literally(texts, on, base, as_bytes(begun))  # type: ignore[arg-type]
        n_new += len(expected)
        for name in EXTENDERS:
            model = extended(name, begun, texts, on)
            assert as_bytes(model) == [*as_bytes(begun), *expected], (name, first, texts, spec, on)
            assert list(model.merge_counts or ()) == [*(begun.merge_counts or ()), *counts], (name, first, texts, on)
            assert model.tokens[: len(begun.tokens)] == begun.tokens
    assert n_new > 0
    assert alphabet == "bytes" or n_unknown > 1


@every_extender
def test_special_and_unknown_tokens_are_kept_at_their_ids(name: str) -> None:
    begun = trained(["ab ab"], vocab_size=261, special_tokens=("<s>", "abc"), unknown="<unk>")
    assert begun.vocab_size == 261
    model = extended(name, begun, ["abc abc xy"], TrainingSpec(vocab_size=264))
    assert (model.special_tokens, model.unknown, model.unknown_id) == (begun.special_tokens, "<unk>", 260)
    assert model.tokens[:261] == (*begun.tokens, None, None, None)
    assert (model.vocab_size, model.merge_results[2:]) == (264, (261, 262, 263))
    assert b"abc" not in model.tokens, "it is the text of a special token"
    again = extended(name, model, ["xyz xyz"], TrainingSpec(vocab_size=266))
    assert again.tokens[:264] == model.tokens
    assert again.special_tokens == begun.special_tokens


@every_extender
def test_special_tokens_of_the_specification_replace_those_of_the_model(name: str) -> None:
    begun = trained(["ab ab"], vocab_size=260, special_tokens=("<s>", "</s>"))
    last = TrainingSpec(vocab_size=262, special_tokens=("<pad>",), unknown="<unk>")
    model = extended(name, begun, ["ab ab cd"], last)
    assert (dict(model.special_tokens), model.unknown_id) == ({"<pad>": 260}, 261)
    assert model.merge_results == (256, 257, 258, 259)
    with pytest.raises(InvalidSpec, match="special_ids: 'first' needs ids that the model to extend uses"):
        extended(name, begun, ["ab ab"], replace(last, special_ids="first"))
    begun = trained(["ab ab"], vocab_size=260, special_tokens=("<s>", "</s>"), special_ids="first")
    model = extended(name, begun, ["ab ab cd"], replace(last, special_ids="first"))
    assert (dict(model.special_tokens), model.unknown_id) == ({"<pad>": 0}, 1)
    assert model.tokens[:2] == (None, None)
    assert model.merge_results[:2] == (258, 259)
    with pytest.raises(InvalidModel, match="the special token 'ab' has id"):
        extended(name, begun, ["ab"], TrainingSpec(vocab_size=270, special_tokens=("ab",)))


@every_extender
def test_added_tokens_are_kept_and_new_ids_follow_them(name: str) -> None:
    begun = trained(["ab ab"], vocab_size=257).with_(added_tokens={"<x>": 300}, whole_token_flags={"<x>": ("lstrip",)})
    model = extended(name, begun, ["cd cd"], TrainingSpec(vocab_size=303, special_tokens=("<s>",)))
    assert (dict(model.added_tokens), dict(model.special_tokens)) == ({"<x>": 300}, {"<s>": 302})
    assert model.whole_token_flags == begun.whole_token_flags
    assert model.tokens[301] == b"cd"


@every_extender
def test_a_model_of_ranks_goes_on_as_that_of_its_merges(name: str) -> None:
    begun = trained(["low lower lowest newest"] * 2, vocab_size=266)
    ranks = begun.with_(merges=(), merge_counts=None, merge_rule="concatenation")
    spec = TrainingSpec(vocab_size=275, pattern="superword")
    texts = ["the lowest of the newest", "the lowest of the newer"]
    expected = extended("naive", begun, texts, spec)
    model = extended(name, ranks, texts, spec)
    assert model == expected.with_(merge_counts=None)
    assert len(model.merges) == 19


@every_extender
def test_texts_that_cannot_be_gone_on_with(name: str) -> None:
    begun = trained(["ab ab"], vocab_size=258)
    for texts in ([], [""], ["a", "ab"]):
        assert extended(name, begun, texts, TrainingSpec(vocab_size=400)) == begun
    with pytest.raises(InvalidSpec, match=r"TrainingSpec\.alphabet: must be 'bytes', as in the model to extend"):
        extended(name, begun, ["ab"], TrainingSpec(vocab_size=300, alphabet="chars"))
    begun = trained(["ab ab"], vocab_size=10, alphabet="chars", end_of_word="</w>", unknown="?", pattern="none")
    spec = TrainingSpec(vocab_size=20, alphabet="chars", end_of_word="</w>", pattern="none")
    refused(InvalidSpec, "'</w>' occurs in the corpus", extended, name, begun, ["a</w>b"], spec)
    with pytest.raises(InvalidSpec, match=r"TrainingSpec\.end_of_word: must be '</w>'"):
        extended(name, begun, ["ab"], replace(spec, end_of_word=None))
    refused(TypeError, "texts must be several texts, not one str", impls.get(name).extend_model, begun, "ab", spec)


def irregular(merges: str, **fields: Any) -> Model:
    return hand_made(merges, alphabet="bytes", **fields)


REFUSED = {
    "no derivation": (irregular("a+b", extra="xyz"), r"1 token with no derivation, the first is id 257"),
    "several derivations": (irregular("a+b b+c ab+c a+bc"), "several derivations"),
    "early": (irregular("ab+c a+b"), r"1 merge ranks before a merge that makes one of their parts"),
    "twice": (irregular("a+b a+b"), r"1 duplicate merge"),
    "lost": (irregular("a+b b+c a+bc"), r"1 token that no text is encoded to, the first is id 258 \(b'abc'"),
    "ranks": (Model(tokens=(*BYTES, b"abc"), merge_rule="concatenation"), "no derivation from lower ranks"),
    "whole pieces": (irregular("a+b", ignore_merges=True), "ignore_merges"),
    "normal form": (irregular("a+b", normalization="nfc"), r"it normalises texts \(nfc\), which training does not"),
    "rules": (
        Model(tokens=(b"a",), merge_rule="concatenation", alphabet="chars", sentencepiece=SentencePieceRules()),
        "its merges follow SentencePiece's rules",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_model_that_training_cannot_go_on_from_is_refused_in_a_line(why: str) -> None:
    model, problem = REFUSED[why]
    spec = TrainingSpec(vocab_size=400, alphabet=model.alphabet)
    for name in ("naive", "compiled"):
        with pytest.raises(Unsupported, match=f"^{name}: cannot continue from this model: .*{problem}") as refused:
            extended(name, model, ["abc"], spec)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", sorted({*impls.default_names()} - {*EXTENDERS, "bytelevel"}))
def test_the_others_refuse_by_name(name: str) -> None:
    begun = trained(["ab ab"], vocab_size=258)
    with pytest.raises(Unsupported, match=f"^{name}: does not continue from a given model; naive, priority,"):
        extended(name, begun, ["ab"], TrainingSpec(vocab_size=300))
