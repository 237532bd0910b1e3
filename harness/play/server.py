"""Run the playground, on the loopback interface only."""

from __future__ import annotations

import contextlib
import socket
import webbrowser

import uvicorn
from starlette.types import ASGIApp

from impls.core.errors import BPEError

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 500


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface (0: any free port); raise `BPEError` if it is in use."""
    try:
        return socket.create_server((ADDRESS, port), backlog=512)
    except OSError as error:
        raise BPEError(
            f"port {port} of {ADDRESS} cannot be used ({error.strerror}); choose another by --port"
        ) from None


def serve(app: ASGIApp, listening: socket.socket, open_page: bool) -> None:
    """Serve requests until interrupted."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    if open_page:
        webbrowser.open(address_of(listening))
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def address_of(listening: socket.socket) -> str:
    """Return the address of the page."""
    return f"http://{ADDRESS}:{listening.getsockname()[1]}/"
