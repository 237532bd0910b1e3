"""The sentences that summarise a run, each with its figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import geometric_mean
from typing import NamedTuple

from harness.measure.analysis.comparison import ranking
from harness.measure.analysis.samples import is_growth
from harness.records import Measurement, of_kind
from harness.report.table import Row, grouped, plain_rows
from harness.report.tables import compression, correctness, speed
from harness.report.wording import counted, figure

_OWN_KINDS = ("pure", "compiled")
_YARDSTICK = "tiktoken"
_TRAINER, _TRAINING_YARDSTICK = "compiled", "tokenizers"


class Headline(NamedTuple):
    """A sentence, and the figure in it."""

    figure: str
    text: str


def headlines(records: Sequence[object], speed_rows: Sequence[Row] | None = None) -> list[Headline]:
    """Return the headlines these records support, the most important first.

    `speed_rows` are those of `speed.speed_rows`, if computed already.
    """
    rows = speed.speed_rows(records) if speed_rows is None else speed_rows
    return [
        *_speed(records),
        *_agreement(records),
        *_turkish(records),
        *_training(rows),
        *_hostile(rows),
        *_failures(records),
    ]


def _speed(records: Sequence[object]) -> Iterator[Headline]:
    rows = plain_rows(speed.ranking_table(records).frame)
    yard = next((row for row in rows if row["implementation"] == _YARDSTICK), None)
    if len(rows) < 2 or yard is None:
        return
    best, floor = rows[0], speed.noise_floor(records)
    if best is not yard:
        mean = f"in the mean of {counted(len(ranking(of_kind(records, Measurement))[1]), 'workload')}"
        ratio = f"{figure(yard['times_best'])} ×"
        if yard["claimed"]:
            interval = f"(95 % {speed.shown_interval(yard)})"
            yield Headline(ratio, f"{best['implementation']} is {ratio} as fast as {_YARDSTICK} {interval}, {mean}")
        elif floor is None:
            text = f"{best['implementation']} is about {ratio} as fast as {_YARDSTICK} {mean}; this run did not"
            yield Headline(ratio, f"{text} measure its noise, so it claims no difference")
        else:
            yield Headline("≈", f"{best['implementation']} and {_YARDSTICK} cannot be told apart {mean}: ≈")
    own = next((row for row in rows if row["kind"] in _OWN_KINDS), None)
    if own is not None and own is not best:
        yield _own_against(own, yard, floor)


def _own_against(own: Row, yard: Row, floor: float | None) -> Headline:
    ratio = yard["times_best"] / own["times_best"]
    names = f"{own['implementation']}, the fastest of our own,", _YARDSTICK
    faster, slower = names if ratio >= 1 else names[::-1]
    ratio = max(ratio, 1 / ratio)
    shown = f"{'' if floor is not None and ratio - 1 > floor else '≈ '}{figure(ratio)} ×"
    return Headline(shown, f"{faster} is {shown} as fast as {slower} in the same mean")


def _agreement(records: Sequence[object]) -> Iterator[Headline]:
    owed = [pair for pair in correctness.pair_rows(records) if pair["class"] != "expected to differ"]
    if not owed:
        return
    models = {pair["model"] for pair in owed}
    texts = max(pair["n_texts"] for pair in owed)
    without = sum(pair["status"] == correctness.NOT_COMPARED for pair in owed)
    shown = f"{sum(pair['status'] == 'equal' for pair in owed):,} of {len(owed):,}"
    yield Headline(
        shown,
        f"{shown} pairs of implementations that should agree give identical ids, on up to {texts:,} texts under "
        f"{counted(len(models), 'vocabulary')}" + (f"; {without:,} were not compared" if without else ""),
    )


def _turkish(records: Sequence[object]) -> Iterator[Headline]:
    texts = {
        compression.PARAGRAPH: "A Turkish paragraph",
        compression.HELD_OUT: "Turkish held out from training",
    }
    weighed = [
        r for r in compression.same_text(compression.latest_compressions(records)) if r.status == "ok" and r.n_tokens
    ]
    for corpus, what in texts.items():
        found = sorted((r for r in weighed if r.corpus == corpus), key=lambda r: r.n_tokens)
        if len(found) > 1:
            best, worst = found[0], found[-1]
            shown = f"{figure(worst.n_tokens / best.n_tokens)} ×"
            yield Headline(
                shown,
                f"{what} takes {shown} as many tokens under {worst.model} ({worst.vocab_size:,} tokens) as under "
                f"{best.model} ({best.vocab_size:,})",
            )
            return


def _training(rows: Sequence[Row]) -> Iterator[Headline]:
    """Compare two trainers by the mean over the workloads on which this run may claim a difference."""
    timed = [row for row in rows if row["task"] == "train" and row["status"] == "ok"]
    ratios = []
    for some in grouped(timed, lambda row: row["workload"]).values():
        found = {row["implementation"]: row for row in some}
        trainer, yard = found.get(_TRAINER), found.get(_TRAINING_YARDSTICK)
        if trainer is not None and yard is not None and trainer["times_best"] == 1 and yard["claimed"]:
            ratios.append(yard["times_best"])
    if ratios:
        shown = f"{figure(geometric_mean(ratios))} ×"
        yield Headline(
            shown,
            f"{_TRAINER} learns the same merges {shown} as fast as {_TRAINING_YARDSTICK}, in the mean of "
            f"{counted(len(ratios), 'training workload')}",
        )


def _hostile(rows: Sequence[Row]) -> Iterator[Headline]:
    """Compare two implementations by their slowest text: on hostile texts the worst case matters more than a mean."""
    hostile = [row for row in rows if row["corpus"].startswith("gen/") and row["unit"] == "MB/s"]
    hostile = [row for row in hostile if not is_growth(row["workload"])]
    n_workloads = len({row["workload"] for row in hostile})
    slowest = [_worst(name, hostile) for name in (_TRAINER, _YARDSTICK)]
    if n_workloads >= 8 and None not in slowest:
        yield Headline(f"{n_workloads}", f"On {n_workloads} hostile texts {slowest[0]}; {slowest[1]}")


def _worst(name: str, rows: Sequence[Row]) -> str | None:
    own = [row for row in rows if row["implementation"] == name]
    speeds = [row["median"] for row in own if row["median"]]
    if not speeds:
        return None
    failed = sum(row["status"] != "ok" for row in own)
    return f"{name} {f'fails on {failed} and otherwise ' if failed else ''}never drops below {figure(min(speeds))} MB/s"


def _failures(records: Sequence[object]) -> Iterator[Headline]:
    rows = correctness.failure_rows(records)
    if rows:
        n_wrong = sum(row["status"] not in ("missing", "unsupported", "unverified") for row in rows)
        yield Headline(
            f"{n_wrong:,}",
            f"{counted(n_wrong, 'way')} in which an implementation failed, and {len(rows) - n_wrong:,} in which one "
            "was missing or could not, are listed with their reasons",
        )
