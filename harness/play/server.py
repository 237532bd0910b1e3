"""Running the playground: the loopback interface only, connections that say nothing closed, few at a time."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import webbrowser

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from impls.core.errors import BPEError

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 1000
IDLE_SECONDS = 10
_MOST_FILES = 16_384


class _Protocol(H11Protocol):
    """HTTP/1.1; a connection whose first request has not begun in time is closed, which uvicorn leaves open."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(IDLE_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None:
            self.transport.close()


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface, 0 for any free port; raise `BPEError` for one in use."""
    try:
        return socket.create_server((ADDRESS, port), backlog=512)
    except OSError as error:
        raise BPEError(
            f"port {port} of {ADDRESS} cannot be used ({error.strerror}); choose another by --port"
        ) from None


def serve(app: ASGIApp, listening: socket.socket, open_page: bool) -> None:
    """Answer requests until interrupted."""
    _allow_files()
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=1,
    )
    if open_page:
        webbrowser.open(address_of(listening))
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def address_of(listening: socket.socket) -> str:
    """Return the address of the page."""
    return f"http://{ADDRESS}:{listening.getsockname()[1]}/"


def _allow_files() -> None:
    """Allow this process as many open files as connections may need, where the system lets it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
