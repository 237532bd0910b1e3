"""Render explanations and traces: both derivations side by side, as plain columns for the terminal, and as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from harness.explanations import PIECES_FROM, STAGES, Explanation, Piece, Step, Trace, TracedPiece
from harness.report import layout, wording
from harness.report.table import plain_table

_LONGEST_TEXT = 300
_LONGEST_CELL = 60
_STEPS_SHOWN = 60
_IDS_SHOWN = 24
_TOKENS_SHOWN = 12


def render_explanation(found: Explanation) -> str:
    """Return the verdict, its evidence, and a row for every stage."""
    lines = [f"text   {shown(found.text, _LONGEST_TEXT)}", ""]
    if found.agree is None:
        lines += [f"{found.a.name} and {found.b.name}: {wording.text(found.what)}"]
    elif found.agree:
        lines += [f"{found.a.name} and {found.b.name} agree: {found.what}"]
    else:
        assert found.stage is not None
        where = "" if found.where is None else f" (at character {found.where})"
        lines += [
            f"{found.a.name} and {found.b.name} differ first in: {found.stage}{where}",
            f"  {wording.text(found.what)}",
            *(f"  - {wording.text(line)}" for line in found.evidence),
        ]
    a, b = found.a, found.b
    steps = step_rows(found, "steps", _STEPS_SHOWN) if a.steps or b.steps or a.way or b.way else []
    if max(len(a.steps), len(b.steps)) > _STEPS_SHOWN:
        steps.append(SideRow("", [f"… {len(side.steps)} steps in all" for side in (a, b)]))
    rows = [_written_row(row) for row in stage_rows(found, _IDS_SHOWN, steps)]
    return "\n".join([*lines, "", layout.render(plain_table(["", a.name, b.name], rows), "text")])


class SideRow(NamedTuple):
    """A row of the table of both sides."""

    heading: str
    cells: Sequence[Any]
    """One cell per side; None if it has nothing to show."""
    here: bool = False
    """Whether the sides first differ here."""
    kind: Literal["text", "piece", "step", "code"] = "text"
    """Kind of content of the cells."""


def stage_rows(found: Explanation, ids_shown: int, steps: Sequence[SideRow] = ()) -> list[SideRow]:
    """Return everything known about both sides, stage by stage, with `steps` after the pieces."""
    both, stage = (found.a, found.b), found.stage
    rewriting = [side.rewriting or "as it is" if side.error is None else f"refused: {side.error}" for side in both]
    return [
        SideRow("what it is", [side.about for side in both]),
        SideRow(
            "special tokens", ["; ".join(side.special) or "none recognised" for side in both], stage == "special tokens"
        ),
        SideRow("text", rewriting, stage in ("normalisation", "failure")),
        SideRow("pieces", [PIECES_FROM[side.pieces_from] for side in both]),
        *_piece_rows(found),
        *steps,
        SideRow("ids", [wording.ids(side.ids, ids_shown) for side in both], stage == "determinism"),
        SideRow("decoded", [side.decoded for side in both], stage == "decode", "code"),
    ]


def _piece_rows(found: Explanation) -> Iterator[SideRow]:
    """Yield the pieces of both sides; those that begin at the same byte share a row."""
    by_start = [{piece.start: piece for piece in side.pieces} for side in (found.a, found.b)]
    for start in sorted({*by_start[0], *by_start[1]}):
        pieces = [side.get(start) for side in by_start]
        yield SideRow(f"byte {start}", pieces, any(piece is not None and piece.differs for piece in pieces), "piece")
    if found.a.pieces_left_out or found.b.pieces_left_out:
        yield SideRow("", [f"… {side.pieces_left_out} more pieces" for side in (found.a, found.b)])


def step_rows(found: Explanation, heading: str, at_most: int) -> list[SideRow]:
    """Return the derivation of the piece in which the sides differ, `heading` beside the algorithms."""
    sides = (found.a.steps, found.b.steps)
    rows = [SideRow(heading, [found.a.way, found.b.way])]
    for i in range(min(max(map(len, sides)), at_most)):
        steps = [steps[i] if i < len(steps) else None for steps in sides]
        rows.append(SideRow(f"step {i + 1}", steps, i + 1 == found.step, "step"))
    return rows


def _written_row(row: SideRow) -> list[str]:
    mark = "" if row.kind not in ("piece", "step") else "» " if row.here else "  "
    return [f"{mark}{row.heading}", *(_written(cell, row.kind) for cell in row.cells)]


def _written(cell: Any, kind: str) -> str:
    if cell is None:
        return wording.ABSENT if kind == "code" else ""
    write: dict[str, Callable[[Any], str]] = {"text": str, "piece": piece_line, "step": step_line, "code": shown}
    return write[kind](cell)


def shown(text: str, at_most: int = _LONGEST_CELL) -> str:
    """Return a text in quotes, on one line, shortened if it is long."""
    written = wording.text(text)
    return f"‘{written}’" if len(written) <= at_most else f"‘{written[:at_most]}…’ ({len(text):,} characters)"


def piece_line(piece: Piece) -> str:
    """Return a piece, then its tokens with their ids."""
    tokens = [f"‘{wording.text(token.text or '')}’ {token.id}" for token in piece.tokens[:_TOKENS_SHOWN]]
    more = "" if len(piece.tokens) <= _TOKENS_SHOWN else f" … ({len(piece.tokens)})"
    special = " special token" if piece.special else ""
    return f"{shown(piece.text, 30)}{special} → {' · '.join(tokens)}{more}"


def step_line(step: Step) -> str:
    """Return one step: its action, its rank, and the symbols after it."""
    rank = "" if step.rank is None else f", rank {step.rank}"
    match step.action:
        case "merge":
            done = f"{_bare(step.left)} + {_bare(step.right)}{rank}"
        case "whole piece":
            done = f"whole piece{rank}"
        case "longest":
            done = f"longest: {_bare(step.result)}{rank}"
        case "back":
            done = f"back: {_bare(step.result)}"
        case _:
            done = f"take: {_bare(step.result)}"
    symbols = " ".join(map(_bare, step.symbols[:40])) + (" …" if len(step.symbols) > 40 else "")
    note = f"  ({wording.text(step.note)})" if step.note else ""
    return f"{done}  →  {symbols}{note}"


def _bare(text: str) -> str:
    """Return a symbol without quotes, with visible spaces."""
    return wording.text(text).replace(" ", "␣")


def render_trace(found: Trace) -> str:
    """Return the steps of one implementation, piece by piece."""
    lines = [f"{found.name} on {found.model}: {found.way}", ""]
    for piece in found.pieces:
        lines += [*_traced(piece), ""]
    lines.append(f"ids    {' '.join(map(str, found.ids))}")
    if not found.reproduces:
        lines.append(f"these steps do NOT give the ids of {found.name}; it does not follow its rule")
    return "\n".join(lines)


def _traced(piece: TracedPiece) -> list[str]:
    return [
        f"piece {shown(piece.text)}: {' '.join(map(_bare, piece.symbols))}",
        *([f"  {piece.note}"] if piece.note else []),
        *(
            f"  {f'round {step.round}, ' if step.round else ''}step {step.number}: {step_line(step)}"
            for step in piece.steps
        ),
        f"  ids {' '.join(map(str, piece.ids))}",
        *([] if piece.reproduces else ["  these steps do not give its ids"]),
    ]


_STEPS_ON_A_PAGE = 200
_IDS_ON_A_PAGE = 60


def explanation_page(found: Explanation) -> str:
    """Return the whole page. External text is escaped, and none of it can run as a script."""
    from harness.report.page.templates import render

    return render(
        "explanation.html",
        title=f"bpebench explain: {found.a.name} and {found.b.name}",
        found=found,
        where="" if found.where is None else f"At character {found.where} of the text. ",
        meaning=STAGES[found.stage] if found.stage is not None else "",
        stages=stage_rows(found, _IDS_ON_A_PAGE),
        steps=step_rows(found, "by", _STEPS_ON_A_PAGE) if found.a.steps or found.b.steps else [],
    )
