"""Every planted fault is found by the check of its kind, named by its stage and shown small; right tokenizers pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import honest
import planted_by_rule
import planted_calls
import planted_cutting
import planted_growing
import planted_state
import pytest
from conform_stub import the_failure
from planted_bugs import FAULTS, Full, OffByOneAtAHundred, Right, SpecialsAlways

import harness
import impls
from harness.conform.checks import encoding
from harness.conform.report import render
from harness.conform.verdicts import ConformanceReport

Conform = Callable[..., ConformanceReport]


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_named_and_shrunk(conform: Conform, name: str) -> None:
    wrong, finding = FAULTS[name]
    failure = the_failure(conform(wrong, finding.check))
    assert failure.check == finding.check
    assert finding.stage in (None, failure.stage), failure.reason
    assert finding.reason in failure.reason
    if finding.n_characters is not None:
        assert failure.counterexample.n_characters <= finding.n_characters, failure.counterexample


@pytest.mark.parametrize("kind", planted_by_rule.KINDS)
def test_each_fault_of_a_kind_is_found(conform: Conform, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rule, numbers, checks = planted_by_rule.KINDS[kind]
    for number in numbers:
        wrong = rule(number)
        if kind == "code-points":
            monkeypatch.setattr(encoding, "CODES", [*range(0x41, 0x5B), ord(wrong.character)])  # type: ignore[attr-defined]
        checks = getattr(wrong, "checks", checks)
        assert any(conform(wrong, check).failed for check in checks), f"{kind} {number}"


def test_of_a_hundred_bytes_none_is_left_over(conform: Conform) -> None:
    example = the_failure(conform(OffByOneAtAHundred, "ids")).counterexample
    assert len(example.text.text.encode()) == 100
    assert len(example.expression) < 40


@pytest.mark.parametrize(
    ("wrong", "stage", "checks"),
    [
        (SpecialsAlways, "special tokens", ("ids", "tokens", "special-tokens")),
        (planted_state.RemembersBySum, "cache", ("decode-any-order", "round-trip", "tokens")),
        (planted_calls.EndsAtZero, "normalisation", ("ids", "transitions", "state")),
        (planted_state.LeftoversOfAnError, "bad input", ("ids", "round-trip", "bad-input")),
    ],
)
def test_a_fault_is_shown_once_and_looked_at_first(
    conform: Conform, wrong: type[Right], stage: str, checks: tuple[str, ...]
) -> None:
    report = conform(wrong, *checks)
    assert report.first is not None
    assert [verdict.stage for verdict in report.faults] == [stage]
    assert render(report).count(f"✗ {report.first.check} ·") == 1


def test_a_right_adapter_with_everything_to_offer_passes(conform: Conform) -> None:
    checks = (
        *("ids", "round-trip", "transitions", "tokens", "spellings", "offsets", "special-tokens", "batch", "threads"),
        *("state", "save-load", "truncate", "streaming-decode", "python-values", "decode-any-order"),
    )
    report = conform(Full, *checks)
    assert {verdict.check: verdict.status for verdict in report.verdicts} == {
        check: "same as reference" if check in ("round-trip", "bad-input") else "passed" for check in checks
    }
    by_check = {verdict.check: verdict for verdict in report.verdicts}
    assert all(by_check[check].n_inputs > 1_000 for check in ("truncate", "streaming-decode"))
    refused = "encode_batch with allowed_special='all', disallowed_special=[] is refused: TypeError"
    assert refused in by_check["special-tokens"].reason


@pytest.mark.parametrize(
    ("right", "checks"),
    [
        (honest.Cached, ("batch", "threads", "decode-any-order")),
        (honest.Threaded, ("batch", "threads")),
        (honest.NumpyArrays, ("spellings", "batch")),
        (honest.Library, ("ids", "special-tokens", "offsets")),
        (honest.RefusesSpecials, ("ids", "special-tokens", "batch")),
        (honest.IgnoresKeywords, ("special-tokens",)),
        (honest.StrictText, ("ids", "round-trip", "bad-input", "decode-any-order")),
        (honest.Slow, ("decode-any-order", "special-tokens")),
        (planted_cutting.OnlyFits, ("truncate",)),
    ],
)
def test_a_right_tokenizer_passes_however_it_is_built(
    conform: Conform, right: type[Right], checks: tuple[str, ...]
) -> None:
    report = conform(right, *checks)
    assert report.conforms or not report.failed, [(verdict.check, verdict.reason) for verdict in report.failed]
    assert not report.unjudged
    assert all(verdict.asked.calls for verdict in report.verdicts if verdict.status == "passed")


def test_right_ways_of_following_a_text_pass_with_what_they_have(conform: Conform) -> None:
    class Ours(Right):
        inner = "compiled"

        def incremental(self) -> object:
            return self.tokenizer.incremental()

    shares = []
    for right, remark in (
        (planted_growing.Growing, ""),
        (planted_growing.Forgets, "; no replace; no copy"),
        (Ours, ""),
    ):
        (verdict,) = conform(right, "incremental").verdicts
        assert (verdict.status, verdict.n_inputs > 200) == ("passed", True), verdict.reason
        assert verdict.reason.endswith(f"% of the ids stable{remark}")
        shares.append(int(verdict.reason.partition("%")[0]))
    assert shares[:2] == [0, 0]
    assert shares[2] > 40


@pytest.mark.parametrize(
    ("method", "check", "reason"),
    [
        ("incremental", "incremental", "its incremental() cannot be used: TypeError: dict has no append"),
        ("decoder", "streaming-decode", "its decoder() cannot be used: TypeError: dict has no push"),
        ("truncate", "truncate", "its truncate takes other arguments: TypeError"),
    ],
)
def test_what_is_of_another_kind_is_not_asked_and_what_is_not_there_not_offered(
    conform: Conform, method: str, check: str, reason: str
) -> None:
    other = type("Other", (Right,), {method: lambda self: {}})
    (verdict,) = conform(other, check).verdicts
    assert (verdict.status, verdict.n_inputs) == ("not asked", 0)
    assert reason in verdict.reason
    assert conform(Right, check).verdicts[0].status == "not offered"


def test_offsets_over_a_model_that_normalises_pass(conform: Conform, planted_model: impls.Model) -> None:
    normalised = planted_model.with_(normalization="nfc+prefix-space")
    report = conform(lambda: impls.load("naive", normalised), "offsets", reference="priority", model=normalised)
    (verdict,) = report.verdicts
    assert (verdict.status, verdict.n_inputs > 100) == ("passed", True), verdict.reason


def test_a_tokenizer_of_a_lossy_model_passes_and_is_held_to_the_bytes_of_the_reference(
    conform: Conform, planted_model: impls.Model
) -> None:
    model = planted_model.with_(normalization="nfc")

    class Lossy(Full):
        def __init__(self) -> None:
            super().__init__()
            self.tokenizer = impls.load("tiktoken", model)

    report = conform(Lossy, "ids", "round-trip", "spellings", "decode-any-order", "special-tokens", model=model)
    assert report.conforms, [(verdict.check, verdict.reason) for verdict in report.failed]

    class Garbage(Lossy):
        def decode_bytes(self, ids: list[int]) -> bytes:
            return b"garbage"

    class Refuses(Lossy):
        def decode_bytes(self, ids: list[int]) -> bytes:
            raise ValueError("no")

    for wrong in (Garbage, Refuses):
        assert the_failure(conform(wrong, "spellings", model=model)).stage == "decode"


def test_the_adapter_of_the_documentation_is_short_and_fails_as_it_says(conform: Conform, model_file: Path) -> None:
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
