"""The sweep over code points: every cut shows, differences become ranges, and have the right reason."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import harness.unicode.sweep
import impls
from harness.cli import main
from harness.report.unicode_text import render_sweep
from harness.unicode.characters import is_of_a_version
from harness.unicode.contexts import CONTEXTS, FEW_CONTEXTS, borders, code_points, contexts_of, sweep_model, text_of
from harness.unicode.sweep import Engine, Swept, UnicodeSweep, sweep, sweep_engine
from harness.unicode.sweep import versions as sweep_versions
from impls.core.text.patterns import NAMED

CODES = [
    *range(0x20, 0x250),
    *range(0x0C50, 0x0C60),
    *range(0x2150, 0x2200),
    *range(0x2600, 0x2610),
    *range(0xA7C0, 0xA7E0),
    *range(0x11DD0, 0x11DF0),
    0x50000,
]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "unicode_engines"))
    for name in ("newer", "snowman", "dropping", "misspelling"):
        monkeypatch.setitem(impls.registry._OWN, name, f"unicode_engines:{name.capitalize()}")


def swept(*engines: str, pattern: str = "cl100k") -> UnicodeSweep:
    def run(tasks: Sequence[Any]) -> list[Any]:
        return [sweep_engine(*task) for task in tasks]

    return sweep(engines, NAMED[pattern], pattern, run, CODES)


def test_every_code_point_is_in_the_sweep_and_its_text_fits_a_word() -> None:
    codes = code_points()
    assert len(codes) == 0x110000 - 0x800
    assert max(len(text_of(code).encode()) for code in (0x7F, 0x7FF, 0xFFFF, 0x1FFFF, 0x5FFFF)) <= 64
    assert contexts_of(0x50000) == FEW_CONTEXTS
    assert contexts_of(0x2FFFF) == CONTEXTS


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_each_class_is_cut_in_a_way_of_its_own(pattern: str) -> None:
    tokenizer = impls.load("priority", sweep_model(NAMED[pattern]))
    kinds = {"letter": 0x4E00, "number": 0xFF11, "symbol": 0x2603, "space": 0x2003}
    found = dict(zip(kinds, borders(tokenizer, kinds.values()).tolist(), strict=True))
    assert len(set(found.values())) == len(kinds)
    if pattern == "o200k":
        small, capital = borders(tokenizer, [0x1E01, 0x1E00]).tolist()
        assert len({small, capital, found["letter"]}) == 3


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_the_engines_of_unicode_16_cut_alike(pattern: str) -> None:
    found = swept("regex", "tiktoken", "tokenizers", "compiled", "priority", pattern=pattern)
    assert [(engine.status, engine.version) for engine in found.engines] == [("ok", "16.0")] * 5
    assert found.ranges == []
    assert not found.is_fault


def test_a_later_unicode_is_named_and_no_fault(planted: None) -> None:
    found = swept("regex", "newer")
    assert found.engines[1].version == "17.0"
    assert found.engines[1].n_differing == 12
    assert [(one.first, one.last, one.reason) for one in found.ranges] == [
        (0x0C5C, 0x0C5C, "unicode version"),
        (0xA7CE, 0xA7CE, "unicode version"),
        (0x11DE0, 0x11DE9, "unicode version"),
    ]
    assert [one.engine_class for one in found.ranges] == ["letter", "letter", "number"]
    assert not found.is_fault


def test_another_class_for_an_old_character_is_a_fault(planted: None) -> None:
    (one,) = swept("tiktoken", "snowman").ranges
    assert (one.first, one.last, one.reason, one.name) == (0x2604, 0x2604, "class", "COMET")
    assert (one.reference_class, one.engine_class) == ("mark or symbol", "letter")
    assert swept("tiktoken", "snowman").is_fault


def test_a_lost_character_is_found_among_many(planted: None) -> None:
    found = swept("compiled", "dropping")
    assert [(one.first, one.last, one.reason) for one in found.ranges] == [(0xE9, 0xE9, "lost")]
    assert found.is_fault


@pytest.mark.parametrize("engines", [("compiled", "misspelling"), ("misspelling", "dropping"), ("dropping",)])
def test_a_character_that_is_misspelt_or_lost_by_all_is_found_too(planted: None, engines: tuple[str, ...]) -> None:
    found = swept(*engines)
    assert {(one.first, one.reason) for one in found.ranges} == {(0xE9, "lost")}
    assert found.is_fault
    assert "alike" not in render_sweep(found)


def test_one_engine_alone_is_compared_with_none() -> None:
    found = swept("regex")
    assert not found.is_fault
    assert "nothing was compared: only regex answered" in render_sweep(found)


def test_two_asked_for_of_which_one_answers_are_not_alike() -> None:
    def run(tasks: Sequence[Any]) -> list[Any]:
        refused = Swept(Engine(name="tiktoken", status="missing", reason="not installed"))
        return [sweep_engine(*tasks[0]), refused, *(sweep_engine(*task) for task in tasks[2:])]

    found = sweep(("regex", "tiktoken"), NAMED["cl100k"], "cl100k", run, [0x41])
    assert found.is_fault
    assert "nothing was compared" in render_sweep(found)
    found = sweep(("regex", "tiktoken", "priority"), NAMED["cl100k"], "cl100k", run, [0x41])
    assert not found.is_fault
    assert "2 engines cut alike around every code point; not compared: tiktoken" in render_sweep(found)


@pytest.mark.parametrize(
    ("character", "a", "b", "is_version"),
    [
        ("\u0c5c", "16.0", "17.0", True),
        ("\ua6e6", "16.0", "17.0", False),
        ("\u0870", "13.0", "16.0", True),
        ("\u2160", "10.0", "16.0", False),
        ("\u0870", "16.0", "16.0", False),
        ("\u0870", None, "16.0", False),
    ],
)
def test_a_character_both_versions_have_is_no_matter_of_version(
    character: str, a: str | None, b: str | None, is_version: bool
) -> None:
    assert is_of_a_version(character, a, b) is is_version


def test_what_cannot_run_it_has_a_verdict() -> None:
    def run(tasks: Sequence[Any]) -> list[Any]:
        return [sweep_engine(*tasks[0]), RuntimeError("the worker process died without an answer")]

    found = sweep(("regex", "tiktoken"), NAMED["cl100k"], "cl100k", run, [0x41])
    assert [engine.status for engine in found.engines] == ["ok", "crash"]
    assert found.is_fault
    refused = sweep_engine("sentencepiece", (r"(?:a|[^a])+?(?=\X)|[\s\S]",), [0x41])
    assert refused.engine.status in ("ok", "unsupported")


def test_versions_are_found_through_the_same_contexts(planted: None) -> None:
    assert sweep_versions(["newer", "tokenizers", "nobody"]) == {
        "regex": "16.0", "newer": "17.0", "tokenizers": "16.0", "nobody": None,
    }  # fmt: skip


def test_the_command_shows_versions_and_ranges(
    planted: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, hand_made: Any, tmp_path: Path
) -> None:
    model = tmp_path / "model.json"
    hand_made("a+b", alphabet="bytes").with_(pattern=NAMED["cl100k"]).save(model)
    monkeypatch.setattr(harness.unicode.sweep, "code_points", lambda: CODES)
    monkeypatch.setattr(
        "harness.process.pool.run_tasks", lambda function, tasks, done: [function(*task) for task in tasks]
    )

    def bpebench(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["bpebench", "check", "--unicode", "-m", str(model), *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), capsys.readouterr().out

    status, out = bpebench("-e", "^(regex|newer)$")
    assert status == 0
    assert "U+11DE0–11DE9" in out
    assert "12 unicode version (newer than one of the engines)" in out
    status, out = bpebench("-e", "^(tiktoken|snowman)$", "--json")
    assert status == 1
    (document,) = json.loads(out)
    assert [engine["name"] for engine in document["engines"]] == ["tiktoken", "snowman"]
