"""Vectors: every mutant dies, right tokenizers pass, a file is the same each time, and the page's programs run."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.conform.vectors import choice, file
from harness.conform.vectors.mutants import mutants
from harness.conform.vectors.rules import NORMALISING, WRITTEN
from harness.conform.vectors.steps import KINDS, right_steps
from harness.data import load_model
from harness.printable import text_of
from impls.core.text.patterns import NAMED

PAGE = Path(file.__file__).parents[1] / "VECTORS.md"
COMMITTED = sorted((Path(file.__file__).parents[3] / "datasets" / "vectors").glob("*.jsonl.gz"))
PYTHON = (
    "def encode(text, allowed):\n    return list(text.encode())\n"
    "def decode(ids):\n    return bytes(ids).decode('utf-8', 'replace')\n"
)
JAVASCRIPT = (
    "export const encode = (text) => [...new TextEncoder().encode(text)];\n"
    "export const decode = (ids) => new TextDecoder('utf-8', {ignoreBOM: true}).decode(Uint8Array.from(ids));\n"
)


@pytest.fixture(scope="module")
def model() -> impls.Model:
    texts = [
        "the cat's hat isn't here, they'll say; 12 or 345 … \n\n  hello\tworld\r\n",
        "Привет, мир! Ünïcödé 中文 中文 ",
    ]
    spec = impls.TrainingSpec(vocab_size=420, pattern="gpt2", special_tokens=("<|end|>", "<|end|>x"))
    return impls.train("priority", [" ".join(texts * 3)], spec).model


def choose(model: impls.Model, every: int = 1) -> file.Vectors:
    """Choose from every eighth text: all that a choice can get wrong shows with them; for a part of the mutants."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_texts", "transitions"):
            texts = getattr(choice, name)
            patch.setattr(choice, name, lambda model, texts=texts: islice(texts(model), 0, None, 8))
        patch.setattr(choice, "mutants", lambda model, right: islice(mutants(model, right), 0, None, every))
        return choice.choose("small", model)


@pytest.fixture(scope="module")
def vectors(model: impls.Model) -> file.Vectors:
    return choose(model)


