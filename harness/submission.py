"""A run that somebody else can submit: one folder with digests, and the checks of such a folder.

Records can be made up. The checks show that a folder is complete and unchanged since it was packed, made by this
protocol, quiet enough, free of names and paths, and consistent with the answers verified in the committed runs and with
what clocks and memories can do.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from harness.measure.analysis.samples import measured_floor
from harness.measure.recording import PLAN_FILE, PROTOCOL
from harness.measure.schedule import Plan
from harness.privacy import named_faults, own_names, private_faults
from harness.records import (
    MACHINE_FILE,
    RECORDS_FILE,
    AnyRecord,
    Measurement,
    RecordError,
    of_kind,
    read_lines,
    write_atomically,
)

MANIFEST_FILE = "submission.json"
FILES = (RECORDS_FILE, MACHINE_FILE, PLAN_FILE)
FORMAT = 1
_GENERATED = ("README.md", "charts")
"""Files that `report --readme` adds; it checks them against the records there."""
LEAST_ROUNDS = 3
MOST_NOISE = 1.0
"""Largest accepted noise floor: two copies of one implementation must not differ by a factor of two."""
LEAST_SECONDS = 1e-6
"""Shortest sample: reading a clock takes about a twentieth of it."""
MOST_BYTES_PER_SECOND = 1e11
"""Highest credible speed of one thread: no memory delivers text faster."""
_REQUIRED = (
    "command", "profile", "date", "cpu", "cores", "usable_cores", "memory_bytes", "os", "architecture", "python",
    "packages", "suite", "digests", "noise_floor", "protocol",
)  # fmt: skip
_OTHERS = (
    "seed", "estimate_seconds", "resumed", "load_before", "load_after", "cpu_generation", "physical_cores",
    "caches_bytes", "governor", "turbo", "virtual", "free_memory_taken_back", "python_compiler", "unicode",
    "thread_variables", "pinning", "resolution", "warnings",
)  # fmt: skip
_SEVERAL = ("sustained", "warm-other")
"""States whose records are not about a single text."""


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of `submission.json`."""

    format: int
    files: dict[str, str]
    """File -> SHA-256."""


Answers = Mapping[tuple[str, int, int], set[str]]
"""(workload, texts, bytes) -> digests of the ids verified for it."""


def pack(run: Path, out: Path, committed: Sequence[Path] = ()) -> list[str]:
    """Write the run as a folder that can be submitted; if anything is wrong with it, return that and write nothing."""
    if out.exists() and any(out.iterdir()):
        raise RecordError(f"{out}: is not empty; name a new folder")
    if not (run / RECORDS_FILE).is_file():
        raise RecordError(f"{run}: holds no {RECORDS_FILE}; run `bpebench run` first, or name another folder")
    faults = [*content_faults(run, committed), *named_faults(run, FILES, own_names())]
    if not faults:
        contents = {name: (run / name).read_bytes() for name in FILES}
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        manifest = msgspec.json.format(msgspec.json.encode(Manifest(FORMAT, digests)), indent=2) + b"\n"
        for name, content in (*contents.items(), (MANIFEST_FILE, manifest)):
            write_atomically(out / name, content)
    return faults


def faults_of(folder: Path, committed: Sequence[Path] = ()) -> list[str]:
    """Return what is wrong with a submission, one line each; raise `RecordError` if the folder is not a submission."""
    path = folder / MANIFEST_FILE
    if not path.is_file():
        raise RecordError(f"{folder}: holds no {MANIFEST_FILE}; make it with `bpebench submission make RUN --out DIR`")
    faults = [
        f"{entry.name}: is not part of a submission"
        for entry in sorted(folder.iterdir())
        if entry.name not in (*FILES, MANIFEST_FILE, *_GENERATED) or entry.is_symlink()
    ]
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except msgspec.MsgspecError as error:
        return [*faults, f"{MANIFEST_FILE}: {error}"]
    if manifest.format != FORMAT:
        faults.append(f"{MANIFEST_FILE}: has format {manifest.format}, not {FORMAT}; pack the run again")
    for name in FILES:
        with suppress(OSError):  # a missing file is reported with the content
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != manifest.files.get(name):
                faults.append(f"{name}: was changed after it was packed: its digest differs from {MANIFEST_FILE}")
    return [*faults, *content_faults(folder, committed)]


