"""`bpebench vocab`: look into a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import options
from harness.commands.verb import Verb, argument, flag, option
from harness.lint import FINDINGS
from harness.printable import token_shown
from harness.progress import progress
from harness.targets import DEFAULT_MODEL
from impls.core.model.model import Model
from impls.core.text.patterns import name_of

if TYPE_CHECKING:
    from harness.lint.reach import Health


class Vocab(Verb):
    """Size, rules and tokens of MODEL: a name of `list models`, a file or a folder.

    For a file, also its format, the published vocabulary it contains, and anything unusual. Exit status 1 if it has the
    name of another vocabulary, rules other than its publisher's, or irregular merges.

    With --lint its health: tokens that no text encodes to, with the proof, and other oddities.
    """

    model: str = argument(default=DEFAULT_MODEL)
    show: int = options.show
    find: str | None = option("Show the ids of tokens that contain TEXT.", type=options.TEXT)
    lint: bool = flag("Look for unreachable tokens, duplicates and other faults.")
    fail_on: tuple[str, ...] = option(
        "With --lint: exit status 1 if such a token is found; repeatable.",
        multiple=True,
        type=click.Choice(list(FINDINGS)),
    )

    def run(self) -> bool:
        """Print what the model is, and the requested tokens; return whether a finding is one of --fail-on."""
        from harness.data import load_model
        from harness.lint.reach import health_of
        from harness.measure.token_use import fastest

        if not self.lint:
            options.ensure(not self.fail_on, "--fail-on needs --lint")
            return self._describe()
        options.ensure_alone(self, "lint", "model", "fail_on")
        model = load_model(self.model)
        with progress(f"examining {self.model}"):
            health = health_of(self.model, fastest(model))
        self.output(health.document(self.fail_on), lambda: _shown_health(health, self.fail_on))
        return bool(health.failed(self.fail_on))

    def _describe(self) -> bool:
        """Print what the model is; return whether something is wrong with the file it is read from."""
        from harness.data import load_model
        from harness.data.models import inspect, is_model_name

        is_file = bool(self.model.strip()) and not is_model_name(self.model) and Path(self.model).exists()
        file = inspect(Path(self.model)) if is_file else None
        model = load_model(self.model) if file is None else file.model
        by_id = model.bytes_by_id()
        chosen = []
        if self.find is not None:
            part = self.find.encode("utf-8", "surrogatepass")
            chosen += [i for i, token in by_id.items() if part in token]
        chosen += _learned_ids(model)[: self.show]
        tokens = {i: token_shown(by_id[i]) for i in chosen}
        about = _about(self.model, model) | ({} if file is None else file.document())
        rows = [[key.replace("_", " "), _cell(value)] for key, value in about.items() if value or value == 0]
        lines = [options.table(rows, ["", ""])]
        lines += ["", options.table(list(tokens.items()), ["id", "token"])] if tokens else []
        document = {**about, "tokens": [{"id": i, "token": token} for i, token in tokens.items()]}
        self.output(document, lambda: "\n".join(lines))
        return file is not None and bool(file.findings)


def _about(name: str, model: Model) -> dict[str, object]:
    return {
        "model": name,
        "ids": model.vocab_size,
        "tokens": sum(token is not None for token in model.tokens),
        "special_tokens": dict(model.special_tokens),
        "added_tokens": dict(model.added_tokens),
        "token_flags": {text: " ".join(flags) for text, flags in model.whole_token_flags.items()},
        "alphabet": model.alphabet,
        "merge_rule": model.merge_rule,
        "merges": len(model.merges) if model.merge_rule == "pairs" else None,
        "pattern": name_of(model.pattern) or " then ".join(model.pattern),
        "normalization": model.normalization or "none",
        "white_space": _white_space(model),
        "round_trip": model.round_trip if model.lossy is None else f"{model.round_trip}: {model.lossy}",
        "longest_token_bytes": max(len(token) for token in model.tokens if token is not None),
        "digest": model.digest,
    }


def _white_space(model: Model) -> str:
    rules = model.sentencepiece
    if rules is None or not rules.changes_text:
        return "unchanged"
    rules_applied = ["spaces become U+2581"] if rules.escape_spaces else []
    rules_applied += [] if rules.dummy_prefix == "never" else [f"one before a text ({rules.dummy_prefix})"]
    rules_applied += ["runs of spaces become one, spaces at the ends are removed"] if rules.remove_extra_spaces else []
    return ", ".join(rules_applied) or "normalised"


def _learned_ids(model: Model) -> list[int]:
    if model.merges:
        return list(model.merge_results)
    return [i for i, token in enumerate(model.tokens) if token is not None and len(token) > 1]


_N_EXAMPLES = 6


def _cell(value: object) -> str:
    if isinstance(value, dict):
        first = ", ".join(f"{text!r}={i}" for text, i in list(value.items())[:_N_EXAMPLES])
        return first if len(value) <= _N_EXAMPLES else f"{first}, … ({len(value)} in all)"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _shown_health(health: Health, fail_on: Sequence[str]) -> str:
    """Return the findings as text, with the first few tokens of each; JSON has them all."""
    lines = [f"{health.name}: {len(health.reach.tokens):,} tokens, by {health.tokenizer.name}"]
    findings = [
        (finding, f"{len(ids):,}", means, " ".join(token_shown(health.reach.tokens[i]) for i in ids[:_N_EXAMPLES]))
        for finding, means in FINDINGS.items()
        for ids in [health.ids(finding)]
    ]
    lines += ["", options.table(findings, ["finding", "tokens", "means", "first"]), ""]
    unreached = [case for case in health.reach.unreached if not case.is_unused_byte]
    rows = [(case.id, token_shown(case.token), _ids(case.ids), case.rule, case.why) for case in unreached]
    lines += _section("Not reached", ["id", "token", "its text gives", "rule", "why"], rows)
    around = [
        (i, token_shown(health.reach.tokens[i]), _ids(case.ids), token_shown(case.text.encode()))
        for i, case in health.reach.elsewhere.items()
        if case.ids is not None and health.tokenizer.model.sentencepiece is None
    ]
    lines += _section("Reached in other text only", ["id", "token", "its text gives", "a text that has it"], around)
    if failed := health.failed(fail_on):
        lines += ["", f"failed: {', '.join(failed)}"]
    return "\n".join(lines)


def _section(title: str, headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    if not rows:
        return []
    more = f" (the first {_N_EXAMPLES} of {len(rows):,}; --json has all)" if len(rows) > _N_EXAMPLES else ""
    return [f"{title}{more}", "", options.table(rows[:_N_EXAMPLES], headers), ""]


def _ids(ids: Iterable[int] | None) -> str:
    return "—" if ids is None else " ".join(map(str, ids))
