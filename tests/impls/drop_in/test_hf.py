"""`bpebench.hf`: the answers, and the exceptions, of Hugging Face's own classes."""

from __future__ import annotations

import json
import pickle
import sys
import weakref
from pathlib import Path
from random import Random

import pytest
import tokenizers
from hf_calls import BYTE_LEVEL, assert_alike, both, shown
from refusals import refused
from tokenizer_json_shapes import FALL_BACK, LLAMA, SHAPES, a_file, added, chain, texts

import bpebench
import bpebench.hf
import impls
from impls import formats
from impls.core.errors import Missing, UnknownSymbol, Unsupported
from impls.drop_in import hf
from impls.formats import parse_cache

# --- the same answers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_tokens_words_and_offsets_are_those_of_the_library(name: str) -> None:
    ours, theirs = both(SHAPES[name])
    for text in texts():
        try:
            found = shown(ours.encode(text))
        except UnknownSymbol:
            assert ours.model.unk_token is None
        else:
            assert found == shown(theirs.encode(text)), text


MARKED = [
    "a\u0323\u0307", "a\u0307\u0323", "é\u05b0", "\u0344", "ﬁ\u0301", "\u0f73", "\u1e9b\u0323", "か\u3099", "ﷺ", "½",
    "\u1112\u1161\u11ab", "한\u11ab", "İ\u0301", "\u0958", "\u2adc", "\U0001d15e", "\u2126", "ẞ", "\ufb2c", "\u32ff",
]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in SHAPES if name.startswith(("bytes, NF", "marks, NF", "Precomp"))])
def test_offsets_follow_characters_through_normal_forms(name: str, fuzz: int) -> None:
    ours, theirs = both(SHAPES[name])
    rng = Random(name)
    parts = [*MARKED, "a", " ", "e", "\u0301", "1", "<m>"]
    assert_alike(ours, theirs, ("".join(rng.choices(parts, k=rng.randrange(1, 7))) for _ in range(150 * fuzz)))


@pytest.mark.parametrize("implementation", ["wordcount", "compiled", "tokenizers", "bytelevel"])
def test_any_implementation_can_be_below(implementation: str) -> None:
    ours, theirs = both(SHAPES["tokens lstrip rstrip, NFC"], implementation)
    assert ours.implementation.name == implementation
    assert_alike(ours, theirs, texts())


@pytest.mark.parametrize("implementation", ["compiled", "tokenizers"])
def test_an_implementation_that_is_loaded_can_be_below(implementation: str) -> None:
    spec = impls.TrainingSpec(vocab_size=270, special_tokens=("<s>",))
    model = impls.train("naive", ["the cat sat <s>"] * 3, spec).model
    ours = hf.Tokenizer(impls.load(implementation, model))
    theirs = tokenizers.Tokenizer.from_str(ours.to_str())
    assert shown(ours.encode("the <s>cat")) == shown(theirs.encode("the <s>cat"))
    assert ours.decode([263, 269]) == theirs.decode([263, 269])


def test_what_rewrites_texts_itself_says_where_it_cannot_follow() -> None:
    ours, _ = both(a_file("chars", FALL_BACK, normalizer=chain(*LLAMA)), "tokenizers")
    assert ours.encode("the cat").tokens[0].startswith("▁")
    ours.add_tokens(["cat"])
    refused(Unsupported, "tokens cannot be searched in rewritten text", ours.encode, "cat the")


@pytest.mark.filterwarnings("ignore")
def test_a_file_is_kept(tmp_path: Path) -> None:
    for content in SHAPES.values():
        ours, theirs = both(content)
        assert json.loads(ours.to_str()) == json.loads(theirs.to_str())
        ours.save(str(tmp_path / "ours.json"))
        theirs.save(str(tmp_path / "theirs.json"))
        again = hf.Tokenizer.from_file(str(tmp_path / "theirs.json"), implementation="priority")
        assert again.to_str() == ours.to_str()
        assert json.loads((tmp_path / "ours.json").read_text()) == json.loads((tmp_path / "theirs.json").read_text())


def test_a_file_that_was_read_before_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(parse_cache, "LEAST_BYTES", 0)
    content = json.dumps(a_file("bytes", added_tokens=added("bytes"), post_processor=BYTE_LEVEL))
    first, again = (hf.Tokenizer.from_str(content, implementation="priority") for _ in range(2))
    assert again.to_str() == first.to_str()
    assert again.model == first.model
    again.normalizer = first.normalizer = tokenizers.normalizers.Lowercase()
    assert again.encode("The <m> CAT") == first.encode("The <m> CAT")
    assert again.to_str() == first.to_str()


