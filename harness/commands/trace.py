"""`bpebench trace`: every merge step of one implementation on a text."""

from __future__ import annotations

from harness.commands import inputs, options
from harness.commands.verb import Verb, argument


class Trace(Verb):
    """Show each merge step of IMPLEMENTATION on TEXT: piece, symbols, pair, rank, result.

    IMPLEMENTATION is a name from `list`, a regular expression that matches one, module:object, a Python file, a model
    file or cmd:COMMAND.

    TEXT is the text, @FILE, or `-` or nothing for standard input; special tokens in it are read as text. The steps are
    replayed by the rule the implementation follows and compared with its ids: exit status 1 if they do not give these
    ids, and the output says so.
    """

    implementation: str = argument(callback=options.only_match)
    text: str | None = argument(required=False)
    model: str = options.model
    escaped: bool = options.escaped

    def run(self) -> bool:
        """Print the steps."""
        from harness.data import load_model
        from harness.explain import trace
        from harness.report.explanation import render_trace

        content = inputs.read_text(self.text, self.escaped)
        with options.answering(self.implementation):
            traced = trace(self.implementation, load_model(self.model), content, self.model)
        self.output(traced, lambda: render_trace(traced))
        return not traced.reproduces
