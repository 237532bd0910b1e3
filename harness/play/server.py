"""Run the playground: on the loopback interface only, with few connections, closing idle ones."""

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
    """HTTP/1.1 that closes a connection whose first request does not begin in time; uvicorn leaves it open."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(IDLE_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None:
            self.transport.close()


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
    """Raise this process's limit on open files to what connections may need, if the system allows it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