@pytest.mark.parametrize("pair", ["B", "AA"])
def test_a_template_of_a_file_may_leave_out_a_text(pair: str) -> None:
    single, both_texts = ([{"Sequence": {"id": text, "type_id": 4}} for text in texts] for texts in ("A", pair))
    template = {"type": "TemplateProcessing", "single": single, "pair": both_texts, "special_tokens": {}}
    ours, theirs = both(a_file("bytes", post_processor=template))
    assert shown(ours.encode("a", "the")) == shown(theirs.encode("a", "the"))


def test_tokens_that_take_the_same_white_space_are_found_as_by_the_library() -> None:
    """The first takes the white space after it, of which the next then has less, or nothing: then it is no token."""
    ours, theirs = both(a_file("bytes"))
    for tokenizer, kind in ((ours, hf.AddedToken), (theirs, tokenizers.AddedToken)):
        tokenizer.add_tokens([kind(" x", lstrip=True, rstrip=True), kind("\u3000", lstrip=True, rstrip=True)])
    for text in ("a x x b", "a\u3000\u3000b", "a x \u3000 xb"):
        assert shown(ours.encode(text)) == shown(theirs.encode(text))
        model = formats.tokenizer_json.reader.read(json.loads(ours.to_str()), "x")
        for name in ("priority", "compiled", "tokenizers"):
            assert impls.load(name, model).encode(text) == theirs.encode(text).ids
    assert ours.encode("a\u3000\u3000b").tokens == ["a", "\u3000\u3000", "b"]


def test_an_added_token_may_be_written_like_another_token() -> None:
    """The file's vocabulary has the tab as a printable character, so that the library gives its text another id."""
    ours, theirs = both(a_file("bytes"))
    for tokenizer in (ours, theirs):
        tokenizer.add_tokens(["\t"])
    again = hf.Tokenizer.from_str(ours.to_str(), implementation="priority")
    assert again.encode("a\tb").ids == ours.encode("a\tb").ids == theirs.encode("a\tb").ids


@pytest.mark.parametrize("merged", [True, False])
def test_a_special_token_may_be_written_as_the_printable_form_of_bytes(merged: bool) -> None:
    """`İ` is how the byte 0x8E is written, `Ġa` a space and a letter; the library gives the text that id."""
    file = a_file("bytes")
    tokens = ["İ", "Ġa"] if merged else ["İ", "éé"]
    for name in tokens:
        file["model"]["vocab"].setdefault(name, len(file["model"]["vocab"]))
    ours, theirs = both(file)
    for tokenizer in (ours, theirs):
        tokenizer.add_special_tokens(tokens)
    again = hf.Tokenizer.from_str(ours.to_str(), implementation="priority")
    assert again.to_str() == ours.to_str()
    for text in ("İstanbul a İ", "Ġa a éé é", "\u038e \u200e"):
        assert shown(again.encode(text)) == shown(ours.encode(text)) == shown(theirs.encode(text)), text
        ids = theirs.encode(text).ids
        assert again.decode(ids, False) == theirs.decode(ids, skip_special_tokens=False)


def test_a_copy_shares_nothing_that_changes() -> None:
    ours, _ = both(a_file("bytes"))
    copied = pickle.loads(pickle.dumps(ours)).__deepcopy__({})
    copied.add_tokens(["the"])
    copied.enable_truncation(1)
    assert ours.truncation is None
    assert "the" not in ours.encode("a the").tokens
    assert copied.encode("the a").tokens == ["the"]
    assert weakref.ref(copied)() is copied


# --- the front door ------------------------------------------------------------------------------------------------


def test_the_module_is_found_below_the_front_door() -> None:
    assert bpebench.hf is hf is sys.modules["bpebench.hf"]
    assert {"Tokenizer", "Encoding", "AddedToken", "DecodeStream"} <= set(bpebench.hf.__all__)


def test_a_model_of_the_hub_is_asked_for_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, str | None]] = []
    (tmp_path / "tokenizer.json").write_text(json.dumps(a_file("bytes")))

    def find(name: str, revision: str, token: str | None) -> Path:
        asked.append((name, revision, token))
        return tmp_path / "tokenizer.json"

    monkeypatch.setattr(hf.Tokenizer, "find_on_hub", find)
    assert hf.Tokenizer.from_pretrained("A/B", "v1", token="t", implementation="naive").encode("a").tokens == ["a"]
    assert asked == [("A/B", "v1", "t")]
    impls.formats.save(hf.Tokenizer.from_pretrained("A/B").implementation.model, tmp_path / "model.json", "bpebench")
    monkeypatch.setattr(hf.Tokenizer, "find_on_hub", lambda *_: tmp_path / "model.json")
    assert hf.Tokenizer.from_pretrained("A/B").encode("a").tokens == ["a"]
    monkeypatch.setattr(hf.Tokenizer, "find_on_hub", None)
    refused(Missing, "from_pretrained", hf.Tokenizer.from_pretrained, "A/B")
