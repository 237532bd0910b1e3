"""Special tokens mean the same to every implementation: allowed, disallowed, or plain text."""

from __future__ import annotations

import pytest

import impls
from impls import SpecialToken, TrainingSpec

NAMES = ["naive", "greedy", "wordcount", "priority", "bytelevel", "backtracking", "compiled"]
SPEC = TrainingSpec(vocab_size=256 + 6 + 3, special_tokens=("<s>", "<s>>", "</s>"))
MODEL = impls.get("naive").train_model(["hello hello world <s>"], SPEC)
S, LONGER, END = (MODEL.special_tokens[text] for text in ("<s>", "<s>>", "</s>"))

TOKENIZERS = {name: impls.load(name, MODEL) for name in NAMES}
every_implementation = pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=NAMES)


@every_implementation
def test_special_text_raises_unless_allowed_and_names_itself_and_its_place(tokenizer: impls.Tokenizer) -> None:
    batches = (tokenizer.encode_batch, tokenizer.encode_ragged)
    several = (lambda text, encode=encode: encode(["ok", text]) for encode in batches)
    for encode in (tokenizer.encode, tokenizer.encode_array, *several):
        with pytest.raises(SpecialToken, match=r"special token '</s>' at character 3") as caught:
            encode("héy</s>")  # type: ignore[operator]
        assert (caught.value.name, caught.value.offset) == ("</s>", 3)


@every_implementation
def test_allowed_special_text_is_one_id(tokenizer: impls.Tokenizer) -> None:
    assert tokenizer.encode("<s>", allowed_special={"<s>"}) == [S]
    assert tokenizer.encode("<s>a</s>", allowed_special="all") == [S, 97, END]
    assert tokenizer.encode_array("<s>", allowed_special="all").tolist() == [S]
    assert tokenizer.encode_batch(["<s>", "</s>"], allowed_special="all") == [[S], [END]]


@every_implementation
def test_special_text_that_is_neither_allowed_nor_disallowed_is_plain_text(tokenizer: impls.Tokenizer) -> None:
    ids = tokenizer.encode("<s>", disallowed_special=())
    assert S not in ids
    assert tokenizer.decode(ids) == "<s>"
    mixed = tokenizer.encode("</s><s>", allowed_special={"</s>"}, disallowed_special=())
    assert mixed == [END, *ids]
    assert tokenizer.encode("<s>", disallowed_special={"</s>"}) == ids


@every_implementation
def test_of_special_tokens_that_start_at_one_place_the_longest_wins(tokenizer: impls.Tokenizer) -> None:
    assert tokenizer.encode("<s>>", allowed_special="all") == [LONGER]
    assert tokenizer.encode("<s>>", allowed_special={"<s>"}, disallowed_special=()) == [S, ord(">")]
    with pytest.raises(SpecialToken) as caught:
        tokenizer.encode("<s>>")
    assert caught.value.name == "<s>>"


@every_implementation
def test_decoding_includes_special_text(tokenizer: impls.Tokenizer) -> None:
    assert tokenizer.decode([S, 104, 105, END]) == "<s>hi</s>"
    assert tokenizer.decode_with_offsets([S, 104, END]) == ("<s>h</s>", [0, 3, 4])
