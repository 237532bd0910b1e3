"""The heat map of agreement."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report import correctness, plots
from harness.report.chart import Chart
from harness.report.table import Row, plain_rows


def agreement_charts(records: Sequence[object]) -> list[Chart]:
    """Return the heat map of pairs, over all models and for each."""
    every = plain_rows(correctness.pairs_table(records).frame)
    pairs = [pair for pair in every if pair["status"] != correctness.NOT_COMPARED]
    names = correctness.implementations_in_order(records)
    if not pairs:
        return []
    models = list(dict.fromkeys(pair["model"] for pair in pairs))
    overall = "all models together"
    chosen = [overall, *models] if len(models) > 1 else models
    cells = [cell for model in chosen for cell in _cells(pairs, names, None if model == overall else model, model)]
    n_differing = sum(pair["status"] == "differs" for pair in pairs)
    faults = sum(pair["status"] == "differs" and pair["class"] == "provably equal" for pair in pairs)
    alternative = (
        f"{len(pairs)} pairs of implementations and models were compared; {len(pairs) - n_differing} gave the same "
        f"ids on every text, {n_differing} differed, of which {faults} must not. The table of pairs holds them all."
    )
    return [
        Chart("agreement", "agreement", "Every pair of implementations", "ids on the same texts", alternative,
              plots.heat_map(cells, names, chosen))
    ]  # fmt: skip


def _cells(pairs: Sequence[Row], names: Sequence[str], model: str | None, label: str) -> list[Row]:
    by_pair: dict[frozenset[str], list[Row]] = {}
    for pair in pairs:
        if model is None or pair["model"] == model:
            by_pair.setdefault(frozenset((pair["a"], pair["b"])), []).append(pair)
    cells = []
    for i, one in enumerate(names):
        for other in names[:i]:
            status, detail = _judged(by_pair.get(frozenset((one, other)), []))
            mark = "" if status == "not compared" else "≠" if status.startswith("differs") else "="
            cells.append({"model": label, "one": one, "other": other, "status": status, "mark": mark, "detail": detail})
    return cells


def _judged(found: Sequence[Row]) -> tuple[str, str]:
    """Return the status of a pair over some models, and the evidence for it."""
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
