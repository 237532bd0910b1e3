"""Tables that only the site has: bytes per token over all runs, worst cases on hostile texts, saved counterexamples."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import mean

from harness.explanations import STAGES
from harness.records import Disagreement, Measurement, of_kind
from harness.report import wording
from harness.report.run import Run
from harness.report.table import Column, Row, Table, grouped, table_of

HOSTILE = "gen/"
"""Prefix of generated texts."""
_ONE_TEXT = ("warm-same", "warm-between", "cold", "same-object")


def reach_table(runs: Sequence[Run]) -> Table:
    """Return bytes per token by vocabulary (rows) and text (columns), of verified ids on whole texts."""
    found = [r for some in _columns(runs).values() for r in some]
    texts = {m.corpus: wording.size(m.n_bytes) for m in sorted(found, key=lambda m: m.corpus)}
    rows: list[Row] = []
    for model, some in grouped(found, lambda m: m.model).items():
        rows.append({"model": model} | {m.corpus: m.n_bytes / m.n_tokens for m in some})
    rows.sort(key=lambda row: -mean(value for key, value in row.items() if key != "model"))
    return table_of(
        "reach",
        [{"model": row["model"]} | {text: row.get(text) for text in texts} for row in rows],
        (Column("model", "vocabulary"), *(Column(text, text, wording.figure, right=True) for text in texts)),
        texts=", ".join(f"{text} {size}" for text, size in texts.items()),
    )


def _is_whole(m: Measurement) -> bool:
    """Return whether a measurement has verified ids of a real text, whole and in one piece."""
    return (
        m.status == "ok"
        and m.exact
        and m.task in ("encode", "encode-array")
        and m.state in _ONE_TEXT
        and m.n_texts == 1
        and m.n_bytes == m.full_bytes > 0
        and m.n_tokens > 0
        and not m.corpus.startswith(HOSTILE)
    )


def _columns(runs: Sequence[Run]) -> dict[str, list[Measurement]]:
    """Return for each corpus one measurement per vocabulary, all on the same text of one run and one kind of work.

    The text that most vocabularies encoded is chosen, the longest of several.
    """
    chosen: dict[str, list[Measurement]] = {}
    for run in runs:
        whole = (m for m in of_kind(run.records, Measurement) if _is_whole(m))
        of_text = grouped(whole, lambda m: (m.workload.partition("/")[0], m.corpus, m.n_bytes))
        for (_, corpus, _), some in of_text.items():
            found = list({m.model: m for m in some}.values())
            best = chosen.get(corpus, [])
            if (len(found), found[0].n_bytes) > (len(best), best[0].n_bytes if best else 0):
                chosen[corpus] = found
    return chosen


def hostile_rows(run: Run) -> list[Row]:
    """Return the rows of speed on generated texts, without those of growth, which have a table of their own."""
    return [row for row in run.speed_rows if row["corpus"].startswith(HOSTILE) and row["unit"] == "MB/s"]


def worst_table(rows: Sequence[Row]) -> Table:
    """Return the worst case of each implementation, the fastest first and failures last."""
    found: list[Row] = []
    for name, some in grouped(rows, lambda row: row["implementation"]).items():
        timed = [row for row in some if row["median"]]
        failed = Counter(row["status"] for row in some if row["status"] != "ok")
        slowest = min(timed, key=lambda row: row["median"], default=None)
        found.append(
            {
                "implementation": name, "n_texts": len(some), "n_failed": failed.total(),
                "how": ", ".join(f"{status} {n}" for status, n in failed.most_common()),
                "slowest": slowest and slowest["median"],
                "slowest_on": slowest and slowest["workload"].partition("/")[2],
                "fastest": max((row["median"] for row in timed), default=None),
            }
        )  # fmt: skip
    return table_of("worst", sorted(found, key=lambda row: (row["n_failed"], -(row["slowest"] or 0))))


def kept_table(found: Iterable[Disagreement]) -> Table:
    """Return the counterexamples saved by `fuzz`, faults first."""
    rows = [
        {
            "between": f"{_named(one.a, one)}, {_named(one.b, one)}", "model": one.model or "generated",
            "text": one.counterexample.text.escaped,
            "expected": wording.ids(one.counterexample.expected, 6), "got": wording.ids(one.counterexample.got, 6),
            "difference": one.difference if one.holds == "differs" else "fixed",
            "stage": f"{one.stage}: {meaning}" if (meaning := dict(STAGES).get(one.stage)) else one.stage or None,  # type: ignore[call-overload]
            "command": _command(one),
        }
        for one in found
    ]  # fmt: skip
    return table_of("kept", sorted(rows, key=lambda row: row["difference"] != "fault"))


def _named(side: str, one: Disagreement) -> str:
    """Return a side with its version, unless it is one of our own or its name has the version already."""
    version = one.versions.get(side)
    return side if version is None or "@" in side else f"{side} {version}"


def _command(one: Disagreement) -> str | None:
    if not one.model or "@" in one.a + one.b or one.call != "encode":
        return None
    return shlex.join(
        ["bpebench", "explain", one.a, one.b, "--escaped", one.counterexample.text.escaped, "-m", one.model]
    )
