"""A short run of the readers' fuzzer, and everything its long runs found."""

from __future__ import annotations

import math
import random
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
N_FILES = 250


def _load_file(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_load_file("reader_damage")
reader_fuzz = _load_file("reader_fuzz")


@pytest.fixture(scope="module")
def good() -> dict[str, bytes]:
    seeds: dict[str, bytes] = reader_fuzz.seeds()
    return seeds


@pytest.mark.parametrize("format", reader_fuzz.FILES)
def test_a_mutated_file_is_read_or_refused_in_one_line(format: str, good: dict[str, bytes], tmp_path: Path) -> None:
    rng = random.Random(format)
    for _ in range(N_FILES):
        content = reader_fuzz.mutated(good[format], rng)
        problem = reader_fuzz.problem_with_one_file(content, format, tmp_path, good, max_seconds=math.inf)
        assert problem is None, (content[:2000], problem)


def test_the_fuzzer_finds_a_planted_fault(
    good: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(entries: Any, *_: object) -> tuple[dict[str, int], dict[str, int], dict[str, tuple[str, ...]]]:
        return {entries[0].content: entries[0].id}, {}, {}

    monkeypatch.setattr("impls.formats.tokenizer_json.reader._whole_tokens", careless)
    rng = random.Random(1)
    for _ in range(1000):
        content = reader_fuzz.mutated(good["tokenizer.json"], rng)
        problem = reader_fuzz.problem_with_reading(content, "tokenizer.json", tmp_path)
        if problem is not None:
            assert "careless" in problem
            return
    pytest.fail("a thousand files, and the fault was not found")


@pytest.mark.parametrize(
    "file", sorted(path for path in (HERE / "fuzz_corpus").glob("*/*")), ids=lambda path: path.name
)
def test_what_led_long_runs_to_new_code_is_read_or_refused_in_one_line(
    file: Path, good: dict[str, bytes], tmp_path: Path
) -> None:
    problem = reader_fuzz.problem_with_one_file(
        file.read_bytes(), file.parent.name, tmp_path, good, max_seconds=math.inf
    )
    assert problem is None
