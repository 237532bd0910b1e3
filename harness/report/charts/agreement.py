"""The heat map of agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.report.charts import plots
from harness.report.charts.chart import Chart
from harness.report.table import Row, grouped
from harness.report.tables import correctness


def agreement_charts(records: Sequence[object]) -> Iterator[Chart]:
    """Yield the heat map of pairs, over all models."""
    pairs = [pair for pair in correctness.pair_rows(records) if pair["status"] != correctness.NOT_COMPARED]
    names = correctness.implementations_in_order(records)
    if not pairs:
        return
    differing = [pair["class"] for pair in pairs if pair["status"] == "differs"]
    by_class = ", ".join(f"{n} {name}" for name, n in Counter(differing).items())
    yield Chart(
        name="agreement",
        section="agreement",
        title="Every pair of implementations",
        subtitle="ids on the same texts",
        alternative=f"{len(pairs)} pairs of implementations and models were compared; "
        f"{len(pairs) - len(differing)} gave the same ids on every text, {len(differing)} differed"
        f"{f' ({by_class})' if by_class else ''}. The table of pairs holds them all.",
        spec=plots.heat_map(list(_cells(pairs, names)), names),
    )


def _cells(pairs: Sequence[Row], names: Sequence[str]) -> Iterator[Row]:
    by_pair = grouped(pairs, lambda pair: frozenset((pair["a"], pair["b"])))
    for i, one in enumerate(names):
        for other in names[:i]:
            status, detail = _judged(by_pair.get(frozenset((one, other)), []))
            mark = "" if status == "not compared" else "≠" if status.startswith("differs") else "="
            yield {"one": one, "other": other, "status": status, "mark": mark, "detail": detail}


def _judged(found: Sequence[Row]) -> tuple[str, str]:
    """Return the status of a pair over several models, and the evidence for it."""
    if not found:
        return "not compared", "one of the two could not run here, or no text was encoded by both"
    texts = sum(pair["n_texts"] for pair in found)
    differing = sum(pair["n_differing_texts"] for pair in found)
    classes = {pair["class"] for pair in found}
    detail = f"{texts:,} texts; {', '.join(sorted(classes))}" + (f"; {differing:,} differ" if differing else "")
    worst = {pair["class"] for pair in found if pair["status"] == "differs"}
    if "provably equal" in worst:
        return "differs: a fault", detail
    if "equal under conditions" in worst:
        return "differs, under conditions", detail
    if worst:
        return "differs, as expected", detail
    return ("equal, provably" if classes == {"provably equal"} else "equal, under conditions"), detail
