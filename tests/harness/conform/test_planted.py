"""Twelve planted bugs, each found, named with its stage, and shrunk; a right adapter passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from planted_tokenizers import conform, fewer, model_file, planted, the_failure

import harness
import impls
from harness.conform.verdicts import ConformanceReport

Conform = Callable[..., ConformanceReport]

__all__ = ["conform", "fewer", "model_file", "planted"]


@pytest.mark.parametrize(
    ("bug", "check", "stage", "at_most"),
    [
        ("OffByOneAtAHundred", "ids", "merges", None),
        ("Rightmost", "ids", "pieces or merges", 12),
        ("StrReplace", "ids", "pieces or merges", 12),
        ("DropsUncovered", "code-points", "normalisation", 12),
        ("DropsUncovered", "round-trip", "normalisation", 12),
        ("SpecialsAlways", "special-tokens", "special tokens", 12),
        ("LowersDottedI", "ids", "normalisation", 12),
        ("LowersDottedI", "round-trip", "normalisation", 12),
        ("HashCache", "state", "cache", 12),
        ("ThreadRace", "threads", "threads", 12),
        ("DecodesByToken", "round-trip", "decode", 12),
        ("Composes", "ids", "normalisation", 12),
    ],
)
def test_a_planted_bug_is_found_named_and_shrunk(
    planted: ModuleType, conform: Conform, bug: str, check: str, stage: str, at_most: int | None
) -> None:
    failure = the_failure(conform(getattr(planted, bug), check))
    assert (failure.check, failure.stage) == (check, stage), failure.reason
    assert failure.counterexample is not None
    assert at_most is None or 0 < failure.counterexample.n_characters <= at_most, failure.counterexample


def test_of_a_hundred_bytes_none_is_left_over(planted: ModuleType, conform: Conform) -> None:
    example = the_failure(conform(planted.OffByOneAtAHundred, "ids")).counterexample
    assert len(example.text.text.encode()) == 100
    assert len(example.expression) < 40


def test_what_is_wrong_past_a_megabyte_only_is_shown_in_a_line(planted: ModuleType, conform: Conform) -> None:
    failure = the_failure(conform(planted.PastAMegabyte, "lengths"))
    assert failure.stage == "pieces"
    assert len(failure.counterexample.text.text) > 1 << 20
    assert len(failure.counterexample.expression) < 40


def test_replaying_merges_is_wrong_on_a_list_that_is_not_monotone(
    planted: ModuleType, conform: Conform, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "not-monotone.json"
    non_monotone().save(path)
    monkeypatch.setenv("PLANTED_MODEL", str(path))
    planted.model.cache_clear()
    try:
        failure = the_failure(conform(planted.Replay, "ids", reference="naive"))
        assert failure.stage == "pieces or merges"
        assert failure.counterexample.text.text == "aab"
        right = conform(lambda: impls.load("priority", planted.model()), "ids", "round-trip", reference="naive")
        assert right.conforms
    finally:
        planted.model.cache_clear()


def non_monotone() -> impls.Model:
    """a+ab before a+b: replayed in order, `aab` stays a·ab."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"aab"]
    return impls.Model(tokens=tuple(tokens), merges=((97, 256), (97, 98)), pattern=())


def test_a_right_adapter_with_everything_to_offer_passes(planted: ModuleType, conform: Conform) -> None:
    checks = (
        "ids", "round-trip", "spellings", "transitions", "tokens", "tokens", "offsets", "special-tokens",
        "batch", "spellings", "threads", "state", "state", "save-load",
    )  # fmt: skip
    report = conform(planted.Full, *checks)
    assert report.conforms, [(verdict.check, verdict.reason) for verdict in report.failed]
    assert {verdict.status for verdict in report.verdicts} == {"passed", "same as reference"}


def test_the_adapter_of_the_documentation_is_short_and_fails_as_it_says(
    planted: ModuleType, conform: Conform, model_file: Path
) -> None:
    document = (Path(harness.__file__).parent / "conform" / "CONFORMANCE.md").read_text(encoding="utf-8")
    source = document.split("```python\n")[1].split("```")[0]
    assert len(source.splitlines()) <= 20
    assert "ids · normalisation: " in document

    def adapter(source: str) -> Any:
        names: dict[str, Any] = {}
        exec(source.replace('"o200k_base"', repr(str(model_file))), names)
        return names["MyTokenizer"]

    failure = the_failure(conform(adapter(source), "ids"))
    assert failure.stage == "normalisation"
    fixed = "\n".join(line for line in source.splitlines() if "found out" not in line)
    assert conform(adapter(fixed), "ids", "round-trip").conforms
