"""An explanation as a self-contained HTML page without scripts, light or dark by the reader's preference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from harness.explanations import PIECES_FROM, STAGES, Account, Explanation, Piece, Step
from harness.report import wording
from harness.report.document import colours
from harness.report.markup import Markup, element, escape, join

_PATH = ("special tokens", "normalisation", "pieces", "merges", "vocabulary", "decode")
_BRANCH = {"unicode version": "pieces"}
"""Stages that are shown as a part of another."""
_STEPS_SHOWN = 200


def explanation_page(found: Explanation) -> str:
    """Return the whole page. Everything from outside is escaped; nothing in it is executed."""
    title = f"{found.a.name} and {found.b.name}"
    body = element(
        "main",
        element("h1", title),
        element("p", element("code", found.text, class_="source")),
        _verdict(found),
        _path(found),
        element("h2", "Stage by stage"),
        _table(found, _stage_rows(found)),
        *_steps(found),
        class_="explanation",
    )
    head = join(
        [
            Markup('<meta charset="utf-8">'),
            Markup(
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
                'img-src data:">'
            ),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup('<meta name="color-scheme" content="light dark">'),
            Markup('<link rel="icon" href="data:,">'),
            element("title", f"bpebench explain: {title}"),
            Markup(f"<style>{colours()}{_asset('page.css')}{_asset('explanation.css')}</style>"),
        ]
    )
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _asset(name: str) -> str:
    return (files("harness.report") / "assets" / name).read_text(encoding="utf-8")


def _verdict(found: Explanation) -> Markup:
    if found.agree is None:
        return element("div", element("p", found.what.capitalize(), class_="stage"), class_="verdict")
    if found.agree:
        return element("div", element("p", f"They agree: {found.what}", class_="stage"), class_="verdict agree")
    assert found.stage is not None
    where = "" if found.where is None else f", at character {found.where} of the text"
    return element(
        "div",
        element("p", f"They differ first in: {found.stage}", class_="stage"),
        element("p", found.what),
        element(
            "p", f"{found.certainty.capitalize()}{where}. Meant by this stage: {STAGES[found.stage]}.", class_="note"
        ),
        element("ul", *(element("li", line) for line in found.evidence)) if found.evidence else Markup(""),
        class_="verdict",
    )


def _path(found: Explanation) -> Markup:
    """Return the stages in order: equal up to the one that differs."""
    here = None if found.stage is None else _BRANCH.get(found.stage, found.stage)
    items: list[Markup] = []
    before = here in _PATH or found.agree is True
    for stage in _PATH:
        if stage == here:
            before = False
            label = stage if found.stage == here else f"{stage}: {found.stage}"
            items.append(element("li", f"{label} ≠", class_="here"))
        else:
            items.append(element("li", f"{stage} =" if before else stage, class_="same" if before else None))
    if here is not None and here not in _PATH:
        items.insert(0, element("li", f"{here} ≠", class_="here"))
    return element("ol", *items, class_="path", aria_label="Stages")


Row = tuple[object, object, object, bool]
"""Heading, A, B, whether the sides differ here."""


def _table(found: Explanation, rows: Iterable[Row]) -> Markup:
    head = element(
        "tr", element("th", "", scope="col"), *(element("th", side.name, scope="col") for side in _both(found))
    )
    body = [
        element(
            "tr",
            element("th", heading, scope="row"),
            element("td", a),
            element("td", b),
            class_="here" if here else None,
        )
        for heading, a, b, here in rows
    ]
    table = element("table", element("thead", head), element("tbody", *body), class_="sides")
    return element("div", table, class_="scroll", role="region", tabindex="0", aria_label="Both sides")


def _both(found: Explanation) -> tuple[Account, Account]:
    return found.a, found.b


def _stage_rows(found: Explanation) -> list[Row]:
    a, b = _both(found)
    rows: list[Row] = [
        ("what it is", a.about, b.about, False),
        (
            "special tokens",
            "; ".join(a.special) or "none recognised",
            "; ".join(b.special) or "none recognised",
            found.stage == "special tokens",
        ),
        ("text", _rewriting(a), _rewriting(b), found.stage in ("normalisation", "failure")),
        ("pieces", PIECES_FROM[a.pieces_from], PIECES_FROM[b.pieces_from], False),
        *_piece_rows(a, b),
        ("ids", wording.ids(a.ids, 60), wording.ids(b.ids, 60), found.stage == "determinism"),
        ("decoded", _decoded(a), _decoded(b), found.stage == "decode"),
    ]
    return rows


def _rewriting(account: Account) -> str:
    if account.error is not None:
        return f"refused: {account.error}"
    return account.rewriting or "as it is"


def _decoded(account: Account) -> Markup:
    if account.decoded is None:
        return escape(wording.ABSENT)
    return element("code", account.decoded, class_="source")


def _piece_rows(a: Account, b: Account) -> list[Row]:
    by_start = [{piece.start: piece for piece in account.pieces} for account in (a, b)]
    rows: list[Row] = []
    for start in sorted({*by_start[0], *by_start[1]}):
        pieces = [side.get(start) for side in by_start]
        here = any(piece is not None and piece.differs for piece in pieces)
        rows.append((f"byte {start}", *map(_piece, pieces), here))  # type: ignore[arg-type]
    if a.pieces_left_out or b.pieces_left_out:
        rows.append(("", *(f"… {side.pieces_left_out} more pieces" for side in (a, b)), False))  # type: ignore[arg-type]
    return rows


def _piece(piece: Piece | None) -> Markup:
    if piece is None:
        return Markup("")
    tokens = [
        element("span", *_visible(token.text or ""), element("small", str(token.id)), class_="token mono")
        for token in piece.tokens
    ]
    special = " (special token)" if piece.special else ""
    shown = piece.text if len(piece.text) <= 80 else f"{piece.text[:80]}…"
    return Markup(f"{element('code', *_visible(shown))}{escape(special)}<br>{''.join(tokens)}")


def _steps(found: Explanation) -> list[Markup]:
    a, b = _both(found)
    if not (a.steps or b.steps):
        return []
    rows: list[Row] = [("by", a.way, b.way, False)]
    for number in range(1, min(max(len(a.steps), len(b.steps)), _STEPS_SHOWN) + 1):
        cells = [_step(side.steps, number) for side in (a, b)]
        rows.append((f"step {number}", *cells, number == found.step))  # type: ignore[arg-type]
    note = "The steps are replayed by the rule named, up to the tokens of the side."
    return [
        element("h2", "Merges of the piece in which they part"),
        element("p", note, class_="note"),
        _table(found, rows),
    ]


def _step(steps: Sequence[Step], number: int) -> Markup:
    if number > len(steps):
        return Markup("")
    step = steps[number - 1]
    rank = "" if step.rank is None else f" (rank {step.rank})"
    done: list[object]
    if step.action == "merge":
        done = [element("code", *_visible(step.left)), " + ", element("code", *_visible(step.right)), rank]
    else:
        done = [f"{step.action}: ", element("code", *_visible(step.result)), rank]
    note = element("div", step.note, class_="note") if step.note else Markup("")
    symbols = [element("span", *_visible(symbol), class_="token mono") for symbol in step.symbols[:120]]
    return Markup(f'{"".join(map(escape, done))}<div class="symbols">{"".join(symbols)}</div>{note}')


def _visible(text: str) -> list[Markup]:
    """Return `text` with spaces as a pale mark and unprintable characters as escapes."""
    parts: list[Markup] = []
    for k, part in enumerate(text.split(" ")):
        if k:
            parts.append(element("span", "·", class_="space"))
        if part:
            parts.append(escape(part))
    return parts
