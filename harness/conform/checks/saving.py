"""A tokenizer must be the same after saving and loading."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.reference import Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput

_TEXTS = 300


def save_load(case: Case) -> CheckVerdict:
    """Check for the same ids after `save(path)`, and `load(path)` in a fresh process."""
    missing = [operation for operation in ("save", "load") if not case.client.offers(operation)]
    if missing:
        return CheckVerdict(status="not offered", reason=f"it has no {' and no '.join(missing)}")
    texts = texts_for(case)
    texts = texts[:: max(1, len(texts) // _TEXTS)]
    before = list(case.client.ids_of_all(texts))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "saved")
        for operation in ("save", "load"):
            answer = case.client.ask(operation, path=path)
            if isinstance(answer, Refusal):
                return CheckVerdict(
                    status="failed", stage="saving", reason=f"{operation} failed with {answer}", n_failed=1
                )
            if operation == "save":
                case.client.fresh()
        for text, expected, got in zip(texts, before, case.client.ids_of_all(texts), strict=True):
            if got != expected and not (isinstance(got, Refusal) and isinstance(expected, Refusal)):
                case.client.fresh()
                return CheckVerdict(
                    status="failed",
                    stage="saving",
                    reason="other ids after saving and loading",
                    counterexample=FailingInput.of(text, expected=expected, got=got),
                    n_failed=1,
                )
    case.client.fresh()
    return CheckVerdict(status="passed", n_inputs=len(texts))
