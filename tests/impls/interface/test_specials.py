"""Special tokens mean the same to every implementation: allowed, disallowed, or plain text."""

from __future__ import annotations

import pytest

import impls
from impls import SpecialToken, TrainingSpec

SPEC = TrainingSpec(vocab_size=256 + 6 + 3, special_tokens=("<s>", "<s>>", "</s>"))
MODEL = impls.get("naive").train_model(["hello hello world <s>"], SPEC)
S, LONGER, END = MODEL.special_tokens.values()
every_implementation = pytest.mark.parametrize(
    "name", ["naive", "greedy", "wordcount", "priority", "bytelevel", "backtracking", "compiled"]
)


@every_implementation
def test_special_text_raises_unless_allowed_and_names_itself_and_its_place(name: str) -> None:
    tokenizer = impls.load(name, MODEL)
    batches = (tokenizer.encode_batch, tokenizer.encode_ragged)
    several = (lambda text, encode=encode: encode(["ok", text]) for encode in batches)
    for encode in (tokenizer.encode, tokenizer.encode_array, *several):
        for text, special, place in (("héy</s>", "</s>", 3), ("<s>>", "<s>>", 0)):
            with pytest.raises(SpecialToken, match=rf"special token '{special}' at character {place}") as caught:
                encode(text)  # type: ignore[operator]
            assert (caught.value.name, caught.value.offset) == (special, place)


@every_implementation
def test_of_special_texts_some_may_be_allowed_and_the_others_plain_text(name: str) -> None:
    tokenizer = impls.load(name, MODEL)
    ids = tokenizer.encode("<s>", disallowed_special=())
    assert S not in ids
    assert tokenizer.encode("<s>", disallowed_special={"</s>"}) == ids
    assert tokenizer.encode("</s><s>", allowed_special={"</s>"}, disallowed_special=()) == [END, *ids]
    assert tokenizer.encode("<s>>", allowed_special="all") == [LONGER]
    assert tokenizer.encode("<s>>", allowed_special={"<s>"}, disallowed_special=()) == [S, ord(">")]
