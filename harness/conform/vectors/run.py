"""Ask the cases of a file of vectors of any target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import impls
from harness.conform.case import Case
from harness.conform.checks.catalogue import Check
from harness.conform.client import TargetClient
from harness.conform.run import run_target
from harness.conform.vectors.file import BadVectors, Vector, Vectors, tokens_sha256
from harness.conform.vectors.steps import KINDS
from harness.conform.verdicts import ConformanceReport, Fault, NotAsked
from harness.data import load_model
from harness.process.session import Failed


def run(target: str, path: Path, vectors: Vectors, model: str, library: str | None = None) -> ConformanceReport:
    """Ask all cases and report, a verdict for each kind. `model` is what a target that needs one runs.

    Raises `NotATarget`, `BadVectors` for a model of other tokens, and the errors of a missing model.
    """
    if target in impls.names() and tokens_sha256(load_model(model)) != vectors.head.tokens_sha256:
        raise BadVectors(f"{path}: is of {vectors.head.model}, and {model} has other tokens; name its model with -m")
    by_kind = {kind: [case for case in vectors.cases if case.kind == kind] for kind in KINDS}
    checks = [
        Check(kind, f"Does it answer the vectors of {kind}?", partial(_ask, cases))
        for kind, cases in by_kind.items()
        if cases
    ]
    report = run_target(target, model, library, checks)
    report.reference, report.model = str(path), vectors.head.model
    return report


def _ask(cases: Sequence[Vector], case: Case) -> str:
    """Ask the cases of a kind; the first wrong one, which is among the smallest, is the counterexample."""
    takes_allowed = case.client.offers("allowed_special")
    asked = [vector for vector in cases if takes_allowed or not vector.allowed_special]
    case.n_inputs = len(asked)
    if faults := list(_faults(case.client, asked)):
        faults[0].n_failed = len(faults)
        raise faults[0]
    remark = f"takes no allowed_special: {len(cases) - len(asked):,} cases were not asked"
    if not asked:
        raise NotAsked(remark)
    return "" if takes_allowed else remark


def _faults(client: TargetClient, vectors: Sequence[Vector]) -> Iterator[Fault]:
    """Yield what is wrong, in the order of the cases."""
    plain = [vector.text for vector in vectors if vector.text is not None and not vector.allowed_special]
    answers = dict(zip(plain, client.ids_of_all(plain), strict=True))
    options = client.offers("allowed_special")
    for vector in vectors:
        text, ids, why = vector.text, vector.ids, f"{vector.id}: {vector.why}"
        if text is not None:
            got = None if vector.allowed_special else answers[text]
            if options and (got is None or isinstance(got, Failed)):
                got = client.ids(text, allowed_special=vector.allowed_special, disallowed_special=[])
            if isinstance(got, Failed):
                if options or vector.kind != "special tokens" or got.outcome.ends_process:
                    yield Fault("refusal", why, text=text, expected=ids, got=got)
                continue  # else it refuses special text, and has no option for it
            if got != ids:
                yield Fault(vector.kind, why, text=text, expected=ids, got=got)
                continue
        back = client.decode(ids)
        if back != vector.decoded:
            yield Fault("decode", why, ids=ids, expected=ascii(vector.decoded), got=ascii(back))
