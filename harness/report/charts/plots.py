"""Vega-Lite specifications of the charts, one function each, built with altair. Colours come from the palette's config.

Every specification is a single (layered) view as wide as its container, so that a page can lay charts out in a grid;
none names a colour or a title. Kinds of implementations are shown by colour and by shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from harness.report.palette import SHAPES
from harness.report.table import Row
from harness.report.wording import KINDS

Spec = dict[str, Any]
ROW_HEIGHT = 21
_KIND_COLOUR = alt.Color("kind:N", scale=alt.Scale(domain=list(KINDS)), title=None)
_KIND_SHAPE = alt.Shape("kind:N", scale=alt.Scale(domain=list(KINDS), range=list(SHAPES)), title=None)


def _finished(chart: alt.LayerChart | alt.FacetChart) -> Spec:
    """Return a chart as a specification, without what the palette's config supplies."""
    spec = chart.to_dict(validate=False)
    return {key: value for key, value in spec.items() if key not in ("config", "$schema")}


def _wide(layers: Sequence[alt.Chart], height: int) -> Spec:
    """Return layers as one view as wide as its container."""
    return _finished(alt.layer(*layers).properties(width="container", height=height))


def _values(rows: Sequence[Row]) -> alt.InlineData:
    return alt.InlineData(values=[dict(row) for row in rows])


def _extent(rows: Sequence[Row], field: str) -> tuple[float, float]:
    values = [row[field] for row in rows]
    return min(values), max(values)


def _log(
    channel: type[alt.X | alt.Y],
    field: str,
    title: str,
    extent: tuple[float, float],
    format: str = "~s",
    **scale: Any,
) -> Any:
    """Return a logarithmic axis of `field`, with ticks within `extent`."""
    axis = alt.Axis(values=log_ticks(*extent), format=format)
    return channel(f"{field}:Q", scale=alt.Scale(type="log", nice=False, **scale), axis=axis, title=title)


_STEPS: tuple[tuple[float, ...], ...] = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    tuple(step / 10 for step in range(10, 100, 2)),
    tuple(step / 100 for step in range(100, 1000, 5)),
)


def log_ticks(low: float, high: float, least: int = 3, most: int = 7) -> list[float]:
    """Return ticks of a logarithmic axis within [low, high]: powers of ten, or steps between if there are too few."""
    if not 0 < low <= high:
        return []
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in _STEPS:
        ticks = [float(f"{step:g}e{power}") for power in powers for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= least:
            break
    return ticks[:: -(-len(ticks) // most)] if ticks else []


def _wide_domain(values: Sequence[float]) -> tuple[float, float]:
    """Return a logarithmic domain around `values`, with room at the right for the label of the last dot."""
    low, high = min(values), max(values)
    return low / 1.15, high * 10 ** (0.14 * max(0.4, math.log10(high / low)))


def _names(rows: Sequence[Row]) -> alt.Y:
    order = list(dict.fromkeys(row["implementation"] for row in rows))
    return alt.Y("implementation:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=150))


def _tooltip(**titles: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def panels(rows: Sequence[Row], unit: str) -> Spec:
    """Plot a dot with its 95 % interval for each row, a panel for each workload, implementations in one order.

    Rows have `workload, implementation, kind, median, low, high, figure, interval, detail`; those without a `median`
    show their `status` instead.
    """
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    header = alt.Header(labelAnchor="start", labelFontWeight="bold", labelPadding=6)
    facet = alt.Facet("workload:N", sort=workloads, title=None, header=header)
    layers = alt.layer(*_dot_layers(rows, unit)).properties(width=250, height=alt.Step(ROW_HEIGHT))
    return _finished(layers.facet(facet, columns=2))


def _dot_layers(rows: Sequence[Row], unit: str) -> list[alt.Chart]:
    domain = _wide_domain([row[key] for row in rows for key in ("low", "high", "median") if row[key]] or [1.0])

    def along(field: str) -> Any:
        return _log(alt.X, field, unit, domain, ",~g", domain=list(domain))

    y = _names(rows)
    every = alt.Chart(_values([row | {"edge": domain[0]} for row in rows]))
    timed = every.transform_filter("isValid(datum.median)")
    tooltip = _tooltip(
        implementation="implementation", kind="kind", figure=unit, interval="95 % interval", detail="note"
    )
    guide = timed.mark_rule(strokeWidth=1, opacity=0.2).encode(x=along("edge"), x2="median:Q", y=y)
    rule = timed.mark_rule(strokeWidth=2.5, opacity=0.55).encode(x=along("low"), x2="high:Q", y=y, color=_KIND_COLOUR)
    point = timed.mark_point().encode(x=along("median"), y=y, color=_KIND_COLOUR, shape=_KIND_SHAPE, tooltip=tooltip)
    label = timed.mark_text(align="left", dx=9, fontSize=11).encode(x=along("high"), y=y, text="figure:N")
    layers: list[alt.Chart] = [guide, rule, point, label]
    if any(row["median"] is None for row in rows):
        failed = every.transform_filter("!isValid(datum.median)")
        why = failed.mark_text(align="left", fontSize=11, fontStyle="italic", opacity=0.7).encode(
            x=alt.value(4), y=y, text="status:N", tooltip=_tooltip(implementation="implementation", detail="why")
        )
        layers.append(why)
    return layers


def growth(points: Sequence[Row], unit: str) -> Spec:
    """Plot time over size, both logarithmic (`series, kind, n_bytes, seconds, bound, detail`); bounds point upwards."""
    x = _log(alt.X, "n_bytes", unit, _extent(points, "n_bytes"), padding=12)
    y = _log(alt.Y, "seconds", "seconds", _extent(points, "seconds"), padding=12)
    base = alt.Chart(_values(points))
    lines = base.mark_line(opacity=0.75).encode(x=x, y=y, detail="series:N", color=_KIND_COLOUR)
    tooltip = _tooltip(series="implementation", size="size", time="time", detail="growth")
    measured = base.transform_filter("!datum.bound").mark_point(size=35)
    bounds = base.transform_filter("datum.bound").mark_text(text="▲", fontSize=13)
    layers = (
        lines,
        measured.encode(x=x, y=y, color=_KIND_COLOUR, shape=_KIND_SHAPE, tooltip=tooltip),
        bounds.encode(x=x, y=y, color=_KIND_COLOUR, tooltip=tooltip),
        base.transform_filter("datum.last").mark_text(align="left", dx=8, fontSize=11).encode(x=x, y=y, text="label:N"),
    )
    return _wide(layers, 320)


def merges(points: Sequence[Row], flat: Row | None) -> Spec:
    """Plot how often each merge occurred (`merge, count`), both axes logarithmic, with the plateau marked."""
    x = _log(alt.X, "merge", "merge", (1, _extent(points, "merge")[1]))
    y = _log(alt.Y, "count", "times it occurred", _extent(points, "count"))
    tooltip = [alt.Tooltip("merge:Q", format=","), alt.Tooltip("count:Q", format=",", title="times")]
    layers: list[alt.Chart] = [
        alt.Chart(_values(points)).mark_line(point=alt.OverlayMarkDef(size=12)).encode(x=x, y=y, tooltip=tooltip)
    ]
    if flat is not None:
        mark = alt.Chart(_values([flat]))
        layers.append(mark.mark_rule(strokeDash=[4, 4]).encode(x=x))
        layers.append(mark.mark_text(align="left", dx=6, baseline="top").encode(x=x, y=alt.value(2), text="label:N"))
    return _wide(layers, 240)
