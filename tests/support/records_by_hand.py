"""Records written by hand, for the tests of what a report makes of them."""

from __future__ import annotations

from typing import Any

from harness.outcome import Outcome
from harness.records import Agreement, AgreementClass, AnyRecord, Compression, Measurement, Pass, Trained
from harness.report.tables import tables


def weighed(
    model: str, n_tokens: int, corpus: str = "turkish-paragraph", n_bytes: int = 1000, **more: Any
) -> Compression:
    fields = {"n_texts": 1, "n_characters": 900, "n_words": 100, "vocab_size": 10_000, "implementation": "priority"}
    return Compression(model=model, corpus=corpus, n_tokens=n_tokens, n_bytes=n_bytes, **(fields | more))


def timed(
    implementation: str,
    seconds: list[list[float]],
    workload: str = "encode/m/c",
    outcome: str = Outcome.RIGHT,
    n_bytes: int = 1_000_000,
    **more: Any,
) -> list[Measurement]:
    """Measurements by opening and round, of passes of one call."""
    fields: dict[str, Any] = {"task": "encode", "model": "m", "corpus": "c", "n_tokens": 250_000, "n_calls": 1}
    return [
        Measurement(
            workload=workload, implementation=implementation, outcome=Outcome(outcome), opening=number,
            passes=[Pass(i, False, n_bytes, [1], [one], [one]) for i, one in enumerate(some)], **(fields | more),
        )
        for number, some in enumerate(seconds)
    ]  # fmt: skip


def steady(median: float, openings: int = 3) -> list[list[float]]:
    return [[median * (1 + 0.001 * (i + number)) for i in range(5)] for number in range(openings)]


def pair(a: str, b: str, differing: int = 0, kind: AgreementClass = "provably equal", **more: Any) -> Agreement:
    return Agreement(
        a=a, b=b, model=more.pop("model", "m"), corpus=more.pop("corpus", "samples"), agreement_class=kind, n_texts=10,
        n_differing_texts=differing, **more,
    )  # fmt: skip


def rows_of(records: list[AnyRecord], name: str, **more: Any) -> list[dict[str, Any]]:
    return tables(records, **more)[name].rows


def cells_of(records: list[AnyRecord], name: str) -> list[dict[str, str]]:
    """The rows of a table as they are shown, by column."""
    table = tables(records)[name]
    return [{column.key: column.cell(row) for column in table.columns} for row in table.rows]


def trained(**more: Any) -> Trained:
    fields: dict[str, Any] = {
        "model": "tr", "implementation": "priority", "corpus": "turkish", "vocab_size": 300, "n_merges": 5,
        "n_bytes": 1000, "seconds": 1.5,
    }  # fmt: skip
    return Trained(**(fields | more))
