"""Every public method of every implementation over a small model: all give the same ids."""

from __future__ import annotations

from itertools import chain

import pytest
from every_form import every_form
from refusals import refused

import impls
from impls import Model, SpecialToken, TrainingSpec
from impls.core.text.text import repair_surrogates
from impls.interface import Tokenizer

TEXTS = ["", "hello world", "e\u0301 क\u093c", "İıi ﬁ\u0301t 中文  \r\n x", "a\ud83d", "\ud83d\udc4d", "\udc4d\ud83d b"]
SPEC = TrainingSpec(vocab_size=271, special_tokens=("<s>", "<s>>"))
SMALL = impls.train("naive", ["hello hello world é <s> [x]"], SPEC).model
ADDED = SMALL.with_(added_tokens={"[x]": 300, "e\u0301": 301}, normalization="nfc")


def texts_for(model: Model) -> list[str]:
    """Special and added tokens of the model beside other characters, and `TEXTS`."""
    whole = [*list(model.special_tokens)[:2], *list(model.added_tokens)[:2]]
    return [*TEXTS, *[f"a{text}\ud83d" for text in whole], " é ".join(whole)]


every_implementation = pytest.mark.parametrize("name", impls.default_names())


def check_tokenizer(tokenizer: Tokenizer) -> None:
    model = tokenizer.model
    texts = texts_for(model)
    rows = every_form(tokenizer, texts, disallowed_special=())
    assert [tokenizer.count(text) for text in texts] == list(map(len, rows))
    ordinary = [tokenizer.encode_ordinary(text) for text in texts]
    if not model.added_tokens:
        assert ordinary == rows
    if model.alphabet == "bytes":
        assert [tokenizer.encode_bytes(repair_surrogates(text).encode()) for text in texts] == ordinary
    whole = set(model.whole_token_ids.values()) - set(model.id_by_token.values())
    assert whole.isdisjoint(chain.from_iterable(ordinary))
    recognised = every_form(tokenizer, texts, allowed_special="all")
    assert all(whole.intersection(ids) for ids in recognised[len(TEXTS) :])
    special, longer = model.special_tokens
    for encode in (tokenizer.encode, tokenizer.encode_array):
        caught = refused(SpecialToken, rf"special token '{longer}' at character 1", encode, f"é{longer}")
        assert (caught.name, caught.offset) == (longer, 1)
    for encode_all in (tokenizer.encode_batch, tokenizer.encode_ragged):
        refused(SpecialToken, rf"special token '{special}' at character 2", encode_all, ["ok", f"éy{special}"])
    some = tokenizer.encode(longer, allowed_special={special}, disallowed_special={"</s>"})
    assert some == [model.special_tokens[special], *tokenizer.encode(">")]
    for text, ids in zip(texts, rows, strict=True):
        decoded = tokenizer.decode(ids)
        assert tokenizer.truncate(text, len(ids)) == text
        for n in range(min(len(ids), 4)):
            assert tokenizer.truncate(text, n) == tokenizer.decode_bytes(ids[:n]).decode("utf-8", "ignore")
        assert decoded == tokenizer.decode_with_offsets(ids)[0]
        if model.round_trip == "exact":
            assert decoded == repair_surrogates(text) == tokenizer.decode(tokenizer.encode_ordinary(text))
            assert tokenizer.decode_bytes(ids) == decoded.encode()


@every_implementation
@pytest.mark.parametrize("model", [SMALL, ADDED], ids=["specials", "added and nfc"])
def test_all_methods_agree_over_a_small_model(name: str, model: Model) -> None:
    check_tokenizer(impls.load(name, model))


@every_implementation
def test_ordinary_text_is_read_by_a_model_with_added_tokens_as_by_one_without(name: str) -> None:
    with_tokens, without = impls.load(name, ADDED), impls.load(name, ADDED.with_(added_tokens={}))
    for text in texts_for(ADDED):
        assert with_tokens.encode_ordinary(text) == without.encode(text, disallowed_special=())
    assert with_tokens.encode("[x]") == [300]
