"""`bpebench vocab`: look into a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import inputs, options
from harness.commands.reading import all_documents, corpus_parts, label
from harness.commands.verb import Verb, argument, flag, option, write_charts
from harness.commands.vocab_lint import lint, shown
from harness.lint import FINDINGS
from harness.progress import progress
from harness.targets import DEFAULT_MODEL
from impls.core.model.model import Model
from impls.core.text.patterns import name_of

if TYPE_CHECKING:
    from harness.data import Corpus
    from harness.report.vocabulary import VocabularyReport
    from impls.core.model.model import Model


class Vocab(Verb):
    """Size, rules and tokens of MODEL: a name of `list models`, a file or a folder.

    Of a file also what it really is: its format, which published vocabulary it holds, and anything unusual. Exit status
    1 if it has the name of another vocabulary, rules other than its publisher's, or irregular merges.

    With -c, which names the text it was trained on, also a report: bytes per token by size on held-out text, how often
    each merge occurred, tokens by script and length, tokens that are never used, the share of each corpus.

    With --lint its health: tokens that no text encodes to, with the proof, and other oddities; -c may be any text. With
    --against the tokens that it shares with another vocabulary (`evaluate` says what a text takes under both).
    """

    model: str = argument(default=DEFAULT_MODEL)
    show: int = options.show
    find: str | None = option("The ids of tokens that contain TEXT.", metavar="TEXT")
    ids: tuple[int, ...] = option("Show the token of an id; repeatable.", "--id", type=int, multiple=True)
    irregular: bool = flag("Also look for irregularities (seconds, for large rank files).")
    corpora: tuple[str, ...] = options.corpora
    held_out: tuple[str, ...] = options.held_out
    out: Path | None = options.out_option("With -c: write two charts (SVG) here.", options.FOLDER)
    max_bytes: int | None = options.max_bytes
    lint: bool = flag("Look for unreachable tokens, glitch candidates, duplicates and the like.")
    fail_on: tuple[str, ...] = option(
        "With --lint: exit status 1 where such a token is found; repeatable.",
        multiple=True,
        type=click.Choice(list(FINDINGS)),
    )
    against: str | None = options.against_option("Compare with this vocabulary.")

    def run(self) -> bool:
        """Print what the model is, and the requested tokens; return whether a finding is one of --fail-on."""
        from harness.data import load_model

        of_text = self.held_out or self.out or self.max_bytes
        options.ensure(self.corpora or not of_text, "--held-out, --out and --max-bytes go with -c")
        options.ensure(self.lint or not self.fail_on, "--fail-on goes with --lint")
        options.ensure(self.corpora or "unmet" not in self.fail_on, "--fail-on unmet needs a text: -c")
        if not self.lint and self.against is None:
            return self._describe()
        if self.against is not None and self.corpora:
            fewer = f"`bpebench evaluate -m {self.model} -m {self.against}` says which takes fewer tokens on a text"
            options.ensure(self.lint, f"--against compares tokens; {fewer}")
        others = options.given(self) - {"model", "as_json"}
        others -= {"corpora", "max_bytes", "lint", "fail_on"} if self.lint else {"against"}
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(others))
        options.ensure(not others, f"{flags} does not go with {'--lint' if self.lint else '--against'}")
        if self.against is not None:
            from harness.evaluate.difference import difference

            names = self.model, self.against
            document = difference(names, (load_model(names[0]), load_model(names[1])))
            self.output(document, lambda: _shown_difference(document))
            return False
        corpora = [inputs.load_corpus(name, max_bytes=self.max_bytes) for name in dict.fromkeys(self.corpora)]
        found = lint(self.model, load_model(self.model), corpora)
        self.output(found.document(self.fail_on), lambda: shown(found, self.fail_on))
        return bool(found.failed(self.fail_on))

    def _describe(self) -> bool:
        """Print what the model is; return whether something is wrong with the file it is read from."""
        from harness.data import load_model
        from harness.data.inspection import inspect
        from harness.data.models import is_model_name
        from impls.core.errors import UnknownId

        is_file = bool(self.model.strip()) and not is_model_name(self.model) and Path(self.model).exists()
        file = inspect(Path(self.model)) if is_file else None
        model = load_model(self.model) if file is None else file.model
        by_id = model.bytes_by_id()
        for position, i in enumerate(self.ids):
            if i not in by_id:
                raise options.with_range(UnknownId(i, position), self.model, model)
        chosen = [*self.ids]
        if self.find is not None:
            part = self.find.encode("utf-8", "surrogatepass")
            chosen += [i for i, token in by_id.items() if part in token]
        chosen += _learned_ids(model)[: self.show]
        tokens = {i: repr(by_id[i].decode("utf-8", "backslashreplace")) for i in chosen}
        about = _about(self.model, model)
        if file is not None:
            about |= file.document()
        if self.irregular:
            about["irregularities"] = list(model.irregularities)
        rows = [[key.replace("_", " "), _cell(value)] for key, value in about.items() if value or value == 0]
        lines = [options.table(rows, ["", ""])]
        lines += ["", options.table(list(tokens.items()), ["id", "token"])] if tokens else []
        document = {**about, "tokens": [{"id": i, "token": token} for i, token in tokens.items()]}
        if self.corpora:
            from harness.report.layout import render

            report = report_on(self.model, model, *corpus_parts(self.corpora, self.held_out, self.max_bytes))
            document["report"] = report.document()
            lines += ["", *(render(table, "text", width=options.terminal_width()) for table in report.tables())]
            if self.out is not None:
                lines += map(str, write_charts(self.out, report.charts()))
        self.output(document, lambda: "\n".join(lines))
        return file is not None and bool(file.findings)


def _shown_difference(found: dict[str, Any]) -> str:
    from harness.report.round_trips import named

    one, other = (named(found[side]["model"], found[side]["round_trip"]) for side in ("one", "other"))
    parts = {"shared": "in both", "moved": "of these under another id", "only_one": f"only in {one}",
             "only_other": f"only in {other}"}  # fmt: skip
    rows = [(what, f"{found[f'n_{part}']:,}", f"{found['special'][part]:,}") for part, what in parts.items()]
    scripts = [
        [value if isinstance(value, str) else f"{value:,}" for value in row.values()] for row in found["scripts"]
    ]
    headers = ["script", "in both", parts["only_one"], parts["only_other"]]
    return "\n".join([options.table(rows, ["", "tokens", "special and added"]), "", options.table(scripts, headers)])


def _about(name: str, model: Model) -> dict[str, object]:
    return {
        "model": name,
        "ids": model.vocab_size,
        "tokens": sum(token is not None for token in model.tokens),
        "special_tokens": dict(model.special_tokens),
        "added_tokens": dict(model.added_tokens),
        "tokens_found_otherwise": {text: " ".join(flags) for text, flags in model.whole_token_flags.items()},
        "alphabet": model.alphabet,
        "merge_rule": model.merge_rule,
        "merges": len(model.merges),
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
        return "as it stands"
    rules_applied = ["spaces become U+2581"] if rules.escape_spaces else []
    rules_applied += [] if rules.dummy_prefix == "never" else [f"one before a text ({rules.dummy_prefix})"]
    rules_applied += ["runs of spaces become one, those at the ends none"] if rules.remove_extra_spaces else []
    return ", ".join(rules_applied) or "normalised"


def _learned_ids(model: Model) -> list[int]:
    if model.merges:
        return list(model.merge_results)
    return [i for i, token in enumerate(model.tokens) if token is not None and len(token) > 1]


_N_SHOWN = 6


def _cell(value: object) -> str:
    if isinstance(value, dict):
        first = ", ".join(f"{text!r}={i}" for text, i in list(value.items())[:_N_SHOWN])
        return first if len(value) <= _N_SHOWN else f"{first}, … ({len(value)} in all)"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


command = Vocab.command()


def report_on(name: str, model: Model, trained: Sequence[Corpus], held_out: Sequence[Corpus]) -> VocabularyReport:
    """Return the report of `model` over both texts; print on standard error what is wrong or not possible."""
    from harness.measure.token_use import counter, token_use
    from harness.report.vocabulary import VocabularyReport, curve_sizes
    from harness.training.vocabulary_curve import uncuttable, vocabulary_curve

    tokenizer, curve = counter(model), None
    with progress(f"reading {label([*trained, *held_out])}"):
        used, used_held_out = (
            [token_use(tokenizer, corpus.documents(), label([corpus])) for corpus in part]
            for part in (trained, held_out)
        )
        if why_not := uncuttable(model):
            options.say(f"bytes per token by size are left out: {name} cannot be cut: {why_not}", err=True)
        else:
            curve = vocabulary_curve(model, all_documents(held_out), curve_sizes(len(model.merges)))
    return VocabularyReport(name, model, used, used_held_out, curve)
