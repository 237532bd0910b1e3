"""`transformers` on `bpebench.hf`: each answer of `PreTrainedTokenizerFast` is that on the library's own tokenizer.

It is not part of the locked environment, as it needs a newer `regex` than the one whose Unicode equals the libraries'.
In one with it and what this suite depends on: `PYTHONPATH=. python -m pytest -c pyproject.toml` and this file.
"""

from __future__ import annotations

import copy
import json
import pickle
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hf_calls import BYTE_LEVEL, MARKS
from tokenizer_json_shapes import FALL_BACK, LLAMA, a_file, added, chain

from impls.drop_in import hf

pytestmark = pytest.mark.needs("transformers")
transformers: Any = None if find_spec("transformers") is None else import_module("transformers")

DOCUMENTS = {
    "bytes": a_file("bytes", added_tokens=added("bytes"), decoder=BYTE_LEVEL, normalizer={"type": "NFC"}),
    "marks": a_file(
        "chars",
        FALL_BACK,
        added_tokens=added("chars"),
        normalizer=chain(*LLAMA),
        decoder={"type": "Sequence", "decoders": MARKS},
    ),
}
TEXTS = ["the cat <m> x", "İstanbul 日本 👍🏽\r\n e\u0301", "", "<w> <n>the"]


@pytest.fixture(params=DOCUMENTS)
def both(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    content = json.dumps(DOCUMENTS[request.param])
    named = {"pad_token": "<pad>", "bos_token": "<m>", "eos_token": "<n>"}
    backends = (hf.Tokenizer.from_str(content, implementation="priority"), tokenizers.Tokenizer.from_str(content))
    ours, theirs = (transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **named) for backend in backends)
    assert isinstance(ours.backend_tokenizer, hf.Tokenizer)
    return ours, theirs


LONG = {"padding": "max_length", "max_length": 12, "truncation": True, "stride": 2, "return_overflowing_tokens": True}
CALLS: dict[str, Any] = {
    "a batch": lambda t: dict(t(TEXTS)),
    "pairs": lambda t: dict(t(TEXTS, TEXTS[::-1], padding=True, return_token_type_ids=True)),
    "padded on the left": lambda t: dict(t(TEXTS, padding=True, pad_to_multiple_of=8, padding_side="left")),
    "truncated": lambda t: dict(t(TEXTS, **LONG, return_offsets_mapping=True, return_special_tokens_mask=True)),
    "one of a pair truncated": lambda t: dict(t(TEXTS[1], "x", truncation="only_first", max_length=12)),
    "special tokens as text": lambda t: dict(t(TEXTS, split_special_tokens=True)),
    "words": lambda t: t([["the", "cat"], ["x"]], is_split_into_words=True).word_ids(0),
    "places": lambda t: (t(TEXTS[1]).char_to_token(3), t(TEXTS[1]).word_to_chars(0), t(TEXTS[1]).token_to_chars(2)),
    "tokens": lambda t: (t.tokenize(TEXTS[0]), t(TEXTS[0]).tokens(), t.convert_ids_to_tokens([1, 2, 99_999])),
    "decoding": lambda t: [t.decode(t(text)["input_ids"]) for text in TEXTS],
    "skipping": lambda t: t.decode(t(TEXTS[0])["input_ids"], skip_special_tokens=True),
    "joined tokens": lambda t: t.convert_tokens_to_string(t.tokenize(TEXTS[0])),
    "batch decoding": lambda t: t.batch_decode([[1, 2], [3]]),
    "an array": lambda t: t(TEXTS[0], return_tensors="np")["input_ids"].tolist(),
    "the vocabulary": lambda t: (t.get_vocab(), len(t), t.vocab_size, t.get_added_vocab(), t.all_special_ids),
    "without clean-up": lambda t: t.decode(t("a . b")["input_ids"], clean_up_tokenization_spaces=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_on_the_library(name: str, both: tuple[Any, Any]) -> None:
    ours, theirs = both
    assert CALLS[name](ours) == CALLS[name](theirs)
    for tokenizer in both:
        tokenizer.add_tokens(["zz"])
        tokenizer.add_special_tokens({"extra_special_tokens": ["<q>"]})
        tokenizer.add_bos_token = tokenizer.add_eos_token = True
    assert ours("the zz <q>") == theirs("the zz <q>")
    assert CALLS[name](ours) == CALLS[name](theirs)


def test_it_is_saved_copied_and_pickled(both: tuple[Any, Any], tmp_path: Path) -> None:
    ours, theirs = both
    for tokenizer, folder in zip(both, ("ours", "theirs"), strict=True):
        tokenizer.save_pretrained(tmp_path / folder)
    for file in (tmp_path / "ours").iterdir():
        assert json.loads(file.read_text("utf-8")) == json.loads((tmp_path / "theirs" / file.name).read_text("utf-8"))
    again = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path / "ours")
    for copied in (again, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert dict(copied(TEXTS)) == dict(theirs(TEXTS))
