"""Explanations and traces for the terminal: both derivations side by side, in plain columns."""

from __future__ import annotations

from collections.abc import Sequence

from harness.explanations import PIECES_FROM, Explanation, Piece, SideSummary, Step, Trace, TracedPiece
from harness.report import wording

_LONGEST_TEXT = 300
_LONGEST_CELL = 60
_STEPS_SHOWN = 60


def render_explanation(found: Explanation) -> str:
    """Return the verdict, its evidence, and a row for every stage."""
    lines = [f"text   {shown(found.text, _LONGEST_TEXT)}", ""]
    if found.agree is None:
        lines += [f"{found.a.name} and {found.b.name}: {wording.text(found.what)}"]
    elif found.agree:
        lines += [f"{found.a.name} and {found.b.name} agree: {found.what}"]
    else:
        assert found.stage is not None
        where = "" if found.where is None else f", at character {found.where}"
        lines += [
            f"{found.a.name} and {found.b.name} differ first in: {found.stage} ({found.certainty}{where})",
            f"  {wording.text(found.what)}",
            *(f"  - {wording.text(line)}" for line in found.evidence),
        ]
    rows = stage_rows(found)
    return "\n".join([*lines, "", columns(["", found.a.name, found.b.name], rows)])


def stage_rows(found: Explanation) -> list[list[str]]:
    """Return (stage, A, B) for everything known of the two."""
    a, b = found.a, found.b
    rows = [
        ["what it is", a.about, b.about],
        ["special tokens", _special(a), _special(b)],
        ["text", _rewriting(a), _rewriting(b)],
        ["pieces", PIECES_FROM[a.pieces_from], PIECES_FROM[b.pieces_from]],
        *_piece_rows(a, b),
    ]
    if a.steps or b.steps or a.way or b.way:
        rows += [["steps", a.way, b.way], *_step_rows(a.steps, b.steps, found.step)]
    rows.append(["ids", wording.ids(a.ids, 24), wording.ids(b.ids, 24)])
    rows.append(["decoded", _decoded(a), _decoded(b)])
    return rows


def _special(account: SideSummary) -> str:
    return "; ".join(account.special) or "none recognised"


def _rewriting(account: SideSummary) -> str:
    if account.error is not None:
        return f"refused: {account.error}"
    return account.rewriting or "as it is"


def _decoded(account: SideSummary) -> str:
    return wording.ABSENT if account.decoded is None else shown(account.decoded)


def shown(text: str, at_most: int = _LONGEST_CELL) -> str:
    """Return a text in quotes, on one line, shortened where it is long."""
    written = wording.text(text)
    return f"‘{written}’" if len(written) <= at_most else f"‘{written[:at_most]}…’ ({len(text):,} characters)"


def _piece_rows(a: SideSummary, b: SideSummary) -> list[list[str]]:
    """Return the pieces of both, those that begin at the same byte in one row."""
    by_start = [{piece.start: piece for piece in account.pieces} for account in (a, b)]
    rows: list[list[str]] = []
    for start in sorted({*by_start[0], *by_start[1]}):
        pieces = [side.get(start) for side in by_start]
        mark = "»" if any(piece is not None and piece.differs for piece in pieces) else " "
        rows.append([f"{mark} byte {start}", *("" if piece is None else piece_line(piece) for piece in pieces)])
    if a.pieces_left_out or b.pieces_left_out:
        rows.append(["", f"… {a.pieces_left_out} more pieces", f"… {b.pieces_left_out} more pieces"])
    return rows


def piece_line(piece: Piece, at_most: int = 12) -> str:
    """Return a piece, then its tokens with their ids."""
    tokens = [f"‘{wording.text(token.text or '')}’ {token.id}" for token in piece.tokens[:at_most]]
    more = "" if len(piece.tokens) <= at_most else f" … ({len(piece.tokens)})"
    special = " special token" if piece.special else ""
    return f"{shown(piece.text, 30)}{special} → {' · '.join(tokens)}{more}"


def _step_rows(a: Sequence[Step], b: Sequence[Step], differs: int | None) -> list[list[str]]:
    rows: list[list[str]] = []
    for number in range(1, min(max(len(a), len(b)), _STEPS_SHOWN) + 1):
        mark = "»" if number == differs else " "
        cells = [step_line(steps[number - 1]) if number <= len(steps) else "" for steps in (a, b)]
        rows.append([f"{mark} step {number}", *cells])
    if max(len(a), len(b)) > _STEPS_SHOWN:
        rows.append(["", f"… {len(a)} steps in all", f"… {len(b)} steps in all"])
    return rows


def step_line(step: Step) -> str:
    """Return one step: what was done, its rank, and the symbols after it."""
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
    symbols = " ".join(map(_bare, piece.symbols))
    rows = [[str(step.number), *([str(step.round)] if step.round else []), step_line(step)] for step in piece.steps]
    ending = f"ids {' '.join(map(str, piece.ids))}"
    failed = [] if piece.reproduces else ["  these steps do not give its ids"]
    in_rounds = any(step.round for step in piece.steps)
    steps = [f"  {'round ' + row[1] + ', ' if in_rounds else ''}step {row[0]}: {row[-1]}" for row in rows]
    note = [f"  {piece.note}"] if piece.note else []
    return [f"piece {shown(piece.text)}: {symbols}", *note, *steps, f"  {ending}", *failed]


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain table that is never cut or wrapped."""
    from tabulate import tabulate

    return tabulate(
        [[wording.text(cell) if cell else "" for cell in row] for row in rows],
        headers=list(headings), tablefmt="simple", disable_numparse=True, preserve_whitespace=True,
    )  # fmt: skip
