"""Every planted fault is found by the check of its kind, named by its stage and shown small; right tokenizers pass."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import honest
import planted_by_rule
import planted_calls
import planted_state
import pytest
from conform_stub import InProcess, the_failure
from planted_history import LeaksErrors, LeaksMemory, OpensFiles
from planted_wrapper import FAULTS, Full, Right

import harness
import impls
from harness.conform.case import Case
from harness.conform.checks import encoding, state
from harness.conform.client import TargetClient
from harness.conform.locate import locate
from harness.conform.reference import Reference
from harness.conform.report import ConformanceReport, render
from harness.conform.verdicts import Fault
from harness.generators.texts import prose

Conform = Callable[..., ConformanceReport]


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_named_and_shrunk(conform: Conform, name: str) -> None:
    wrong, finding = FAULTS[name]
    failure = the_failure(conform(wrong, finding.check))
    assert finding.stage in (None, failure.stage), failure.reason
    assert finding.reason in failure.reason
    example = failure.counterexample
    texts = [] if example is None else [*filter(None, [example.text]), *example.after]
    assert sum(len(text.text) for text in texts) <= finding.n_characters, example


def test_a_wrong_code_point_and_a_wrong_token_are_found(conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        character, wrong = planted_by_rule.code_point(number)
        monkeypatch.setattr(encoding, "CODES", [*range(0x41, 0x5B), ord(character)])
        assert conform(wrong, "code-points").failed, number
    for number in range(4):
        assert conform(planted_by_rule.token(number), "tokens").failed, number


@pytest.mark.parametrize(
    ("wrong", "text", "how"),
    [
        (planted_calls.Blocks, prose(450_001, 0), "at 400,000 characters"),
        (planted_calls.Runs, "apartmanlarinda" * 2_000, "in runs of 25,000"),
    ],
)
def test_what_a_vendors_wrapper_cuts_is_named(planted_model: impls.Model, wrong: Any, text: str, how: str) -> None:
    with TargetClient(lambda environment: InProcess(wrong, environment)) as client:
        location = locate(text, client.ids(text), client, Reference("tiktoken", "planted", planted_model))
    what = f"its wrapper cuts a text {how} and encodes the parts; the vocabulary itself has no such limit"
    assert location == ("pieces", what)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (OpensFiles, "of encode leave .* files open"),
        (LeaksMemory, "of decode leaves [3-5],... bytes in memory"),
        (LeaksErrors, "of decode of an unknown id leaves [3-5],... bytes in memory"),
    ],
)
def test_what_equal_calls_leave_behind_is_found(planted_model: impls.Model, wrong: type[Right], reason: str) -> None:
    client = TargetClient(lambda environment: InProcess(wrong, environment))
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what other tests freed would be filled first
    with client, pytest.raises(Fault, match=reason):
        state._held(Case(client, Reference("tiktoken", "planted", planted_model)))


@pytest.mark.parametrize(
    ("wrong", "stage", "checks"),
    [
        (planted_calls.SpecialsAlways, "special tokens", ("ids", "tokens", "special-tokens")),
        (planted_calls.RemembersBySum, "cache", ("decode-any-order", "round-trip", "tokens")),
        (planted_calls.EndsAtZero, "normalisation", ("ids", "transitions")),
        (planted_state.LeftoversOfAnError, "bad input", ("ids", "round-trip", "bad-input")),
    ],
)
def test_a_fault_is_shown_once(conform: Conform, wrong: type[Right], stage: str, checks: tuple[str, ...]) -> None:
    report = conform(wrong, *checks)
    (failure,) = report.faults
    assert failure.stage == stage
    assert render(report).count(f"✗ {failure.check} ·") == 1


def test_a_right_adapter_with_everything_to_offer_passes(conform: Conform) -> None:
    checks = (
        *("python-values", "round-trip", "tokens", "decode-any-order", "offsets", "streaming-decode", "incremental"),
        *("special-tokens", "batch", "truncate", "threads", "state"),
    )
    report = conform(Full, *checks)
    assert {verdict.check: verdict.status for verdict in report.verdicts} == {
        check: "same as reference" if check == "round-trip" else "passed" for check in checks
    }
    assert all(verdict.n_inputs > 100 for verdict in report.verdicts if verdict.check not in ("batch", "python-values"))
    refused = "encode_batch with allowed_special='all', disallowed_special=[] is refused: TypeError"
    assert [verdict.check for verdict in report.verdicts if refused in verdict.reason] == ["special-tokens"]


@pytest.mark.parametrize(
    ("right", "checks"),
    [
        (honest.Cached, ("batch", "threads", "decode-any-order")),
        (honest.Threaded, ("batch", "threads")),
        (honest.Library, ("ids", "special-tokens", "offsets")),
        (honest.RefusesSpecials, ("ids", "special-tokens", "batch")),
        (honest.IgnoresKeywords, ("special-tokens",)),
        (honest.StrictText, ("ids", "round-trip", "bad-input", "decode-any-order")),
        (honest.OnlyFits, ("truncate",)),
        (honest.Appends, ("incremental",)),
    ],
)
def test_a_right_tokenizer_passes_however_built(conform: Conform, right: type[Right], checks: tuple[str, ...]) -> None:
    report = conform(right, *checks)
    assert not report.failed, [(verdict.check, verdict.reason) for verdict in report.failed]
    assert report.has_passed
    assert all(verdict.n_inputs for verdict in report.verdicts if verdict.status == "passed")


@pytest.mark.parametrize(
    ("method", "check", "reason"),
    [
        ("incremental", "incremental", "its incremental() cannot be used: TypeError: dict has no append"),
        ("decoder", "streaming-decode", "its decoder() cannot be used: TypeError: dict has no push"),
        ("truncate", "truncate", "its truncate takes other arguments: TypeError"),
    ],
)
def test_another_kind_is_not_asked_and_none_not_offered(conform: Conform, method: str, check: str, reason: str) -> None:
    other = type("Other", (Right,), {method: lambda self: {}})
    (verdict,) = conform(other, check).verdicts
    assert (verdict.status, verdict.n_inputs, reason in verdict.reason) == ("not asked", 0, True), verdict.reason
    assert conform(Right, check).verdicts[0].status == "not offered"


def test_models_that_change_the_text_are_held_to_the_reference(conform: Conform, planted_model: impls.Model) -> None:
    model = planted_model.with_(normalization="nfc+prefix-space")
    of_ours = conform(lambda: impls.load("naive", model), "offsets", reference="priority", model=model)
    assert [(verdict.status, verdict.n_inputs > 100) for verdict in of_ours.verdicts] == [("passed", True)]
    lossy = planted_model.with_(normalization="nfc")

    class Lossy(Full):
        def __init__(self) -> None:
            super().__init__()
            self.tokenizer = impls.load("tiktoken", lossy)

    report = conform(Lossy, "ids", "round-trip", "spellings", "decode-any-order", model=lossy)
    assert report.conforms, [(verdict.check, verdict.reason) for verdict in report.failed]
    garbage = type("Garbage", (Lossy,), {"decode_bytes": lambda self, ids: b"garbage"})
    assert the_failure(conform(garbage, "spellings", model=lossy)).stage == "decode"


def test_the_adapter_of_the_documentation_is_short_and_fails_as_it_says(conform: Conform, model_file: Path) -> None:
    document = (Path(harness.__file__).parent / "conform" / "CONFORMANCE.md").read_text(encoding="utf-8")
    source = document.split("```python\n")[1].split("```")[0]
    assert len(source.splitlines()) <= 20
    assert "ids · normalisation: " in document

    def adapter(source: str) -> Any:
        names: dict[str, Any] = {}
        exec(source.replace('"o200k_base"', repr(str(model_file))), names)
        return names["MyTokenizer"]

    assert the_failure(conform(adapter(source), "ids")).stage == "normalisation"
    fixed = "\n".join(line for line in source.splitlines() if "normalize(" not in line)
    assert conform(adapter(fixed), "ids", "round-trip").conforms
