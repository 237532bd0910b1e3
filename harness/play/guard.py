"""Access control, size limits and the form of errors: an ASGI layer around the routes.

The server listens on the loopback interface, but any page in the user's browser can reach it. So a request must name
this machine as its host, which protects against DNS rebinding, and come from our own page or from no page. There is no
CORS. Every answer forbids the browser to load anything from elsewhere.
"""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.play.messages import MAX_BODY_BYTES
from harness.printable import printable

_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?")
BODY_SECONDS = 20.0
MAX_BYTES_AT_ONCE = 96 << 20
"""Bytes of bodies that all requests together may hold."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Busy(Exception):
    """The request cannot be answered now; it is refused at once, and may be sent again."""


class Guard:
    """Refuses requests of other hosts and origins, and bodies too large in all; adds headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._n_bytes = 0
        """Bytes of the bodies of all requests that are not answered yet."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        n_bytes = 0

        async def counted() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += (n_part := len(message.get("body", b"")))
            self._n_bytes += n_part
            if self._n_bytes > MAX_BYTES_AT_ONCE:
                raise Busy("other requests are being received; try again in a moment")
            return message

        why = "this server speaks HTTP only" if scope["type"] != "http" else refusal(Headers(scope=scope))
        app = self._app if why is None else problem(403, why)
        try:
            await app(scope, counted, with_headers)
        finally:
            self._n_bytes -= n_bytes


def refusal(headers: Headers) -> str | None:
    """Return why a request is refused, or None."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        return "the request is for another host; open the address that `bpebench play` printed"
    is_ours = headers.getlist("origin") in ([], [f"http://{hosts[0]}"])
    is_near = headers.get("sec-fetch-site") in (None, "same-origin", "none")
    navigates = headers.get("sec-fetch-mode") == "navigate"
    return None if is_ours and (is_near or navigates) else "the request comes from a page of another site"


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error as problem+json (RFC 9457)."""
    content = {"status": status, "title": HTTPStatus(status).phrase, "detail": printable(detail), "type": "about:blank"}
    return Response(msgspec.json.encode(content), status, headers, media_type="application/problem+json")


async def body_of(request: Request, media_type: str, most: int = MAX_BODY_BYTES) -> bytes:
    """Return the body; raise an HTTPException if it has another type, is too large, or does not arrive."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != media_type:
        raise HTTPException(415, f"send {media_type}, not {given or 'a body without a type'}")
    too_large = HTTPException(413, f"the body is larger than {most >> 20} MiB", {"connection": "close"})
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise too_large
    parts = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                parts += part
                if len(parts) > most:
                    raise too_large
    except TimeoutError:
        raise HTTPException(408, f"the body did not arrive in {BODY_SECONDS:g} s", {"connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "the connection closed before the body was complete") from None
    return bytes(parts)
