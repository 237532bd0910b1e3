"""`bpebench vocab --lint`: the health of a vocabulary, printed; the exit status can gate a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.commands import options
from harness.lint import FINDINGS
from harness.progress import progress

if TYPE_CHECKING:
    from harness.lint.report import Health
    from impls.core.model.model import Model

_N_EXAMPLES = 6


def lint(name: str, model: Model) -> Health:
    """Return the health of `model`."""
    from harness.evaluate.run import fastest
    from harness.lint.report import health

    with progress(f"looking into {name}"):
        return health(name, fastest(model))


def shown(found: Health, fail_on: Sequence[str]) -> str:
    """Return the findings as text, with the first few tokens of each; JSON has them all."""
    lines = [f"{found.name}: {len(found.reach.tokens):,} tokens, by {found.tokenizer.name}"]
    lines += ["", options.table(list(_findings(found)), ["finding", "tokens", "means", "first"]), ""]
    unreached = [one for one in found.reach.unreached if not one.is_unused_byte]
    rows = [(one.id, _quoted(one.token), _ids(one.ids), one.rule, one.why) for one in unreached]
    lines += _section("Not reached", ["id", "token", "its text gives", "rule", "why"], rows)
    tokens = found.reach.tokens
    around = [
        (i, _quoted(tokens[i]), _ids(one.ids), _quoted(one.text.encode()))
        for i, one in found.reach.elsewhere.items()
        if one.ids is not None and found.tokenizer.model.sentencepiece is None
    ]
    lines += _section("Reached in other text only", ["id", "token", "its text gives", "a text that has it"], around)
    if failed := found.failed(fail_on):
        lines += ["", f"failed: {', '.join(failed)}"]
    return "\n".join(lines)


def _findings(found: Health) -> Iterator[tuple[str, str, str, str]]:
    for finding in FINDINGS:
        ids = found.ids(finding)
        yield (
            finding,
            f"{len(ids):,}",
            FINDINGS[finding],
            " ".join(_quoted(found.reach.tokens[i]) for i in ids[:_N_EXAMPLES]),
        )


def _section(title: str, headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    if not rows:
        return []
    more = f" (the first {_N_EXAMPLES} of {len(rows):,}; --json has all)" if len(rows) > _N_EXAMPLES else ""
    return [f"{title}{more}", "", options.table(rows[:_N_EXAMPLES], headers), ""]


def _ids(ids: Iterable[int] | None) -> str:
    return "—" if ids is None else " ".join(map(str, ids))


def _quoted(token: bytes) -> str:
    return repr(token.decode("utf-8", "backslashreplace"))
