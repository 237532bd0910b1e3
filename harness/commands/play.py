"""`bpebench play`: the playground in the browser."""

from __future__ import annotations

import contextlib
import socket
import webbrowser
from importlib.util import find_spec

import click

from harness.commands import inputs, options
from harness.commands.verb import Verb, argument, flag, option
from impls.core.errors import BPEError

ADDRESS = "127.0.0.1"


class Play(Verb):
    """Open a page that shows what tokenizers make of a text, side by side: tokens, merges step by step, training.

    TEXT is what the page begins with: the text, @FILE, or `-` for standard input. The page and its API are served on
    the loopback interface only; nothing leaves this machine.
    """

    text: str | None = argument(required=False)
    models: tuple[str, ...] = options.model_option("Vocabulary shown first; repeatable.", multiple=True)
    implementations: tuple[str, ...] = options.implementation_option(
        "Implementation shown first; repeatable.  [default: compiled]", multiple=True
    )
    port: int = option("Port of the loopback interface; 0 for any.", type=options.Whole(0, 65535), default=8877)
    open: bool = flag("Open the page in the browser.")
    limit: float = option("Time limit for one column.", type=options.SECONDS, default=5.0, metavar="SECONDS")

    def run(self) -> None:
        """Serve the page until interrupted."""
        missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
        if missing:
            needed = f"`bpebench play` needs {' and '.join(missing)}, which the extra 'play' installs"
            raise click.ClickException(f"{needed}: pip install 'bpebench[play]'")
        import uvicorn

        from harness.play.app import Playground
        from harness.play.store import Store

        text = None if self.text is None else inputs.read_text(self.text)
        store = Store(self.models)
        playground = Playground(store, store.beginning(self.implementations, text), self.limit)
        with _listen(self.port) as listening:
            address = f"http://{ADDRESS}:{listening.getsockname()[1]}/"
            self.output({"address": address}, lambda: f"{address}\nstop it with Ctrl-C")
            config = uvicorn.Config(
                playground.app(), http="h11", ws="none", log_level="warning", access_log=False, server_header=False,
                date_header=False, timeout_graceful_shutdown=1,
            )  # fmt: skip
            if self.open:
                webbrowser.open(address)
            with contextlib.suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface (0: any free port); raise `BPEError` if it is in use."""
    try:
        return socket.create_server((ADDRESS, port), backlog=512)
    except OSError as error:
        why = f"port {port} of {ADDRESS} cannot be used ({error.strerror}); choose another with --port"
        raise BPEError(why) from None