@pytest.fixture(scope="module")
def of_bytes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors of a model whose ids are bytes, for programs that are a line long."""
    folder = tmp_path_factory.mktemp("bytes")
    model = impls.Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=NAMED["gpt2"])
    model.save(folder / "bytes.json")
    cases = []
    for data in (b"a", b" a ", b"it's 12", "é \u65e5\r\n".encode(), b"\xe6\x97", b"\xf0\x9f\x98 \x80"):
        text, decoded = text_of(data), data.decode("utf-8", "replace")
        given = {"data": data} if text is None else {"text": text}
        cases.append(file.Vector(**given, allowed_special=[], ids=[*data], decoded=decoded))
        cases[-1].chosen_for([("decode" if text is None else "normalisation", "stripped")])
    content = file.content_of(file.vectors_of("bytes", model, cases, {}, []))
    (folder / "vectors.jsonl.gz").write_bytes(file.compressed(content, Path("x.gz")))
    (folder / "my_tokenizer.py").write_text(PYTHON)
    (folder / "my_tokenizer.mjs").write_text(JAVASCRIPT)
    return folder


def test_every_mutant_dies_or_is_named(model: impls.Model, vectors: file.Vectors) -> None:
    died = Counter[str]()
    for mutant in mutants(model, right_steps(model)):
        dead = any(choice.is_killed(mutant, case) for case in vectors.cases)
        assert dead != (f"{mutant.kind}: {mutant.name}" in vectors.head.not_told_apart), mutant
        died[mutant.kind] += dead
    assert set(died) == set(KINDS)
    assert sum(died.values()) > 250
    told_apart = {"special tokens: of two the shorter is recognised", "merges: greedy longest match"}
    assert told_apart.isdisjoint(vectors.head.not_told_apart)


def test_every_rule_of_reading_and_writing_changes_some_text_and_takes_all() -> None:
    marks = ["\u3000", "\ufe0f", "\ufeff", "\uff01", "\ufffe", "\U00010000", "e\u0301", "  ", "\n\n", "\r\n", "\r"]
    texts = [*map(chr, range(0x2600)), *marks, "a .", "a</w>", "a@@ b", "<0x41>", "ĠA"]
    for name, change in (NORMALISING | WRITTEN).items():
        assert [change(text) for text in texts] != texts, name


@pytest.mark.parametrize("name", ["tiktoken", "tokenizers", "compiled", "priority"])
def test_right_tokenizers_answer_them_all(name: str, model: impls.Model, vectors: file.Vectors) -> None:
    _assert_answers(impls.load(name, model), vectors)


def _assert_answers(tokenizer: impls.Tokenizer, vectors: file.Vectors) -> None:
    for case in vectors.cases:
        if case.text is not None:
            allowed = case.allowed_special if case.allowed_special == "all" else set(case.allowed_special)
            assert tokenizer.encode(case.text, allowed_special=allowed, disallowed_special=()) == case.ids, case
        else:
            assert tokenizer.decode_bytes(case.ids) == case.data, case
        assert tokenizer.decode(case.ids) == case.decoded, case


def test_written_twice_they_are_the_same_bytes(model: impls.Model, tmp_path: Path) -> None:
    once = file.content_of(choose(model, 12))
    assert file.content_of(choose(model, 12)) == once
    assert once.isascii()
    assert len(once) < file.MOST_BYTES
    for name in ("a.jsonl", "a.jsonl.gz"):
        path = tmp_path / name
        path.write_bytes(file.compressed(once, path))
        assert file.content_of(file.read(path)) == once


def test_a_wrong_file_is_one_line_that_names_the_place(of_bytes: Path, tmp_path: Path, bpebench: Any) -> None:
    lines = gzip.decompress((of_bytes / "vectors.jsonl.gz").read_bytes()).decode().splitlines()
    wrong = tmp_path / "wrong.jsonl"
    for message, content in {
        "line 1 is not the head": ["{}", *lines[1:]],
        "line 3 is not a case": [*lines[:2], '{"id": 3}', *lines[3:]],
        "it was cut short or appended to": lines[:-1],
        "not both": [lines[0], json.dumps({**json.loads(lines[1]), "bytes": "AA=="}), *lines[2:]],
    }.items():
        wrong.write_text("\n".join(content), "ascii")
        ended = bpebench("conform", "compiled", "--vectors", str(wrong))
        assert (ended.status, message in ended.err, len(ended.err.splitlines())) == (2, True, 1), ended.err
    ended = bpebench("conform", "compiled", "--vectors", str(of_bytes / "vectors.jsonl.gz"), "-m", "gpt2")
    assert (ended.status, "gpt2 has different tokens" in ended.err) == (2, True)


def test_any_form_of_target_is_asked(of_bytes: Path, bpebench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(of_bytes)
    (of_bytes / "strips.py").write_text(
        "class Strips:\n    def encode(self, text):\n        return list(text.strip().encode())\n"
        "    def decode(self, ids):\n        return bytes(ids).decode('utf-8', 'replace')\n"
        "class Slow(Strips):\n    def decode(self, ids):\n        __import__('time').sleep(0.3)\n"
        "        return super().decode(ids)\n"
    )
    page = (PAGE.parent / "PROTOCOL.md").read_text("utf-8")
    (of_bytes / "serve.py").write_text(page.split("```python\n")[1].split("```")[0])
    for target, status in (("priority", 0), (f"cmd:{sys.executable} serve.py", 0), ("strips:Strips", 1)):
        ended = bpebench("conform", target, "--vectors", "vectors.jsonl.gz", "-m", "bytes.json")
        assert ended.status == status, ended
    assert re.search(r"✗ normalisation · normalisation: normalisation-\w{10}: ", ended.out)
    ended = bpebench("conform", "strips:Slow", "--vectors", "vectors.jsonl.gz", "-m", "bytes.json", "--time", "0.1")
    assert (ended.status, "incomplete (normalisation, decode)" in ended.out) == (1, True), ended


@pytest.mark.parametrize(
    ("language", "program", "name"),
    [("python", sys.executable, "run.py"), pytest.param("js", "node", "run.mjs", marks=pytest.mark.needs("node"))],
)
def test_the_programs_of_the_page_run(language: str, program: str, name: str, of_bytes: Path) -> None:
    code = re.search(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (of_bytes / name).write_text(code[1], "utf-8")
    done = subprocess.run([program, name], cwd=of_bytes, capture_output=True, text=True, check=True)
    n_cases = len(file.read(of_bytes / "vectors.jsonl.gz").cases)
    assert done.stdout == f"{n_cases} vectors of bytes\n"


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_the_committed_vectors_are_not_stale(path: Path) -> None:
    vectors = file.read(path)
    model = load_model(vectors.head.model)
    assert vectors.head.tokens_sha256 == file.tokens_sha256(model)
    assert vectors.head.pattern == list(model.pattern)
    for name in ("compiled", "priority"):
        _assert_answers(impls.load(name, model), vectors)


def test_the_lead_vocabularies_have_vectors() -> None:
    assert {path.name.removesuffix(".jsonl.gz") for path in COMMITTED} >= {
        *("gpt2", "cl100k_base", "o200k_base", "llama3", "qwen3.6", "tekken", "deepseek")
    }
