"""On trained models all exact implementations give the same ids, and decoding restores the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import impls
from impls import Model, TrainingSpec, UnknownSymbol
from impls.core.text.patterns import NAMED

EXACT = ["naive", "wordcount", "priority", "bytelevel", "backtracking"]
EXACT_ON_CHARACTERS = ["naive", "wordcount", "priority", "backtracking", "compiled"]
TIES = ["smallest", "first", "largest", "shortest"]

letters = st.text(alphabet="abc ", max_size=40)
any_text = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)
corpora = st.lists(letters.filter(str.strip), min_size=1, max_size=4)
specs = {
    "ties": st.sampled_from(TIES),
    "max_token_bytes": st.sampled_from([None, None, 3]),
    "special_ids": st.sampled_from(["first", "last"]),
    "special_tokens": st.sampled_from([(), ("<s>", "ab", "abc")]),
    "pattern": st.sampled_from(["none", "gpt2"]),
}


@given(texts=corpora, options=st.fixed_dictionaries(specs), text=letters | any_text)
@settings(max_examples=50, deadline=None)
def test_on_a_trained_model_of_bytes_all_give_the_same_ids_and_the_text_back(
    texts: list[str], options: dict[str, object], text: str
) -> None:
    model = impls.get("priority").train_model(texts, TrainingSpec(vocab_size=290, **options))  # type: ignore[arg-type]
    encoded = {name: impls.load(name, model).encode(text, disallowed_special=()) for name in EXACT}
    assert len(set(map(tuple, encoded.values()))) == 1, encoded
    assert impls.load("naive", model).decode(encoded["naive"]) == text


@given(texts=corpora, options=st.fixed_dictionaries(specs), text=letters, end=st.sampled_from([None, "</w>"]))
@settings(max_examples=50, deadline=None)
def test_on_a_trained_model_of_characters_all_give_the_same_ids(
    texts: list[str], options: dict[str, object], text: str, end: str | None
) -> None:
    spec = TrainingSpec(vocab_size=60, alphabet="chars", end_of_word=end, unknown="<unk>", **options)  # type: ignore[arg-type]
    model = impls.get("priority").train_model(texts, spec)
    encoded = {name: impls.load(name, model).encode(text, disallowed_special=()) for name in EXACT_ON_CHARACTERS}
    assert len(set(map(tuple, encoded.values()))) == 1, encoded
    known = not text or model.unknown_id not in encoded["naive"]
    if end is None and known:
        assert impls.load("naive", model).decode(encoded["naive"]) == text


@given(texts=corpora, known=st.integers(0, 40), rest=letters)
@settings(max_examples=25, deadline=None)
def test_without_an_unknown_token_all_name_the_same_character(texts: list[str], known: int, rest: str) -> None:
    model = impls.get("naive").train_model(texts, TrainingSpec(vocab_size=60, alphabet="chars"))
    beginning = texts[0][:known]
    for name in [*EXACT_ON_CHARACTERS, "greedy"]:
        with pytest.raises(UnknownSymbol) as caught:
            impls.load(name, model).encode(f"{beginning}ж{rest}")
        assert (caught.value.character, caught.value.offset) == ("ж", len(beginning))


@given(texts=corpora, text=letters)
@settings(max_examples=25, deadline=None)
def test_on_a_trained_model_joined_bytes_decide_as_the_listed_pairs_do(texts: list[str], text: str) -> None:
    pairs = impls.get("naive").train_model(texts, TrainingSpec(vocab_size=290, pattern="gpt2"))
    joined = Model(tokens=pairs.tokens, pattern=pairs.pattern, merge_rule="concatenation")
    for name in EXACT:
        assert impls.load(name, joined).encode(text) == impls.load(name, pairs).encode(text)


@pytest.mark.parametrize("pattern", sorted(NAMED))
def test_empty_text_nul_and_line_ends_under_every_pattern(pattern: str) -> None:
    text = "a\x00b\r\n\r\n \t\x00İstanbul’da 5'te\n"
    model = impls.get("priority").train_model([text], TrainingSpec(vocab_size=270, pattern=pattern))
    for name in (*EXACT, "greedy", "compiled"):
        tokenizer = impls.load(name, model)
        assert (tokenizer.encode(""), tokenizer.decode([]), tokenizer.encode("\x00")) == ([], "", [0])
        assert tokenizer.decode(tokenizer.encode(text)) == text
