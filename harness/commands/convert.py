"""`bpebench convert`: write a vocabulary in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands import options, writing
from harness.commands.verb import Verb, argument, flag, option
from harness.printable import printable
from impls.core.errors import UnknownName, plural
from impls.core.text.patterns import NAMED

if TYPE_CHECKING:
    from impls.core.model.model import Model


class Convert(Verb):
    """Write SOURCE (a name or a file) to TARGET, listing on standard error what the format cannot represent."""

    source: str = argument()
    target: Path = argument(type=options.PATH)
    format: str = option("A name of `bpebench list formats`.", "--to", required=True, metavar="FORMAT")
    pattern: str | None = option("For a rank file, which has none: a name of `bpebench list patterns`.", metavar="NAME")
    strict: bool = flag("Refuse, with status 1, when anything would be lost.")

    def run(self) -> bool:
        """Convert; return True if `--strict` is set and anything would be lost."""
        from impls.formats import READ_ONLY, formats, losses, save

        options.ensure(self.format not in READ_ONLY, f"--to {self.format}: files of this format can only be read")
        if self.format not in formats():
            raise UnknownName("format", self.format, formats())
        model = self._model()
        writing.check_target(self.target, writing.model_sources(self.source))
        lost = losses(model, self.format)
        for line in lost:
            options.say(f"lost: {line}", err=True)
        if lost and self.strict:
            return True
        save(model, self.target, self.format)
        document = {"source": self.source, "target": str(self.target), "format": self.format, "lost": lost}
        n_lost = f", {plural(len(lost), 'loss', 'losses')}" if lost else ""
        self.output(document, printable(f"{self.target}: {self.format}, {model.n_tokens:,} tokens{n_lost}"))
        return False

    def _model(self) -> Model:
        if self.pattern is None:
            from harness.data import load_model

            return load_model(self.source)
        from impls.formats import load_with_format, tiktoken_ranks

        if self.pattern not in NAMED:
            raise UnknownName("pattern", self.pattern, list(NAMED))
        wrong = "--pattern is for rank files;"
        options.ensure(Path(self.source).is_file(), f"{wrong} {self.source} is not a file")
        format, model = load_with_format(Path(self.source), pattern=self.pattern)
        is_ranks = format == tiktoken_ranks.FORMAT
        options.ensure(is_ranks, f"{wrong} {self.source} is a {format} file, which has a pattern")
        return model
