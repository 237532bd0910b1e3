"""`transformers` on `bpebench.hf`: each answer of `PreTrainedTokenizerFast` is that on the library's own tokenizer.

It is not part of the locked environment, as it needs a newer `regex` than the locked one.
CI installs it into a folder: `pip install --target FOLDER transformers`, then `PYTHONPATH=FOLDER pytest` and this file.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hf_calls import BYTE_LEVEL, MARKS_FILE
from tokenizer_json_shapes import FALL_BACK, a_file, added, before, byte_level, chain, metaspace, n_ids, split

from impls.drop_in import hf

pytestmark = pytest.mark.needs("transformers")
transformers: Any = None if find_spec("transformers") is None else import_module("transformers")

AROUND = {"sep": ["<n>", n_ids("bytes") + 1], "cls": ["<m>", n_ids("bytes")]}
by_bytes = partial(a_file, "bytes", added_tokens=added("bytes"), decoder=BYTE_LEVEL)
ROBERTA = {"type": "RobertaProcessing", **AROUND, "trim_offsets": True, "add_prefix_space": True}
CUT = before(split(r"\p{N}{1,3}| ?\p{L}+", "Isolated", invert=False), regex=False)
FIRST = {"pre_tokenizer": metaspace("first"), "decoder": metaspace("first")}
DOCUMENTS = {
    "bytes": by_bytes(normalizer={"type": "NFC"}),
    "marks": MARKS_FILE,
    "roberta": by_bytes(pre_tokenizer=byte_level(prefix=True), post_processor=ROBERTA),
    "bert": by_bytes(
        normalizer=chain("NFD", "StripAccents", "Lowercase"), post_processor={"type": "BertProcessing", **AROUND}
    ),
    "split": by_bytes({"ignore_merges": True}, added_tokens=added("bytes", normalized=True), pre_tokenizer=CUT),
    "metaspace": a_file("chars", FALL_BACK, added_tokens=added("chars", lstrip=True), **FIRST),
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
ALL = {f"return_{name}": True for name in ("offsets_mapping", "special_tokens_mask", "token_type_ids", "length")}
WORDS = [["the", "cat"], ["x", "İs<m>", ""], []]
Call = Callable[[Any], Any]


def encoding(t: Any, *given: Any, **options: Any) -> Any:
    found = t(*given, **options)
    return dict(found), [found.word_ids(k) for k in range(len(found.encodings))]


CALLS: dict[str, Call] = {
    "a text": lambda t: encoding(t, TEXTS[0]),
    "everything": lambda t: encoding(t, TEXTS, **ALL),
    "a pair": lambda t: encoding(t, TEXTS[0], TEXTS[1], **ALL),
    "pairs": lambda t: dict(t(TEXTS, TEXTS[::-1], padding=True, return_token_type_ids=True)),
    "padded": lambda t: dict(t(TEXTS, padding="longest", **ALL)),
    "padded on the left": lambda t: dict(t(TEXTS, padding=True, pad_to_multiple_of=8, padding_side="left")),
    "padded to a length": lambda t: dict(t(TEXTS, padding="max_length", max_length=20)),
    "cut and padded, then not": lambda t: (dict(t(TEXTS, padding=True, truncation=True, max_length=6)), dict(t(TEXTS))),
    "padded afterwards": lambda t: dict(t.pad(t(TEXTS), padding="longest")),
    "truncated": lambda t: dict(t(TEXTS, **LONG, return_offsets_mapping=True, return_special_tokens_mask=True)),
    "truncated on the left": lambda t: truncated_on_the_left(t),
    "longest of a pair first": lambda t: dict(t(TEXTS[1], TEXTS[0], truncation="longest_first", max_length=14)),
    "the second truncated": lambda t: dict(t("x", TEXTS[1], truncation="only_second", max_length=12, **ALL)),
    "a document in parts": lambda t: dict(t("x", TEXTS[1] * 3, **{**LONG, "truncation": "only_second"}, **ALL)),
    "special tokens as text": lambda t: dict(t(TEXTS, split_special_tokens=True)),
    "all of words": lambda t: encoding(t, WORDS, is_split_into_words=True, **ALL),
    "words truncated": lambda t: dict(t(WORDS, is_split_into_words=True, truncation=True, max_length=6, **ALL)),
    "pairs of words": lambda t: dict(t(WORDS[:2], WORDS[1::-1], is_split_into_words=True)),
    "places": lambda t: (t(TEXTS[1]).char_to_token(3), t(TEXTS[1]).word_to_chars(0), t(TEXTS[1]).token_to_chars(2)),
    "words of characters": lambda t: [t(TEXTS[0], TEXTS[3]).char_to_word(k, sequence_index=1) for k in range(6)],
    "texts of tokens": lambda t: (t("a", "b c").sequence_ids(0), [t("a", "b").token_to_sequence(k) for k in range(2)]),
    "one encoding": lambda t: (t(TEXTS)[0].ids, t(TEXTS)[1].offsets, t(TEXTS)[3].attention_mask, t(TEXTS).is_fast),
    "tokens": lambda t: (t.tokenize(TEXTS[0]), t(TEXTS[0]).tokens(), t.convert_ids_to_tokens([1, 2, 99_999])),
    "tokens of a pair": lambda t: t.tokenize(TEXTS[0], pair="the", add_special_tokens=True),
    "ids of tokens": lambda t: (t.convert_tokens_to_ids("the"), t.convert_tokens_to_ids(["<m>", "qq", "a"])),
    "decoding": lambda t: [t.decode(t(text)["input_ids"]) for text in TEXTS],
    "decoding one id": lambda t: [t.decode(k) for k in range(0, 500, 37)],
    "skipping": lambda t: t.decode(t(TEXTS[0])["input_ids"], skip_special_tokens=True),
    "joined tokens": lambda t: t.convert_tokens_to_string(t.tokenize(TEXTS[0])),
    "without clean-up": lambda t: t.decode(t("a . b")["input_ids"], clean_up_tokenization_spaces=True),
    "arrays": lambda t: {name: rows.tolist() for name, rows in t(TEXTS, padding=True, return_tensors="np").items()},
    "the vocabulary": lambda t: (t.get_vocab(), len(t), t.vocab_size, t.get_added_vocab(), t.all_special_ids),
    "special tokens": lambda t: (t.special_tokens_map, t.all_special_tokens, t.bos_token_id),
    "how many are added": lambda t: t.num_special_tokens_to_add(True),
    "added tokens": lambda t: {i: str(token) for i, token in t.added_tokens_decoder.items()},
    "a mask": lambda t: t.get_special_tokens_mask([1, *t.all_special_ids], already_has_special_tokens=True),
    "a chat": lambda t: t.apply_chat_template(MESSAGES, chat_template=CHAT, tokenize=True),
}
MESSAGES = [{"role": "user", "content": "the cat"}]
CHAT = "{% for m in messages %}<m>{{ m.role }} {{ m.content }}<n>{% endfor %}"


def truncated_on_the_left(t: Any) -> Any:
    t.truncation_side = "left"
    found = dict(t(TEXTS, truncation=True, max_length=6, **ALL))
    t.truncation_side = "right"
    return found


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_on_the_library(name: str, both: tuple[Any, Any]) -> None:
    ours, theirs = both
    assert answer(CALLS[name], ours) == answer(CALLS[name], theirs)
    for tokenizer in both:
        tokenizer.add_tokens(["zz"])
        tokenizer.add_special_tokens({"extra_special_tokens": ["<q>"]})
        tokenizer.add_bos_token = tokenizer.add_eos_token = True
    assert ours("the zz <q>") == theirs("the zz <q>")
    assert answer(CALLS[name], ours) == answer(CALLS[name], theirs)


def answer(call: Call, tokenizer: Any) -> Any:
    """What a call returns, or the type of the error it raises."""
    try:
        return call(tokenizer)
    except Exception as error:
        return type(error).__mro__[-3:]


def test_it_is_saved_copied_and_pickled(both: tuple[Any, Any], tmp_path: Path) -> None:
    ours, theirs = both
    for tokenizer, folder in zip(both, ("ours", "theirs"), strict=True):
        tokenizer.save_pretrained(tmp_path / folder)
    for file in (tmp_path / "ours").iterdir():
        assert json.loads(file.read_text("utf-8")) == json.loads((tmp_path / "theirs" / file.name).read_text("utf-8"))
    again = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path / "ours")
    for copied in (again, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert dict(copied(TEXTS)) == dict(theirs(TEXTS))
