"""An explanation as a page: one HTML file without scripts, complete in itself, light or dark as the reader has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.explanations import PIECES_FROM, STAGES, Explanation, SideSummary
from harness.report import wording
from harness.report.templates import render

_PATH = ("special tokens", "normalisation", "pieces", "merges", "vocabulary", "decode")
_BRANCH = {"unicode version": "pieces"}
"""A stage that is a reason of another."""
_STEPS_SHOWN = 200


def explanation_page(found: Explanation) -> str:
    """Return the whole page. Everything from outside is escaped; nothing in it runs."""
    where = "" if found.where is None else f", at character {found.where} of the text"
    return render(
        "explanation.html",
        title=f"bpebench explain: {found.a.name} and {found.b.name}",
        found=found,
        certainty=f"{found.certainty.capitalize()}{where}" if found.agree is False else "",
        meaning=STAGES[found.stage] if found.stage is not None else "",
        path=_path(found),
        stages=_stage_rows(found),
        steps=_step_rows(found),
    )


def _path(found: Explanation) -> list[tuple[str, str | None]]:
    """Return the stages in order, each with its class: the same up to the one that differs."""
    here = None if found.stage is None else _BRANCH.get(found.stage, found.stage)
    path: list[tuple[str, str | None]] = []
    before = here in _PATH or found.agree is True
    for stage in _PATH:
        if stage == here:
            before = False
            path.append((f"{stage} ≠" if found.stage == here else f"{stage}: {found.stage} ≠", "here"))
        else:
            path.append((f"{stage} =" if before else stage, "same" if before else None))
    return path if here is None or here in _PATH else [(f"{here} ≠", "here"), *path]


def _row(heading: str, cells: Sequence[object], here: bool = False, kind: str = "text") -> dict[str, Any]:
    """Return a row of the table of both sides; `kind` says how the template shows its cells."""
    return {"heading": heading, "cells": cells, "here": here, "kind": kind}


def _stage_rows(found: Explanation) -> list[dict[str, Any]]:
    both = (found.a, found.b)
    stage = found.stage
    special = ["; ".join(side.special) or "none recognised" for side in both]
    rewriting = [_rewriting(side) for side in both]
    return [
        _row("what it is", [side.about for side in both]),
        _row("special tokens", special, stage == "special tokens"),
        _row("text", rewriting, stage in ("normalisation", "failure")),
        _row("pieces", [PIECES_FROM[side.pieces_from] for side in both]),
        *_piece_rows(both),
        _row("ids", [wording.ids(side.ids, 60) for side in both], stage == "determinism"),
        _row("decoded", [side.decoded for side in both], stage == "decode", "code"),
    ]


def _rewriting(side: SideSummary) -> str:
    if side.error is not None:
        return f"refused: {side.error}"
    return side.rewriting or "as it is"


def _piece_rows(both: tuple[SideSummary, SideSummary]) -> list[dict[str, Any]]:
    by_start = [{piece.start: piece for piece in side.pieces} for side in both]
    rows = []
    for start in sorted({*by_start[0], *by_start[1]}):
        pieces = [side.get(start) for side in by_start]
        here = any(piece is not None and piece.differs for piece in pieces)
        rows.append(_row(f"byte {start}", pieces, here, "piece"))
    if any(side.pieces_left_out for side in both):
        rows.append(_row("", [f"… {side.pieces_left_out} more pieces" for side in both]))
    return rows


def _step_rows(found: Explanation) -> list[dict[str, Any]]:
    sides = (found.a.steps, found.b.steps)
    if not any(sides):
        return []
    rows = [_row("by", [found.a.way, found.b.way])]
    for i in range(min(max(map(len, sides)), _STEPS_SHOWN)):
        steps = [steps[i] if i < len(steps) else None for steps in sides]
        rows.append(_row(f"step {i + 1}", steps, i + 1 == found.step, "step"))
    return rows
