"""`bpebench play`: the playground in the browser."""

from __future__ import annotations

from importlib.util import find_spec

import click

from harness.commands import options
from harness.commands.verb import Verb, argument, flag, option

_EXTRA = ("starlette", "uvicorn")


class Play(Verb):
    """Open a page that shows what tokenizers make of a text, side by side: tokens, merges step by step, training.

    TEXT is what the page begins with: the text, @FILE, or `-` for standard input. The page and its API are served on
    the loopback interface only; nothing leaves this machine.
    """

    text: str | None = argument(required=False)
    models: tuple[str, ...] = options.model_option("Vocabulary to begin with; repeatable.", multiple=True)
    implementations: tuple[str, ...] = options.implementation_option(
        "Implementation to begin with; repeatable.  [default: compiled]", multiple=True
    )
    port: int = option("Port of the loopback interface; 0 for any.", type=click.IntRange(0, 65535), default=8877)
    open: bool = flag("Open the page in the browser.")
    limit: float = option("Limit on a column.", type=options.SECONDS, default=5.0, metavar="SECONDS")

    def run(self) -> None:
        """Serve the page until interrupted."""
        missing = [name for name in _EXTRA if find_spec(name) is None]
        if missing:
            needed = f"`bpebench play` needs {' and '.join(missing)}, which the extra 'play' installs"
            raise click.ClickException(f"{needed}: pip install 'bpebench[play]'")
        from harness.play.app import Playground
        from harness.play.server import address_of, listen, serve
        from harness.play.store import Store

        text = None if self.text is None else options.read_sample(self.text)
        store = Store(self.models)
        beginning = store.beginning(self.implementations, text)
        playground = Playground(store, beginning, self.limit)
        with listen(self.port) as listening:
            address = address_of(listening)
            self.output({"address": address}, lambda: f"{address}\nstop it with Ctrl-C")
            serve(playground.app(), listening, open_page=self.open)


command = Play.command()
