"""A fault of our readers is seen: the library that a file belongs to reads the file itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizer_json_shapes import a_file, before

from harness.check.classes import relation
from harness.check.fuzz.files import fuzz_files
from harness.check.tasks import _tokenizer, encode_corpus
from harness.outcome import Outcome
from harness.targets import PUBLISHED
from harness.targets.published import library_of_model, published
from impls.core.text import places
from impls.core.text.decoder_steps import BYTE_LEVEL, FUSE
from impls.formats.tokenizer_json import reader, split_stages


def test_our_reading_of_random_files_is_the_librarys(fuzz: int) -> None:
    result = fuzz_files(["priority"], 0, 150 * fuzz, None, 1)
    assert result.findings == []
    assert result.n_texts > 900 * fuzz


@pytest.fixture
def digits_are_never_individual(monkeypatch: pytest.MonkeyPatch) -> None:
    real = split_stages._read_step

    def misread(step: dict[str, Any], *others: Any) -> tuple[str, ...]:
        return real(step | {"individual_digits": False}, *others)

    monkeypatch.setattr(split_stages, "_read_step", misread)


def test_a_planted_fault_of_the_reader_is_found_and_reduced(digits_are_never_individual: None) -> None:
    result = fuzz_files(["priority"], 0, 2_000, None, 1)
    (finding,) = result.findings
    assert finding.document["pre_tokenizer"]["type"] in ("Digits", "Sequence")
    assert "Digits" in json.dumps(finding.document)
    assert finding.document["normalizer"] is None
    assert finding.document["added_tokens"] == []
    assert len(finding.text) == 2
    assert finding.of_library != finding.answer


def test_a_planted_fault_of_the_decoder_is_found_and_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "read_decoder", lambda document: FUSE)
    (finding,) = fuzz_files(["priority"], 0, 2_000, None, 1).findings
    assert isinstance(finding.of_library, str)
    assert finding.of_library != finding.answer
    assert len(finding.text) <= 2


def test_a_planted_fault_of_offsets_is_found_and_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    right = places._changed
    monkeypatch.setattr(places, "_changed", lambda changes: [max(place - 1, 0) for place in right(changes)])
    (finding,) = fuzz_files(["priority"], 0, 2_000, None, 1).findings
    assert isinstance(finding.of_library[0], list)
    assert len(finding.text) <= 3


def test_a_file_as_published_differs_from_a_wrong_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, corpus = tmp_path / "tokenizer.json", tmp_path / "corpus.txt"
    step = {"type": "CharDelimiterSplit", "delimiter": "h"}
    path.write_text(json.dumps(a_file("bytes", pre_tokenizer=before(step, regex=False))))
    corpus.write_text("the thes of ab\n")
    own, ours = (encode_corpus(name, str(path), str(corpus), None, 5_000) for name in (PUBLISHED, "priority"))
    assert own.digests == ours.digests
    assert relation("priority", PUBLISHED).must_agree
    monkeypatch.setattr(split_stages, "_read_step", lambda *_: ())
    corpus.write_text("the thes of ab, again\n")
    _tokenizer.cache_clear()
    own, ours = (encode_corpus(name, str(path), str(corpus), None, 5_000) for name in (PUBLISHED, "priority"))
    assert ours.digests != own.digests


OFFSETS = a_file("bytes", normalizer={"type": "NFC"}, pre_tokenizer=before(regex=True), decoder=None)
MISREADINGS: dict[str, tuple[Any, Any, str]] = {
    "decoder": (reader, lambda document: BYTE_LEVEL, "read_decoder"),
    "places": (places, lambda changes, right=places._changed: [max(k - 1, 0) for k in right(changes)], "_changed"),
}


@pytest.mark.parametrize("planted", MISREADINGS)
def test_a_decoder_or_places_that_are_read_wrongly_are_a_mismatch_as_published(
    planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, corpus = tmp_path / "tokenizer.json", tmp_path / "corpus.txt"
    trimming = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    path.write_text(json.dumps(OFFSETS | {"post_processor": trimming}))
    corpus.write_text("the thes of ae\u0301b and\n")
    assert encode_corpus(PUBLISHED, str(path), str(corpus), None, 5_000).verdict.status == Outcome.RIGHT
    module, wrong, name = MISREADINGS[planted]
    monkeypatch.setattr(module, name, wrong)
    corpus.write_text("the thes of ae\u0301b and, again\n")
    _tokenizer.cache_clear()
    verdict = encode_corpus(PUBLISHED, str(path), str(corpus), None, 5_000).verdict
    assert verdict.status == Outcome.MISMATCH
    assert verdict.counterexample is not None
    assert ("offsets [[" in (verdict.counterexample.note or "")) == (planted == "places")
    _tokenizer.cache_clear()


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("model", "library"), [("r50k_base", "tiktoken"), ("gpt2", "tiktoken"), ("mistral-v1", "sentencepiece")]
)
def test_published_vocabularies_are_read_by_their_own_libraries(model: str, library: str) -> None:
    assert library_of_model(model) == library
    ours, own = (encode_corpus(name, model, "samples/unusual", None, 5_000) for name in ("priority", PUBLISHED))
    assert own.verdict.status == Outcome.RIGHT
    assert ours.digests == own.digests
    assert published(model).encode("hello") == published(model).encode_batch(["hello"])[0]
