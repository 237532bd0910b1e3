"""Render explanations and traces: both derivations side by side, in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest

from harness.explanations import PIECES_FROM, Explanation, Piece, SideSummary, Step, Trace, TracedPiece
from harness.printable import quoted
from harness.report import layout, wording
from harness.report.table import plain_table

_LONGEST_TEXT = 300
_STEPS_SHOWN = 60
_IDS_SHOWN = 24
_TOKENS_SHOWN = 12


def render_explanation(explanation: Explanation) -> str:
    """Return the verdict, its evidence, and a row for every stage."""
    names = explanation.a.name, explanation.b.name
    both, what = " and ".join(names), wording.text(explanation.what)
    lines = [f"text   {quoted(explanation.text, _LONGEST_TEXT)}", ""]
    if explanation.agree is None:
        lines += [f"{both}: {what}"]
    elif explanation.agree:
        lines += [f"{both} agree: {what}"]
    else:
        assert explanation.stage is not None
        where = "" if explanation.where is None else f" (at character {explanation.where})"
        lines += [
            f"{both} differ first in: {explanation.stage}{where}",
            f"  {what}",
            *(f"  - {wording.text(line)}" for line in explanation.evidence),
        ]
    return "\n".join([*lines, "", layout.render(plain_table(["", *names], _stages(explanation)), "text")])


def _stages(explanation: Explanation) -> list[list[str]]:
    """Return everything known about both sides, stage by stage."""
    a, b = explanation.a, explanation.b

    def both(heading: str, show: Callable[[SideSummary], str | None]) -> list[str]:
        return [heading, show(a) or "", show(b) or ""]

    return [
        both("model (-m)", lambda side: side.model),
        both("what it is", lambda side: side.about),
        both("special tokens", lambda side: "; ".join(side.special) or "none recognised"),
        both("text", lambda side: side.rewriting or "unchanged" if side.error is None else f"refused: {side.error}"),
        both("pieces", lambda side: PIECES_FROM[side.pieces_from]),
        *_pieces(explanation),
        *_steps(explanation),
        both("ids", lambda side: wording.ids(side.ids, _IDS_SHOWN)),
        both("decoded", lambda side: wording.ABSENT if side.decoded is None else quoted(side.decoded)),
    ]


def _pieces(explanation: Explanation) -> Iterator[list[str]]:
    """Yield the pieces of both sides; those that begin at the same byte share a row, marked where they differ."""
    by_start = [{piece.start: piece for piece in side.pieces} for side in (explanation.a, explanation.b)]
    for start in sorted({*by_start[0], *by_start[1]}):
        pieces = [side.get(start) for side in by_start]
        mark = "» " if any(piece is not None and piece.differs for piece in pieces) else "  "
        yield [f"{mark}byte {start}", *("" if piece is None else piece_line(piece) for piece in pieces)]
    if explanation.a.pieces_left_out or explanation.b.pieces_left_out:
        yield ["", *(f"… {side.pieces_left_out} more pieces" for side in (explanation.a, explanation.b))]


def _steps(explanation: Explanation) -> Iterator[list[str]]:
    """Yield the derivation of the piece in which the sides differ, below the algorithms."""
    sides = (explanation.a.steps, explanation.b.steps)
    if any(sides) or explanation.a.way or explanation.b.way:
        yield ["steps", explanation.a.way or "", explanation.b.way or ""]
    for number, steps in enumerate(zip_longest(*sides), 1):
        if number > _STEPS_SHOWN:
            yield ["", *(f"… {len(side)} steps in all" for side in sides)]
            return
        mark = "» " if number == explanation.step else "  "
        yield [f"{mark}step {number}", *("" if step is None else step_line(step) for step in steps)]


def piece_line(piece: Piece) -> str:
    """Return a piece, then its tokens with their ids."""
    tokens = [f"‘{wording.text(token.text or '')}’ {token.id}" for token in piece.tokens[:_TOKENS_SHOWN]]
    more = "" if len(piece.tokens) <= _TOKENS_SHOWN else f" … ({len(piece.tokens)})"
    special = " special token" if piece.special else ""
    return f"{quoted(piece.text, 30)}{special} → {' · '.join(tokens)}{more}"


def step_line(step: Step) -> str:
    """Return one step: its action, its rank, and the symbols after it."""
    rank = "" if step.rank is None else f", rank {step.rank}"
    result = _bare(step.result)
    done = {
        "merge": f"{_bare(step.left)} + {_bare(step.right)}{rank}",
        "whole piece": f"whole piece{rank}",
        "longest": f"longest: {result}{rank}",
        "take": f"take: {result}",
        "back": f"back: {result}",
    }[step.action]
    symbols = " ".join(map(_bare, step.symbols[:40])) + (" …" if len(step.symbols) > 40 else "")
    note = f"  ({wording.text(step.note)})" if step.note else ""
    return f"{done}  →  {symbols}{note}"


def _bare(text: str) -> str:
    """Return a symbol without quotes, with visible spaces."""
    return wording.text(text).replace(" ", "␣")


def render_trace(trace: Trace) -> str:
    """Return the steps of one implementation, piece by piece."""
    lines = [f"{trace.name} on {trace.model}: {trace.way}", ""]
    for piece in trace.pieces:
        lines += [*_traced(piece), ""]
    lines.append(f"ids    {' '.join(map(str, trace.ids))}")
    if not trace.reproduces:
        lines.append(f"these steps do NOT give the ids of {trace.name}; it does not follow its rule")
    return "\n".join(lines)


def _traced(piece: TracedPiece) -> list[str]:
    return [
        f"piece {quoted(piece.text)}: {' '.join(map(_bare, piece.symbols))}",
        *([f"  {piece.note}"] if piece.note else []),
        *(
            f"  {f'round {step.round}, ' if step.round else ''}step {step.number}: {step_line(step)}"
            for step in piece.steps
        ),
        f"  ids {' '.join(map(str, piece.ids))}",
        *([] if piece.reproduces else ["  these steps do not give its ids"]),
    ]
