"""Large files are parsed once and then restored from the user's cache: the same model, or parsed again."""

from __future__ import annotations

import base64
import json
import os
import pickle
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from random_models import BYTES
from refusals import refused

from impls import InvalidFile, Model
from impls.core.cache import write_checked
from impls.core.model.packed import pack
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.drop_in import hf
from impls.formats import DropoutIgnored, PatternAssumed, load, own, parse_cache, save, tiktoken_ranks
from impls.formats.tokenizer_json import reader


def models() -> dict[str, Model]:
    return {
        "bytes": Model(tokens=BYTES),
        "merges": Model(tokens=(*BYTES, b"ab", b"abc"), merges=((97, 98), (256, 99)), merge_counts=(1 << 40, 2)),
        "gaps": Model(tokens=(*BYTES, None, b"ab", None), merge_rule="concatenation", special_tokens={"<|x|>": 256}),
        "long tokens": Model(tokens=(*BYTES, b"a" * 300, b"b" * 70_000), pattern=(r"\s+", r"\S+|\s+")),
        "characters": Model(tokens=(b"a", "é".encode()), alphabet="chars", unknown="?", unknown_id=9),
        "flags": Model(tokens=BYTES, normalization="nfc").with_(
            added_tokens={"\U0001f600": 300}, ignore_merges=True, whole_token_flags={"\U0001f600": ("lstrip",)}
        ),
        "sentencepiece": Model(
            tokens=("\u2581".encode(), b"a"),
            alphabet="chars",
            unknown="<unk>",
            unknown_id=2,
            sentencepiece=SentencePieceRules(dummy_prefix="never", user_defined_ids=(1,)),
        ),
    }


@pytest.mark.parametrize("name", list(models()))
def test_a_packed_model_is_restored_field_by_field(name: str) -> None:
    model = models()[name]
    packed = pack(model)
    restored = Model.restored(packed)
    assert not {"tokens", "merges"} & restored.__dict__.keys()  # made when they are asked for
    assert restored.packed().digest == packed.digest
    for field in Model.__dataclass_fields__:
        assert getattr(restored, field) == getattr(model, field), field
        assert type(getattr(restored, field)) is type(getattr(model, field)), field
    assert restored.digest == model.digest
    assert pickle.loads(pickle.dumps(Model.restored(packed))) == model
    assert Model.restored(packed).with_(special_tokens={"<|y|>": 900}) == model.with_(special_tokens={"<|y|>": 900})
    with pytest.raises(AttributeError, match="no_such_field"):
        restored.no_such_field  # noqa: B018


# --- files -----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for files of any size."""
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(parse_cache, "LEAST_BYTES", 1)
    return tmp_path / "cache"


@pytest.fixture
def rank_file(tmp_path: Path) -> Path:
    path = tmp_path / "some.tiktoken"
    tokens = (*BYTES, *(b"%d" % number for number in range(10, 500)))
    path.write_bytes(b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens)))
    return path


def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing a file fails, so that only a cache hit succeeds."""
    refuse = Mock(side_effect=AssertionError("the file was read again"))
    monkeypatch.setattr(tiktoken_ranks, "read_tiktoken_ranks", refuse)
    monkeypatch.setattr(own, "_parsed", refuse)


def test_a_file_is_read_once(rank_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = load(rank_file, pattern="cl100k")
    path = rank_file.with_name("model.json")
    save(ranks, path, "bpebench")
    assert load(path) == ranks
    for _ in range(2):
        with pytest.warns(PatternAssumed):
            load(rank_file)
    no_reading(monkeypatch)
    assert load(rank_file, pattern="cl100k") == ranks
    assert load(path) == ranks


@pytest.mark.parametrize("damage", ["one bit", "empty", "another's"])
def test_what_is_damaged_in_the_cache_is_read_again(damage: str, rank_file: Path, cache: Path) -> None:
    expected = load(rank_file, pattern="gpt2")
    (path,) = (cache / "read").iterdir()
    content = path.read_bytes()
    if damage == "another's":
        load(rank_file, pattern="gpt2", special_tokens={"<|x|>": 5000})
        (other,) = set((cache / "read").iterdir()) - {path}
        shutil.copy(other, path)
    else:
        path.write_bytes(content[:-9] + bytes([content[-9] ^ 4]) + content[-8:] if damage == "one bit" else b"")
    assert load(rank_file, pattern="gpt2") == expected
    assert path.read_bytes() == content


def test_another_content_or_another_request_finds_nothing(rank_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(rank_file, pattern="gpt2")
    assert load(rank_file, pattern="cl100k").pattern != load(rank_file, pattern="gpt2").pattern
    assert load(rank_file, pattern="gpt2", special_tokens={"<|x|>": 5000}).special_tokens == {"<|x|>": 5000}
    lines = rank_file.read_bytes().splitlines(keepends=True)
    rank_file.write_bytes(b"".join([*lines[:-1], lines[0]]))
    refused(InvalidFile, "is already in line", load, rank_file, pattern="gpt2")
    monkeypatch.setattr(parse_cache, "_digest_of_sources", lambda: "of another release")
    rank_file.write_bytes(b"".join(lines))
    no_reading(monkeypatch)
    refused(AssertionError, "read again", load, rank_file, pattern="gpt2")


def test_small_files_and_no_cache_leave_nothing(rank_file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write_bytes(b"")
    assert load(rank_file, pattern="gpt2") == load(rank_file, pattern="gpt2")
    cache.unlink()
    monkeypatch.setattr(parse_cache, "LEAST_BYTES", 1 << 18)
    load(rank_file, pattern="gpt2")
    assert not cache.exists()


def test_the_oldest_files_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impls.core.cache.MOST_BYTES", 250)
    (tmp_path / "entry.lock").write_bytes(bytes(300))
    for number in range(5):
        path = tmp_path / f"{number}.bin"
        assert write_checked(path, bytes(60))
        os.utime(path, (number, number))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3.bin", "4.bin", "entry.lock"]


def noted(read: Callable[[], Any]) -> tuple[Any, list[tuple[type, str]]]:
    """What is read, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read()
    return found, [(warning.category, str(warning.message)) for warning in caught]


def test_a_tokenizer_json_is_read_once_and_noted_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted_file = tmp_path / "tokenizer.json"
    save(Model(tokens=(*BYTES, b"ab"), merges=((97, 98),)), noted_file, "tokenizer.json")
    document = json.loads(noted_file.read_text(encoding="utf-8"))
    document["model"]["dropout"] = 0.5
    document["post_processor"] = {"type": "BertProcessing", "sep": ["a", 97], "cls": ["b", 98]}
    noted_file.write_text(json.dumps(document), encoding="utf-8")
    model, notes = noted(lambda: load(noted_file))
    tokenizer, own_notes = noted(lambda: hf.Tokenizer.from_file(str(noted_file), implementation="priority"))
    assert [kind.__name__ for kind, _ in notes] == ["DropoutIgnored", "TemplateIgnored"]
    monkeypatch.setattr(reader, "read_with_notes", lambda _: pytest.fail("it is in the cache"))
    assert noted(lambda: load(noted_file)) == (model, notes)
    again, same_notes = noted(lambda: hf.Tokenizer.from_buffer(noted_file.read_bytes(), implementation="priority"))
    assert again.to_str() == tokenizer.to_str()
    assert [kind for kind, _ in same_notes] == [kind for kind, _ in own_notes] == [DropoutIgnored]
    assert again.encode("ab c") == tokenizer.encode("ab c")
    noted_file.write_bytes(noted_file.read_bytes() + b"\n")
    refused(pytest.fail.Exception, None, load, noted_file)
