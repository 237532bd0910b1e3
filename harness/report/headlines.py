"""The few figures that sum a run up, each with the sentence that says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.measure.comparison import ranking
from harness.records import Measurement, of_kind
from harness.report import compression, correctness, failures, speed, wording
from harness.report.table import Row, plain_rows

OWN_KINDS = ("pure", "compiled")
YARDSTICK = "tiktoken"


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure and what it says."""

    figure: str
    text: str


def headlines(records: Sequence[object]) -> list[Headline]:
    """What these records allow to say, most important first."""
    found = [_agreement(records), *_speed(records), _turkish(records), _failures(records)]
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
    return Headline(
        f"{equal:,} of {len(owed):,}",
        f"pairs that should agree give identical ids, on up to {texts:,} texts under {_counted(models, 'vocabulary')}"
        + (f"; {without:,} were not compared" if without else ""),
    )


def _speed(records: Sequence[object]) -> list[Headline]:
    rows = plain_rows(speed.ranking_table(records).frame)
    by_name = {row["implementation"]: row for row in rows}
    if len(rows) < 2:
        return []
    shared = _counted(len(ranking(of_kind(records, Measurement))[1]), "workload")
    best, found = rows[0], []
    yard = by_name.get(YARDSTICK)
    floor = speed.noise_floor(records)
    if yard is not None and best is not yard:
        ratio = f"{wording.figure(yard['times_best'])} ×"
        interval = f"(95 % {wording.figure(yard['low'])}–{wording.figure(yard['high'])})"
        who = f"{best['implementation']}, first of the exact ones in the mean"
        if yard["claimed"]:
            found.append(Headline(ratio, f"as fast as {YARDSTICK} {interval} is {who}, over {shared}"))
        elif floor is None:
            found.append(
                Headline(
                    f"≈ {ratio}",
                    f"as fast as {YARDSTICK} is {who}, over {shared}; this run did not measure its noise, so it claims "
                    "no difference",
                )
            )
        else:
            found.append(Headline("≈", f"{best['implementation']} and {YARDSTICK} cannot be told apart over {shared}"))
    own = next((row for row in rows if row["kind"] in OWN_KINDS), None)
    if own is not None and yard is not None and own is not best:
        found.append(_own_against(own, yard, floor))
    return found


def _own_against(own: Row, yard: Row, floor: float | None) -> Headline:
    ratio = yard["times_best"] / own["times_best"]
    name = f"{own['implementation']}, the fastest of our own"
    sure = "" if floor is not None and max(ratio, 1 / ratio) - 1 > floor else "≈ "
    if ratio < 1:
        return Headline(f"{sure}{wording.figure(1 / ratio)} ×", f"as fast as {name}, is {YARDSTICK}, in the same mean")
    return Headline(f"{sure}{wording.figure(ratio)} ×", f"as fast as {YARDSTICK} is {name}, in the same mean")


def _turkish(records: Sequence[object]) -> Headline | None:
    for corpus in (compression.PARAGRAPH, compression.HELD_OUT):
        told = [r for r in compression.same_text(compression.latest(records)) if r.corpus == corpus]
        told = sorted((r for r in told if r.status == "ok" and r.n_tokens), key=lambda r: r.n_tokens)
        if len(told) > 1:
            best, worst = told[0], told[-1]
            what = "a Turkish paragraph" if corpus == compression.PARAGRAPH else "Turkish held out from training"
            return Headline(
                f"{wording.figure(worst.n_tokens / best.n_tokens)} ×",
                f"as many tokens for {what} under {worst.model} ({worst.vocab_size:,} tokens) as under {best.model} "
                f"({best.vocab_size:,})",
            )
    return None


def _failures(records: Sequence[object]) -> Headline | None:
    rows = plain_rows(failures.failures_table(records).frame)
    if not rows:
        return None
    wrong = [row for row in rows if row["status"] not in ("missing", "unsupported", "unverified")]
    return Headline(
        f"{len(wrong):,}",
        f"{'way' if len(wrong) == 1 else 'ways'} in which an implementation failed, "
        f"and {len(rows) - len(wrong):,} in which one was missing or could not, each with its reason",
    )


def _counted(n: int, what: str) -> str:
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{n:,} {what if n == 1 else plural}"
