"""An explanation as a page: one HTML file without scripts, complete in itself, light or dark as the reader has it."""

from __future__ import annotations

from harness.explanations import STAGES, Explanation
from harness.report.explanation import stage_rows, step_rows
from harness.report.page.templates import render

_PATH = ("special tokens", "normalisation", "pieces", "merges", "vocabulary", "decode")
_BRANCH = {"unicode version": "pieces"}
"""A stage that is a reason of another."""
_STEPS_SHOWN = 200
_IDS_SHOWN = 60


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
        stages=stage_rows(found, _IDS_SHOWN),
        steps=step_rows(found, "by", _STEPS_SHOWN) if found.a.steps or found.b.steps else [],
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
