"""Ask the cases of a file of vectors of any target."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import impls
from harness.conform import run as conform
from harness.conform.case import Case
from harness.conform.checks.catalogue import Check
from harness.conform.client import TargetClient
from harness.conform.run import SECONDS
from harness.conform.vectors.file import BadVectors, Vector, Vectors, tokens_sha256
from harness.conform.vectors.steps import KINDS
from harness.conform.verdicts import ConformanceReport, Fault
from harness.data import load_model
from harness.process.session import Failed


def run(
    target: str, path: Path, vectors: Vectors, model: str, library: str | None = None, seconds: float = SECONDS
) -> ConformanceReport:
    """Ask all cases and report, a verdict for each kind. `model` is what a target that needs one runs.

    Raises `NotLoadable`, `BadVectors` for a model of other tokens, and the errors of a missing model.
    """
    if target in impls.names() and tokens_sha256(load_model(model)) != vectors.head.tokens_sha256:
        raise BadVectors(f"{path}: is of {vectors.head.model}, and {model} has other tokens; name its model with -m")
    checks = [
        Check(kind, f"Does it answer the vectors of {kind}?", partial(_ask, cases))
        for kind in KINDS
        if (cases := [case for case in vectors.cases if case.kind == kind])
    ]
    report = conform.run(target, model, library, checks, seconds=seconds)
    report.reference, report.model = str(path), vectors.head.model
    return report


def _ask(cases: Sequence[Vector], case: Case) -> None:
    """Ask the cases of a kind; the first wrong one, which is among the smallest, is the counterexample."""
    takes_allowed = case.client.offers("allowed_special")
    for vector in cases:
        if takes_allowed or not vector.allowed_special:
            fault = _fault(case.client, vector, takes_allowed)
            case.n_inputs += 1
            if fault is not None:
                raise fault
    if not takes_allowed:
        case.remarks.append(f"takes no allowed_special: {len(cases) - case.n_inputs:,} cases were not asked")


def _fault(client: TargetClient, vector: Vector, takes_allowed: bool) -> Fault | None:
    """Return what is wrong with the answer to a case, or None."""
    text, ids, why = vector.text, vector.ids, f"{vector.id}: {vector.why}"
    if text is not None:
        options = {"allowed_special": vector.allowed_special, "disallowed_special": []} if takes_allowed else {}
        got = client.ids(text, **options)
        if isinstance(got, Failed):
            refuses_special = not takes_allowed and vector.kind == "special tokens" and not got.outcome.ends_process
            return None if refuses_special else Fault("refusal", why, text=text, expected=ids, got=got)
        if got != ids:
            return Fault(vector.kind, why, text=text, expected=ids, got=got)
    back = client.decode(ids)
    if back == vector.decoded:
        return None
    return Fault("decode", why, ids=ids, expected=ascii(vector.decoded), got=ascii(back))
