"""Parts of `bpebench.hf.Tokenizer` that are set, or called on their own: as in the library, or refused by name."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from typing import Any

import pytest
import tokenizers
from hf_calls import BYTE_LEVEL, both, shown
from refusals import refused
from tokenizer_json_shapes import SHAPES, a_file, added, replace, texts
from tokenizers import decoders, normalizers, pre_tokenizers, processors

import impls
from harness.data import load_model
from impls.core.errors import BPEError, InvalidModel
from impls.drop_in import hf

KINDS = ("bytes, ", "Split, ", "Digits", "Punctuation", "a space before")
OF_BYTES = [name for name in SHAPES if name.startswith(KINDS)]
pytestmark = pytest.mark.filterwarnings("ignore::impls.formats.tokenizer_json.space_steps.OlderUnicode")


@pytest.mark.parametrize("name", OF_BYTES)
def test_parts_that_are_set_have_their_effect(name: str) -> None:
    # Without the token of two tabs: the library finds one whose normal form is empty between all characters.
    ours, theirs = both(a_file("bytes", added_tokens=added("bytes")[:-1], decoder=BYTE_LEVEL))
    _, given = both(SHAPES[name])
    for tokenizer in (ours, theirs):
        tokenizer.add_tokens(["THE"])
        tokenizer.encode_special_tokens = True
        tokenizer.enable_truncation(30)
        tokenizer.normalizer, tokenizer.pre_tokenizer = given.normalizer, given.pre_tokenizer
    assert (ours.normalizer is None) == (theirs.normalizer is None)
    for text in (*texts()[:60], "HELLO the THE İ", "HELLO <m> the 1234, don't"):
        assert shown(ours.encode(text)) == shown(theirs.encode(text)), text
        assert ours.pre_tokenizer.pre_tokenize_str(text) == theirs.pre_tokenizer.pre_tokenize_str(text), text
        if ours.normalizer is not None:
            assert ours.normalizer.normalize_str(text) == theirs.normalizer.normalize_str(text), text
    for _ in range(2):
        assert json.loads(ours.to_str()) == json.loads(theirs.to_str())
        ours.normalizer = theirs.normalizer = normalizers.Sequence([])
    assert ours.encode_special_tokens


@pytest.mark.corpus
def test_a_vocabulary_of_bytes_may_be_given_words_in_lower_case() -> None:
    ours = hf.Tokenizer(impls.load("compiled", load_model("gpt2")))
    theirs = tokenizers.Tokenizer.from_str(ours.to_str())
    for tokenizer in (ours, theirs):
        assert tokenizer.encode("HELLO World").ids == [13909, 3069, 46, 2159]
        tokenizer.normalizer = normalizers.Lowercase()
        assert tokenizer.encode("HELLO World").ids == [31373, 995]
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Whitespace(), pre_tokenizers.ByteLevel(False)]
        )
        assert tokenizer.encode("HELLO World").ids == [31373, 6894]


def test_a_decoder_that_is_set_is_that_of_streams_and_of_the_file() -> None:
    ours, theirs = both(a_file("bytes"))
    ids = ours.encode("the cat a").ids
    assert hf.DecodeStream().step(ours, ids[0]) is not None
    for decoder in (decoders.Sequence([decoders.Replace("a", "b"), decoders.Fuse()]), None):
        ours.decoder, theirs.decoder = decoder, decoder
        assert ours.decode(ids) == theirs.decode(ids)
        assert json.loads(ours.to_str())["decoder"] == json.loads(theirs.to_str())["decoder"]


CUSTOM = type("Custom", (), {"pre_tokenize": lambda self, p: None, "normalize": lambda self, n: None})()
REFUSED: dict[str, tuple[str, Any, type[Exception], str]] = {
    "a normalizer": ("normalizer", normalizers.BertNormalizer(), InvalidModel, "'BertNormalizer' is not supported"),
    "a pre-tokenizer": ("pre_tokenizer", pre_tokenizers.UnicodeScripts(), InvalidModel, "'UnicodeScripts' is not supp"),
    "a decoder": ("decoder", decoders.CTC(), InvalidModel, "decoder: 'CTC' is not supported"),
    "code": ("pre_tokenizer", pre_tokenizers.PreTokenizer.custom(CUSTOM), InvalidModel, "Custom PreTokenizer cannot"),
    "more code": ("normalizer", normalizers.Normalizer.custom(CUSTOM), InvalidModel, "Custom Normalizer cannot"),
    "another kind": ("normalizer", pre_tokenizers.Whitespace(), TypeError, "normalizer must be a normalizer"),
    "and another": ("pre_tokenizer", normalizers.NFC(), TypeError, "pre_tokenizer must be a pre-tokenizer"),
    "a number": ("normalizer", 3, TypeError, "normalizer must be a normalizer"),
    "a processor": ("post_processor", normalizers.NFC(), TypeError, "post_processor must be a post-processor"),
    "a misspelt one": ("normaliser", normalizers.NFC(), AttributeError, "normaliser"),
    "another model": ("model", tokenizers.models.BPE(), AttributeError, "model"),
    "lengths": ("truncation", {"max_length": 3}, AttributeError, "truncation"),
    "another mark": ("pre_tokenizer", pre_tokenizers.Metaspace(replacement="-"), InvalidModel, "replacement: only"),
    "pieces of a length": ("pre_tokenizer", pre_tokenizers.FixedLength(4), InvalidModel, "'FixedLength' is not supp"),
    "bytes": ("normalizer", normalizers.ByteLevel(), InvalidModel, "'ByteLevel' is not supported"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_set_raises_and_changes_nothing(name: str) -> None:
    attribute, value, error, problem = REFUSED[name]
    ours, _ = both(a_file("bytes", normalizer={"type": "NFC"}))
    before = ours.to_str(), shown(ours.encode("e\u0301 The"))
    refused(error, problem, setattr, ours, attribute, value)
    assert (ours.to_str(), shown(ours.encode("e\u0301 The"))) == before


def test_no_object_of_the_module_takes_an_unknown_attribute() -> None:
    ours, _ = both(a_file("bytes", normalizer={"type": "NFC"}, decoder=BYTE_LEVEL))
    ours.post_processor = processors.ByteLevel()
    parts = (ours.normalizer, ours.pre_tokenizer, ours.decoder, ours.post_processor, ours.model)
    for thing in (ours, *parts, ours.encode("a"), hf.AddedToken("a"), hf.DecodeStream()):
        with pytest.raises(AttributeError):
            thing.padding_side = "left"  # type: ignore[union-attr]


def test_settings_and_parts_are_read_once_a_batch() -> None:
    ours, _ = both(a_file("bytes"))
    ours.add_tokens(["zz"])
    stop, ids = threading.Event(), tuple(ours.encode("a b c d").ids)

    def toggle() -> None:
        while not stop.is_set():
            ours.enable_truncation(2)
            ours.encode_special_tokens = True
            ours.post_processor, ours.decoder = processors.ByteLevel(trim_offsets=True), decoders.ByteLevel()
            ours.no_truncation()
            ours.encode_special_tokens = False

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        for _ in range(300):
            assert {tuple(encoding.ids) for encoding in ours.encode_batch(["a b c d"] * 30)} in ({ids}, {ids[:2]})
    finally:
        stop.set()
        thread.join()


# --- parts on their own --------------------------------------------------------------------------------------------


def test_metaspace_splits_a_text() -> None:
    for scheme in ("always", "first", "never"):
        for splits in (False, True):
            step = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=splits)
            ours, theirs = both(a_file("chars"))
            ours.pre_tokenizer = theirs.pre_tokenizer = step
            for text in texts():
                assert ours.pre_tokenizer.pre_tokenize_str(text) == theirs.pre_tokenizer.pre_tokenize_str(text), text


def test_parts_show_their_fields_and_are_copied_and_pickled() -> None:
    ours, theirs = both(a_file("bytes", normalizer=replace("a", "b"), decoder=BYTE_LEVEL, post_processor=BYTE_LEVEL))
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        part, other = getattr(ours, name), getattr(theirs, name)
        assert json.loads(part.__getstate__()) == json.loads(other.__getstate__())
        assert pickle.loads(pickle.dumps(part)) == copy.deepcopy(part) == part
        assert repr(part).count("\n") == 0
    assert ours.pre_tokenizer.add_prefix_space is theirs.pre_tokenizer.add_prefix_space is False
    with pytest.raises(AttributeError, match="ByteLevel has no 'prefix'; it has add_prefix_space"):
        _ = ours.pre_tokenizer.prefix
    with pytest.raises(AttributeError, match="add_prefix_space cannot be set on a PreTokenizer; set another one"):
        ours.pre_tokenizer.add_prefix_space = True
    refused(BPEError, r"PreTokenizer\.pre_tokenize is not provided", lambda: ours.pre_tokenizer.pre_tokenize("a"))
    for part in (ours.normalizer, ours.post_processor):
        with pytest.raises(BPEError, match=rf"{type(part).__name__}\[0\] is not provided"):
            part[0]
    with pytest.raises(AttributeError, match="dropout"):
        ours.model.dropout = 0.1
    with pytest.raises(InvalidModel, match="continuing_subword_prefix: '##'"):
        hf.Tokenizer(tokenizers.models.BPE(continuing_subword_prefix="##"))
