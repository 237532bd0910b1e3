"""Ask the cases of a file of vectors of any target."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.conform.client import GaveUp, TargetClient
from harness.conform.run import LIMITS, NotATarget
from harness.conform.vectors.file import BadVectors, Vector, Vectors, tokens_sha256
from harness.conform.vectors.steps import KINDS
from harness.conform.verdicts import CheckVerdict, ConformanceReport, Fault, Stage
from harness.data import load_model
from harness.process.session import Failed, Session
from harness.targets import NotLoadable, TargetSpec


def run(target: str, path: Path, vectors: Vectors, model: str, library: str | None = None) -> ConformanceReport:
    """Ask all cases and report, a verdict for each kind. `model` is what a target that needs one runs.

    Raises `NotATarget`, `BadVectors` for a model of other tokens, and the errors of a missing model.
    """
    try:
        spec = TargetSpec.parse(target, library, model)
        if spec.kind == "entry-point" and tokens_sha256(load_model(model)) != vectors.head.tokens_sha256:
            raise BadVectors(
                f"{path}: is of {vectors.head.model}, and {model} has other tokens; name its model with -m"
            )

        def open_session(environment: Mapping[str, str]) -> Session:
            return Session(spec.command(), LIMITS, environment)

        began = time.perf_counter()
        with TargetClient(open_session) as client:
            verdicts = [
                _judged(client, kind, cases)
                for kind in KINDS
                if (cases := [case for case in vectors.cases if case.kind == kind])
            ]
            return ConformanceReport(
                target=client.description.name or spec.name, reference=str(path), model=vectors.head.model,
                verdicts=verdicts, seconds=time.perf_counter() - began, n_failures=client.n_failures,
                about=dict(client.description.info),
            )  # fmt: skip
    except NotLoadable as error:
        raise NotATarget(error.reason if error.reason.startswith(target) else f"{target}: {error.reason}") from None


def _judged(client: TargetClient, kind: Stage, cases: Sequence[Vector]) -> CheckVerdict:
    """Ask the cases of a kind; the first wrong one, which is among the smallest, is the counterexample."""
    began, before = time.monotonic(), client.asked
    verdict = CheckVerdict(check=kind, question=f"Does it answer the vectors of {kind}?", status="passed")
    client.begin_check()
    faults: list[Fault] = []
    asked = [case for case in cases if not case.allowed_special or client.offers("allowed_special")]
    try:
        faults = list(_faults(client, asked))
    except GaveUp as error:
        faults = [Fault("process", error.reason)]
    verdict.n_inputs, verdict.seconds, verdict.asked = len(asked), time.monotonic() - began, client.asked.since(before)
    if faults:
        verdict.status, verdict.reason, verdict.stage = "failed", faults[0].reason, faults[0].stage
        verdict.counterexample, verdict.n_failed = faults[0].example, len(faults)
    elif len(asked) < len(cases):
        verdict.status = verdict.status if asked else "not offered"
        verdict.reason = f"takes no allowed_special: {len(cases) - len(asked):,} cases were not asked"
    return verdict


def _faults(client: TargetClient, cases: Sequence[Vector]) -> Iterator[Fault]:
    """Yield what is wrong, in the order of the cases."""
    plain = [case for case in cases if case.text is not None and not case.allowed_special]
    answers = dict(
        zip((case.id for case in plain), client.ids_of_all([case.text or "" for case in plain]), strict=True)
    )
    for case in cases:
        why = f"{case.id}: {case.why}"
        if case.text is not None:
            got = answers.get(case.id)
            if got is None or (isinstance(got, Failed) and client.offers("allowed_special")):
                got = client.ids(case.text, allowed_special=case.allowed_special, disallowed_special=[])
            if (
                isinstance(got, Failed)
                and case.kind == "special tokens"
                and not (got.outcome.ends_process or case.allowed_special)
            ):
                continue  # it refuses special text, and has no option for it
            if got != case.ids:
                stage: Stage = "refusal" if isinstance(got, Failed) else case.kind
                yield Fault(stage, why, text=case.text, expected=case.ids, got=got)
                continue
        back = client.decode(case.ids)
        if back != case.decoded:
            yield Fault("decode", why, ids=case.ids, expected=ascii(case.decoded), got=ascii(back))