def content_faults(run: Path, committed: Sequence[Path] = ()) -> list[str]:
    """Return what is wrong with the records of a run and its facts."""
    if missing := [name for name in FILES if not (run / name).is_file()]:
        return [f"{name}: is missing" for name in missing]
    try:
        records = read_lines(run / RECORDS_FILE)
        facts = msgspec.json.decode((run / MACHINE_FILE).read_bytes(), type=dict[str, Any])
        plan = msgspec.json.decode((run / PLAN_FILE).read_bytes(), type=Plan)
    except (RecordError, msgspec.MsgspecError, ValueError) as error:
        return [str(error).replace(f"{run}/", "")]
    measured = list(of_kind(records, Measurement))
    return [
        *_line_faults(run / RECORDS_FILE, records),
        *_provenance_faults(facts),
        *_noise_faults(facts, plan, measured),
        *_completeness_faults(plan, measured),
        *private_faults(run, FILES),
        *_plausibility_faults(measured),
        *_answer_faults(facts, measured, committed),
    ]


def _line_faults(path: Path, records: Sequence[AnyRecord]) -> Iterator[str]:
    content = path.read_bytes()
    n_lines = sum(bool(line) for line in content.split(b"\n"))
    if n_lines != len(records) or not content.endswith(b"\n"):
        yield f"{path.name}: has {n_lines} lines and {len(records)} records: a line is there twice or half-written"
    if not any(record.status == "ok" for record in of_kind(records, Measurement)):
        yield f"{path.name}: nothing was timed"


def _provenance_faults(facts: Mapping[str, Any]) -> Iterator[str]:
    for name in _REQUIRED:
        if facts.get(name) in (None, "", {}, []) and not (name == "noise_floor" and name in facts):
            yield f"{MACHINE_FILE}: {name} is not recorded"
    for name in facts:
        if name not in (*_REQUIRED, *_OTHERS):
            yield f"{MACHINE_FILE}: {name} is no fact that a run records"
    if facts.get("protocol") not in (None, PROTOCOL):
        yield f"{MACHINE_FILE}: measured by protocol {facts['protocol']}, not {PROTOCOL}; measure again"
    suite = facts.get("suite")
    if isinstance(suite, dict) and suite.get("dirty"):
        yield f"{MACHINE_FILE}: the suite had uncommitted changes; measure with a commit or a release"
    try:
        if date.fromisoformat(str(facts.get("date"))) < date(2026, 1, 1):
            raise ValueError
    except ValueError:
        yield f"{MACHINE_FILE}: {facts.get('date')!r} is no date of a run"


def _noise_faults(facts: Mapping[str, Any], plan: Plan, measured: Sequence[Measurement]) -> Iterator[str]:
    if plan.profile.rounds < LEAST_ROUNDS or not plan.profile.copies:
        yield f"measured with --profile {plan.profile.name}, which does not tell its noise; use default or rigorous"
        return
    floor, recorded = measured_floor(measured), facts.get("noise_floor")
    if floor is None:
        yield "nothing was measured twice, so its noise is unknown"
    elif not isinstance(recorded, float) or not math.isclose(floor, recorded, rel_tol=1e-6):
        yield f"{MACHINE_FILE}: noise_floor is {recorded}, but the records give {floor}"
    elif floor > MOST_NOISE:
        yield f"the noise floor is {floor:.0%}, more than {MOST_NOISE:.0%}; stop other work and measure again"


