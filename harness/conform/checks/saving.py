"""Saved and loaded, a tokenizer is still the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.reference import Refused
from harness.conform.verdicts import Counterexample, Verdict

_TEXTS = 300


def save_load(case: Case) -> Verdict:
    """`save(path)`, then `load(path)` in a fresh process: the same ids."""
    missing = [operation for operation in ("save", "load") if not case.subject.offers(operation)]
    if missing:
        return Verdict(status="not offered", reason=f"it has no {' and no '.join(missing)}")
    texts = texts_for(case)
    texts = texts[:: max(1, len(texts) // _TEXTS)]
    before = list(case.subject.ids_of_all(texts))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "saved")
        for operation in ("save", "load"):
            told = case.subject.ask(operation, path=path)
            if isinstance(told, Refused):
                return Verdict(status="failed", stage="saving", reason=f"{operation} failed with {told}", n_failed=1)
            if operation == "save":
                case.subject.fresh()
        for text, expected, got in zip(texts, before, case.subject.ids_of_all(texts), strict=True):
            if got != expected and not (isinstance(got, Refused) and isinstance(expected, Refused)):
                case.subject.fresh()
                return Verdict(
                    status="failed",
                    stage="saving",
                    reason="other ids after saving and loading",
                    counterexample=Counterexample.of(text, expected=expected, got=got),
                    n_failed=1,
                )
    case.subject.fresh()
    return Verdict(status="passed", n_inputs=len(texts))
