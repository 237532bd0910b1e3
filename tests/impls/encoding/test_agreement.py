"""Of a trained model all implementations name the same unknown character, and restore every kind of text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import impls
from impls import TrainingSpec, UnknownSymbol
from impls.core.text.patterns import NAMED

EXACT = ["naive", "wordcount", "priority", "bytelevel", "backtracking"]
EXACT_ON_CHARACTERS = ["naive", "wordcount", "priority", "backtracking", "compiled"]

letters = st.text(alphabet="abc ", max_size=40)
corpora = st.lists(letters.filter(str.strip), min_size=1, max_size=4)


@given(texts=corpora, known=st.integers(0, 40), rest=letters)
@settings(max_examples=25, deadline=None)
def test_without_an_unknown_token_all_name_the_same_character(texts: list[str], known: int, rest: str) -> None:
    model = impls.get("naive").train_model(texts, TrainingSpec(vocab_size=60, alphabet="chars"))
    beginning = texts[0][:known]
    for name in [*EXACT_ON_CHARACTERS, "greedy"]:
        with pytest.raises(UnknownSymbol) as caught:
            impls.load(name, model).encode(f"{beginning}ж{rest}")
        assert (caught.value.character, caught.value.offset) == ("ж", len(beginning))


@pytest.mark.parametrize("pattern", sorted(NAMED))
def test_empty_text_nul_and_line_ends_under_every_pattern(pattern: str) -> None:
    text = "a\x00b\r\n\r\n \t\x00İstanbul’da 5'te\n"
    model = impls.get("priority").train_model([text], TrainingSpec(vocab_size=270, pattern=pattern))
    for name in (*EXACT, "greedy", "compiled"):
        tokenizer = impls.load(name, model)
        assert (tokenizer.encode(""), tokenizer.decode([]), tokenizer.encode("\x00")) == ([], "", [0])
        assert tokenizer.decode(tokenizer.encode(text)) == text
