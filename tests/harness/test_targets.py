"""Every form of target means the same for every verb that takes one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

import harness
import impls
from harness.commands.decode import Decode
from harness.commands.encode import Encode
from harness.commands.explain import Explain
from harness.commands.trace import Trace
from harness.commands.vocab import Vocab
from harness.targets import DEFAULT_MODEL, NotLoadable, is_target, load_object, load_tokenizer
from impls.formats import save

_OBJECT = '''
import impls

class Bytes:
    """Every byte is a token."""

    def __init__(self, model: impls.Model) -> None:
        self.tokens = model.tokens
        self.ids = model.id_by_token

    def encode(self, text: str) -> list[int]:
        return [self.ids[bytes([byte])] for byte in text.encode("utf-8", "replace")]

    def decode(self, ids: list[int]) -> str:
        return b"".join(self.tokens[i] for i in ids).decode("utf-8", "replace")
'''
_PROTOCOL = Path(harness.__file__).parent / "conform" / "PROTOCOL.md"
FORMS = ["targets_bytes:Bytes", "targets_bytes.py", "targets_bytes.py:Bytes", f"cmd:{sys.executable} program.py"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a model whose ids of bytes are their values, an object, a program."""
    spec = impls.TrainingSpec(vocab_size=270)
    impls.train("priority", ["the cat, the mat, the end"], spec).model.save(tmp_path / "small.json")
    (tmp_path / "targets_bytes.py").write_text(_OBJECT, encoding="utf-8")
    program = _PROTOCOL.read_text("utf-8").split("```python\n")[1].split("```")[0]
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "targets_bytes", raising=False)
    return tmp_path


def test_every_verb_takes_the_same_forms(folder: Path, bpebench: Any, here: None) -> None:
    form, other, third, _ = FORMS
    for each in FORMS:
        explained = bpebench("explain", "priority", each, "the", "-m", "small.json")
        assert (explained.status, "differ first in: pieces or merges" in explained.out) == (1, True), explained
    fuzzed = bpebench("fuzz", "priority", form, "-m", "small.json", "--texts", "64", "--stop-after", "1", "--no-save")
    assert (fuzzed.status, f"{form} differs from priority" in fuzzed.out) == (1, True), fuzzed
    checked = bpebench("check", "-e", other, "-m", "small.json", "-c", "samples/en", "--max-bytes", "300")
    assert (checked.status, f"priority and {other} differ" in checked.out) == (1, True), checked
    both = bpebench("check", "-e", other, "-e", "naive", "-m", "small.json", "-c", "samples/en", "--max-bytes", "300")
    assert (both.status, f"naive and {other} differ" in both.out, "priority" in both.out) == (1, True, False), both
    joined = bpebench("check", "-e", f"{other}|naive", "-m", "small.json", "-c", "samples/en")
    assert (joined.status, f"{other} is a file or a command, not an expression" in joined.err) == (2, True), joined
    judged = bpebench("conform", third, "-m", "small.json", "--check", "ids")
    assert (judged.status, "ids · pieces or merges" in judged.out) == (1, True), judged


def test_a_name_of_an_implementation_is_no_other_target(folder: Path) -> None:
    (folder / "priority").write_text("", encoding="utf-8")
    assert not is_target("priority")
    assert load_tokenizer("priority", impls.Model.load("small.json")).name == "priority"
    assert not is_target("^(mine|priority)$")


def test_a_model_file_runs_by_its_library(folder: Path) -> None:
    model = impls.Model.load("small.json")
    save(model, Path("tokenizer.json"), "tokenizer.json")
    tokenizer = load_tokenizer("tokenizer.json", model)
    assert tokenizer.name == "tokenizers"
    assert tokenizer.decode(tokenizer.encode("the")) == "the"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "defines nothing with encode and decode"),
        (_OBJECT + "\nclass Other(Bytes): pass\n", r"2 objects \(Bytes, Other\).*name one as several.py:OBJECT"),
        ("import no_such_thing", "cannot be imported"),
        ("raise SystemExit(3)", "cannot be imported: raised SystemExit"),
    ],
)
def test_a_file_that_names_no_tokenizer_is_one_line(folder: Path, source: str, message: str) -> None:
    (folder / "several.py").write_text(source, encoding="utf-8")
    refused(NotLoadable, message, load_object, "several.py", impls.Model.load("small.json"))


def test_a_file_that_is_not_there_is_named(folder: Path) -> None:
    refused(NotLoadable, r"there is no file gone\.py", load_object, "gone.py:Thing", None)


def test_verbs_have_one_default_model() -> None:
    for verb in (Decode, Encode, Explain, Trace, Vocab):
        for parameter in verb.command().params:
            if parameter.name == "model":
                assert parameter.default == DEFAULT_MODEL, verb
    assert DEFAULT_MODEL in next(p.help for p in Explain.command().params if p.name == "models")
