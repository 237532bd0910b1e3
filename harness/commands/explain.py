"""`bpebench explain`: why two tokenizers give different ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands import inputs, options
from harness.commands.verb import Verb, argument, flag
from harness.targets import DEFAULT_MODEL

if TYPE_CHECKING:
    from harness.explain import Side


class Explain(Verb):
    """Show the first stage in which A and B differ on TEXT, and both derivations side by side.

    A and B are implementations (see `list`), `module:object` or a Python file with encode and decode, `cmd:COMMAND`
    over the line protocol, or model files: a tokenizer.json is run by tokenizers, a SentencePiece model by
    sentencepiece, a rank file by tiktoken. TEXT is the text, @FILE, or `-` or nothing for standard input. Exit status 0
    if they agree, 1 if they differ or both refuse the text. A and B are loaded into the process of this command: a
    side that ends the process ends the command.
    """

    a: str = argument()
    b: str = argument()
    text: str | None = argument(required=False)
    models: tuple[str, ...] = options.model_option(
        f"Vocabulary of both sides, or given twice: of A, then of B.  [default: {DEFAULT_MODEL}]", multiple=True
    )
    allow_special: bool = flag("Special tokens in the text become their id, where a side can.")
    escaped: bool = options.escaped

    def run(self) -> bool:
        """Explain the difference; return whether there is one."""
        from harness.explain import explain
        from harness.report.explanation import render_explanation

        options.ensure(len(self.models) <= 2, "give -m once for both sides, or twice: for A, then for B")
        content = inputs.read_text(self.text, self.escaped)
        names = self.models if len(self.models) == 2 else (*self.models, DEFAULT_MODEL)[:1] * 2
        named = list(zip((self.a, self.b), names, strict=True))
        with options.printing_to_stderr():
            explanation = explain(*self._sides(named), content)
        explanation.a.model, explanation.b.model = (name if _runs_a_model(spec) else "" for spec, name in named)
        self.output(explanation, lambda: render_explanation(explanation))
        return not explanation.agree

    def _sides(self, named: list[tuple[str, str]]) -> tuple[Side, Side]:
        from harness.data import load_model
        from harness.explain import load_side

        loaded = {name: load_model(name) for spec, name in named if _runs_a_model(spec)}
        a, b = (load_side(spec, loaded.get(name), allow_special=self.allow_special) for spec, name in named)
        for side, (spec, name) in zip((a, b), named, strict=True):
            if len(self.models) == 2 and _runs_a_model(spec):
                side.name = f"{spec} on {Path(name).name}"
        return a, b


def _runs_a_model(spec: str) -> bool:
    """Return whether a side needs a model; a model file brings its own."""
    return spec.endswith(".py") or ":" in spec or not Path(spec).is_file()
