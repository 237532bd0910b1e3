"""A fault of our readers is seen: the library that a file belongs to reads the file itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tokenizer_json_shapes import a_file, before

from harness.check.fuzz.run import FuzzPlan, FuzzRun
from harness.check.tasks import _tokenizer, encode_corpus
from harness.outcome import Outcome
from harness.targets import PUBLISHED
from harness.targets.published import library_of_model, published
from impls.core.text import places
from impls.core.text.decoder_steps import FUSE
from impls.formats.tokenizer_json import reader, split_stages


def _one_place_before(changes: Any, right: Any = places._changed) -> list[int]:
    return [max(place - 1, 0) for place in right(changes)]


every_fault = pytest.mark.parametrize(
    ("module", "name", "wrong", "stage"),
    [
        (split_stages, "_read_step", lambda *_: (), ""),
        (reader, "read_decoder", lambda document: FUSE, "decode"),
        (places, "_changed", _one_place_before, "offsets"),
    ],
    ids=["pieces", "decoder", "places"],
)


@pytest.fixture
def written(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A file whose places and decoder matter, and a text."""
    path, corpus = tmp_path / "tokenizer.json", tmp_path / "corpus.txt"
    trimming = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    step = {"type": "CharDelimiterSplit", "delimiter": "h"}
    file = a_file("bytes", normalizer={"type": "NFC"}, pre_tokenizer=before(step, regex=True), decoder=None)
    path.write_text(json.dumps(file | {"post_processor": trimming}))
    corpus.write_text("the thes of ae\u0301b and\n")
    _tokenizer.cache_clear()
    yield str(path), str(corpus)
    _tokenizer.cache_clear()


def test_a_file_that_is_read_rightly_is_right_as_published(written: tuple[str, str]) -> None:
    own, ours = (encode_corpus(name, *written, None, 5_000) for name in (PUBLISHED, "priority"))
    assert (own.verdict.status, ours.digests) == (Outcome.RIGHT, own.digests)


@every_fault
def test_what_is_read_wrongly_differs_as_published_in_check_and_in_fuzz(
    written: tuple[str, str], sides_here: Callable[[], AbstractContextManager[None]], monkeypatch: pytest.MonkeyPatch,
    module: Any, name: str, wrong: Any, stage: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, name, wrong)
    Path(written[0]).touch()
    with Path(written[0]).open("a") as file:
        file.write("\n")  # read anew, not from the cache
    own, ours = (encode_corpus(name, *written, None, 5_000) for name in (PUBLISHED, "priority"))
    if stage:
        assert own.verdict.status == Outcome.MISMATCH
        assert ("offsets [[" in (own.verdict.counterexample.note or "")) == (stage == "offsets")
    else:
        assert ours.digests != own.digests
    if stage == "offsets":  # asked by `check` alone
        return
    plan = FuzzPlan([PUBLISHED, "priority"], (written[0],), seconds=None, n_texts=60_000, stop_after=1, corpora=())
    with sides_here():
        (finding,) = FuzzRun(plan).run().findings
    assert (finding.difference, finding.stage if stage else "") == ("fault", stage)


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