def _completeness_faults(plan: Plan, measured: Sequence[Measurement]) -> Iterator[str]:
    """Yield what was planned but is missing, and the reverse: omitting failures is the easiest way to cheat."""
    planned = {
        (w.name, name): w.rounds or plan.profile.rounds
        for w in plan.workloads
        for name in plan.implementations
        if w.applies_to(name)
    }
    rounds: dict[tuple[str, str], list[Measurement]] = {}
    for m in measured:
        rounds.setdefault((m.workload, m.implementation), []).append(m)
    for (workload, name), n_rounds in planned.items():
        found = rounds.get((workload, name), [])
        if not found:
            yield f"{name} on {workload}: planned, but there is no record of it"
        elif all(m.status == "ok" for m in found) and {m.round for m in found if not m.copy} != set(range(n_rounds)):
            yield f"{name} on {workload}: not all of its {n_rounds} rounds are there"
    for workload, name in rounds:
        if (workload, name) not in planned:
            yield f"{name} on {workload}: recorded, but not planned"


def _plausibility_faults(measured: Iterable[Measurement]) -> Iterator[str]:
    for m in measured:
        if m.status != "ok":
            continue
        where = f"{m.implementation} on {m.workload}, round {m.round}"
        if m.exact and not (m.digest and m.reference):
            yield f"{where}: ok without the digest of its ids, or without a reference: nothing says that they are right"
        if not m.samples_seconds or not m.n_bytes:
            yield f"{where}: ok without samples or without text"
            continue
        shortest = min(m.samples_seconds)
        if not all(map(math.isfinite, m.samples_seconds)) or shortest < LEAST_SECONDS:
            yield f"{where}: a sample of {shortest} s is shorter than a clock can tell"
        elif m.task != "load" and m.loops * m.n_bytes / shortest > MOST_BYTES_PER_SECOND * max(1, m.threads):
            yield f"{where}: {m.loops * m.n_bytes / shortest / 1e9:,.0f} GB/s is faster than memory delivers text"
        if len(m.samples_seconds) > 2 and len(set(m.samples_seconds)) == 1:
            yield f"{where}: all its samples are equal, which no clock ever said"


def verified_answers(runs: Iterable[Sequence[AnyRecord]]) -> Answers:
    """Return the digests of verified ids, except of texts generated for each run or different in every pass."""
    found: dict[tuple[str, int, int], set[str]] = {}
    for records in runs:
        for m in of_kind(records, Measurement):
            if m.status == "ok" and m.exact and m.digest and m.reference and m.state not in _SEVERAL:
                found.setdefault((m.workload, m.n_texts, m.n_bytes), set()).add(m.digest)
    return found


def _known_answers(runs: Iterable[Path]) -> Answers:
    return verified_answers(read_lines(run / RECORDS_FILE) for run in runs)


def n_answers(run: Path, committed: Sequence[Path]) -> tuple[int, int]:
    """Return how many verified answers a readable run has, and to how many of them the committed runs have one too."""
    own = _known_answers([run])
    return len(own), len(own.keys() & _known_answers(committed).keys())


def _answer_faults(facts: Mapping[str, Any], measured: Sequence[Measurement], runs: Sequence[Path]) -> Iterator[str]:
    """Yield where ids, texts or vocabularies differ from those of committed runs, or within the run."""
    own = verified_answers([measured])
    for (workload, _, n_bytes), digests in own.items():
        if len(digests) > 1:
            yield f"{workload}: {len(digests)} different answers on the same {n_bytes:,} bytes are said to be right"
    known = _known_answers(runs)
    for key in own.keys() & known.keys():
        if not own[key] <= known[key]:
            yield f"{key[0]}: its ids on {key[2]:,} bytes are not those verified in the committed runs"
    data = _flat(facts.get("digests"))
    for run in runs:
        other = _flat(msgspec.json.decode((run / MACHINE_FILE).read_bytes(), type=dict[str, Any]).get("digests"))
        for name in data.keys() & other.keys():
            if data[name] != other[name]:
                yield f"{MACHINE_FILE}: the digest of {' '.join(name)} is not that of {run.name}"


def _flat(digests: Any) -> dict[tuple[str, str], str]:
    if not isinstance(digests, dict):
        return {}
    return {(kind, name): digest for kind, of in digests.items() if isinstance(of, dict) for name, digest in of.items()}
