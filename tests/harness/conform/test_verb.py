"""`bpebench conform` and the class for tests of a project's own, over targets of a folder elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.conform.checks.catalogue import CHECKS

_ADAPTER = """
import impls
from harness.data import load_model

_tokenizer = impls.load("priority", load_model({model!r}))

class Lower:
    def encode(self, text):
        return _tokenizer.encode(text.lower(), disallowed_special=())

    def decode(self, ids):
        return _tokenizer.decode(ids)

class Right(Lower):
    def encode(self, text):
        return _tokenizer.encode(text, disallowed_special=())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapter")
    spec = impls.TrainingSpec(vocab_size=400, pattern="gpt2")
    impls.train("priority", ["hello world, the cat sat on the mat " * 3], spec).model.save(folder / "small.json")
    source = _ADAPTER.format(model=str(folder / "small.json"))
    (folder / "conform_adapter.py").write_text(source, encoding="utf-8")
    return folder


def test_the_verb_prints_a_table_or_one_document(bpebench: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    options = ("-m", "small.json", *(f"--check={name}" for name in ("ids", "round-trip", "batch")))
    wrong = bpebench("conform", "conform_adapter:Lower", *options)
    assert (wrong.status, "does not conform: 2 failed, 1 not offered" in wrong.out) == (1, True), wrong
    assert re.search(r"ids · normalisation: .*\n.*\n    input +'[A-Z]'", wrong.out)
    right = bpebench("conform", "conform_adapter:Right", *options, "--json")
    document = json.loads(right.out)
    assert (right.status, document["conforms"], document["verdict"]) == (0, True, "conforms")
    assert [verdict["status"] for verdict in document["verdicts"]] == ["passed", "same as reference", "not offered"]


def test_what_cannot_be_judged_ends_with_2(bpebench: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for arguments, message in (
        ("no_such_module:Thing", "no module no_such_module"),
        ("conform_adapter:Right --check frobnicate", "unknown check 'frobnicate'"),
        ("conform_adapter:Right --reference nobody", "unknown implementation 'nobody'"),
        ("conform_adapter:Right --junit junit.xml", "--junit was removed: use --json"),
    ):
        ended = bpebench("conform", *arguments.split(), "-m", "small.json")
        assert (ended.status, message in ended.err.splitlines()[-1]) == (2, True), ended


@pytest.mark.parametrize("document", ["README.md", "harness/conform/CONFORMANCE.md", "harness/commands/conform.py"])
def test_what_says_the_number_of_checks_says_the_right_one(document: str) -> None:
    root = Path(__file__).resolve().parents[3]
    numbers = re.findall(r"(\d+) (?:checks|questions)(?! fail)", (root / document).read_text("utf-8"))
    assert set(map(int, numbers)) == {len(CHECKS)}
