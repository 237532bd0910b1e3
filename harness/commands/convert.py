"""`bpebench convert`: write a vocabulary in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import options, writing
from harness.commands.verb import Verb, argument, flag, option
from harness.printable import printable
from impls.core.errors import UnknownName, plural
from impls.core.text.patterns import NAMED

if TYPE_CHECKING:
    from impls.core.model.model import Model

_ALL = "all"


class Convert(Verb):
    """Write SOURCE (a name or a file) to TARGET, listing on standard error what the format cannot represent.

    `--to all` writes it into the folder TARGET in every format that can hold it, and says why the others cannot.
    """

    source: str = argument()
    target: Path = argument(type=options.PATH)
    format: str = option(
        "A name of `bpebench list formats`, or all: TARGET is a folder.", "--to", required=True, metavar="FORMAT"
    )
    pattern: str | None = option("For a rank file, which has none: a name of `bpebench list patterns`.", metavar="NAME")
    strict: bool = flag("Refuse, with status 1, when anything would be lost.")

    def run(self) -> bool:
        """Convert to one format or all; return True if `--strict` is set and anything would be lost."""
        from impls.formats import formats, losses, save

        known = [*formats(), _ALL]
        if self.format not in known:
            raise UnknownName("format", self.format, known)
        model = self._model()
        if self.format == _ALL:
            return self._to_all(model, formats())
        writing.check_target(self.target, writing.model_sources(self.source))
        lost = losses(model, self.format)
        for line in lost:
            options.say(f"lost: {line}", err=True)
        if lost and self.strict:
            return True
        save(model, self.target, self.format)
        document = {"source": self.source, "target": str(self.target), "format": self.format, "lost": lost}
        written = f"{self.target}: {self.format}, {model.n_tokens} tokens{_n_losses(lost)}"
        self.output(document, lambda: printable(written))
        return False

    def _model(self) -> Model:
        if self.pattern is None:
            from harness.data import load_model

            return load_model(self.source)
        from impls.formats import load_with_format, tiktoken_ranks

        if self.pattern not in NAMED:
            raise UnknownName("pattern", self.pattern, list(NAMED))
        wrong = "--pattern goes with a rank file;"
        options.ensure(Path(self.source).is_file(), f"{wrong} {self.source} is not a file")
        format, model = load_with_format(Path(self.source), pattern=self.pattern)
        is_ranks = format == tiktoken_ranks.FORMAT
        options.ensure(is_ranks, f"{wrong} {self.source} is of the format {format}, which says how text is cut")
        return model

    def _to_all(self, model: Model, formats: list[str]) -> bool:
        from impls.formats import file_name

        files = {name: self.target / file_name(name) for name in formats}
        sources = writing.model_sources(self.source)
        for file in files.values():
            writing.check_target(file, sources)
        rows = [self._converted(model, name, file) for name, file in files.items()]
        for row in [] if self.as_json else rows:
            for line in row["lost"]:
                options.say(f"lost in {row['format']}: {line}", err=True)
        lines = [
            f"{row['format']}: not written: {row['refused'] or 'something would be lost'}"
            if row["file"] is None
            else f"{row['file']}: {row['format']}{_n_losses(row['lost'])}"
            for row in rows
        ]
        document = {"source": self.source, "target": str(self.target), "formats": rows}
        self.output(document, lambda: "\n".join(map(printable, lines)))
        return self.strict and any(row["lost"] or row["refused"] for row in rows)

    def _converted(self, model: Model, format: str, file: Path) -> dict[str, Any]:
        """Convert to one format; return the result as a row."""
        from impls.core.errors import Unsupported
        from impls.formats import losses, save

        row: dict[str, Any] = {"format": format, "file": None, "lost": [], "refused": None}
        try:
            row["lost"] = losses(model, format)
            if not (self.strict and row["lost"]):
                save(model, file, format)
                row["file"] = str(file)
        except Unsupported as error:
            row["refused"] = error.reason
        return row


def _n_losses(lost: list[str]) -> str:
    return f", {plural(len(lost), 'loss', 'losses')}" if lost else ""


command = Convert.command()
