"""The sentences that sum up a run, each with its figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from harness.measure.comparison import ranking
from harness.measure.samples import is_growth
from harness.records import Measurement, of_kind
from harness.report import compression, correctness, failures, speed, wording
from harness.report.table import Row, plain_rows

OWN_KINDS = ("pure", "compiled")
YARDSTICK = "tiktoken"
_TRAINER, _TRAINING_YARDSTICK = "compiled", "tokenizers"


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence, and the figure in it."""

    figure: str
    text: str


def headlines(records: Sequence[object]) -> list[Headline]:
    """Return the headlines these records support, the most important first."""
    found = [
        *_speed(records), _agreement(records), _turkish(records), _training(records), _hostile(records),
        _failures(records),
    ]  # fmt: skip
    return [headline for headline in found if headline is not None]


def _agreement(records: Sequence[object]) -> Headline | None:
    pairs = plain_rows(correctness.pairs_table(records).frame)
    owed = [pair for pair in pairs if pair["class"] != "expected to differ"]
    if not owed:
        return None
    equal = sum(pair["status"] == "equal" for pair in owed)
    models = len({pair["model"] for pair in owed})
    texts = max(pair["n_texts"] for pair in owed)
    without = sum(pair["status"] == correctness.NOT_COMPARED for pair in owed)
    figure = f"{equal:,} of {len(owed):,}"
    return Headline(
        figure,
        f"{figure} pairs of implementations that should agree give identical ids, on up to {texts:,} texts under "
        f"{_counted(models, 'vocabulary')}" + (f"; {without:,} were not compared" if without else ""),
    )


def _speed(records: Sequence[object]) -> list[Headline]:
    rows = plain_rows(speed.ranking_table(records).frame)
    by_name = {row["implementation"]: row for row in rows}
    yard = by_name.get(YARDSTICK)
    if len(rows) < 2 or yard is None:
        return []
    shared = _counted(len(ranking(of_kind(records, Measurement))[1]), "workload")
    best, found = rows[0], []
    floor = speed.noise_floor(records)
    if best is not yard:
        ratio = f"{wording.figure(yard['times_best'])} ×"
        interval = f"(95 % {wording.figure(yard['low'])}–{wording.figure(yard['high'])})"
        if yard["claimed"]:
            text = f"{best['implementation']} is {ratio} as fast as {YARDSTICK} {interval}, in the mean of {shared}"
            found.append(Headline(ratio, text))
        elif floor is None:
            text = f"{best['implementation']} is about {ratio} as fast as {YARDSTICK} in the mean of {shared}; this run"
            found.append(Headline(ratio, f"{text} did not measure its noise, so it claims no difference"))
        else:
            text = f"{best['implementation']} and {YARDSTICK} cannot be told apart in the mean of {shared}: ≈"
            found.append(Headline("≈", text))
    own = next((row for row in rows if row["kind"] in OWN_KINDS), None)
    if own is not None and own is not best:
        found.append(_own_against(own, yard, floor))
    return found


def _own_against(own: Row, yard: Row, floor: float | None) -> Headline:
    ratio = yard["times_best"] / own["times_best"]
    name = f"{own['implementation']}, the fastest of our own,"
    sure = "" if floor is not None and max(ratio, 1 / ratio) - 1 > floor else "≈ "
    if ratio < 1:
        figure = f"{sure}{wording.figure(1 / ratio)} ×"
        return Headline(figure, f"{YARDSTICK} is {figure} as fast as {name} in the same mean")
    figure = f"{sure}{wording.figure(ratio)} ×"
    return Headline(figure, f"{name} is {figure} as fast as {YARDSTICK} in the same mean")


def _turkish(records: Sequence[object]) -> Headline | None:
    for corpus in (compression.PARAGRAPH, compression.HELD_OUT):
        rows = [r for r in compression.same_text(compression.latest(records)) if r.corpus == corpus]
        rows = sorted((r for r in rows if r.status == "ok" and r.n_tokens), key=lambda r: r.n_tokens)
        if len(rows) > 1:
            best, worst = rows[0], rows[-1]
            what = "A Turkish paragraph" if corpus == compression.PARAGRAPH else "Turkish held out from training"
            figure = f"{wording.figure(worst.n_tokens / best.n_tokens)} ×"
            return Headline(
                figure,
                f"{what} takes {figure} as many tokens under {worst.model} ({worst.vocab_size:,} tokens) as under "
                f"{best.model} ({best.vocab_size:,})",
            )
    return None


def _training(records: Sequence[object]) -> Headline | None:
    """Compare two trainers, in the mean over the workloads on which this run may claim a difference."""
    rows = [row for row in speed.speed_rows(records) if row["task"] == "train" and row["status"] == "ok"]
    by_workload: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_workload.setdefault(row["workload"], {})[row["implementation"]] = row
    both = [some for some in by_workload.values() if _TRAINER in some and _TRAINING_YARDSTICK in some]
    both = [some for some in both if some[_TRAINER]["times_best"] == 1 and some[_TRAINING_YARDSTICK]["claimed"]]
    if not both:
        return None
    mean = exp(sum(log(some[_TRAINING_YARDSTICK]["times_best"]) for some in both) / len(both))
    figure = f"{wording.figure(mean)} ×"
    where = _counted(len(both), "training workload")
    text = f"{_TRAINER} learns the same merges {figure} as fast as {_TRAINING_YARDSTICK}, in the mean of {where}"
    return Headline(figure, text)


def _hostile(records: Sequence[object]) -> Headline | None:
    """Give the slowest text of each of two: on hostile texts the worst case says more than a mean."""
    rows = [
        row
        for row in speed.speed_rows(records)
        if str(row["corpus"]).startswith("gen/") and row["unit"] == "MB/s" and not is_growth(row["workload"])
    ]
    workloads = {row["workload"] for row in rows}
    if len(workloads) < 8:
        return None
    slowest = [_worst(name, [row for row in rows if row["implementation"] == name]) for name in (_TRAINER, YARDSTICK)]
    if None in slowest:
        return None
    figure = str(len(workloads))
    return Headline(figure, f"On {figure} hostile texts {slowest[0]}; {slowest[1]}")


def _worst(name: str, rows: Sequence[Row]) -> str | None:
    failed = sum(row["status"] != "ok" for row in rows)
    speeds = [row["median"] for row in rows if row["median"]]
    if not speeds:
        return None
    ended = f"fails on {failed} and " if failed else ""
    return f"{name} {ended}is never slower than {wording.figure(min(speeds))} MB/s"


def _failures(records: Sequence[object]) -> Headline | None:
    rows = plain_rows(failures.failures_table(records).frame)
    if not rows:
        return None
    wrong = [row for row in rows if row["status"] not in ("missing", "unsupported", "unverified")]
    figure = f"{len(wrong):,}"
    return Headline(
        figure,
        f"{figure} {'way' if len(wrong) == 1 else 'ways'} in which an implementation failed, and "
        f"{len(rows) - len(wrong):,} in which one was missing or could not, are listed with their reasons",
    )


def _counted(n: int, what: str) -> str:
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{n:,} {what if n == 1 else plural}"
