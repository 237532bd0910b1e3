"""Which implementations can be used, found without importing plug-ins that were not chosen."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from impls.core.errors import Missing
from impls.registry import default_names, get, plugin

_PEERS = "impls.peers."


@dataclass(frozen=True, slots=True)
class Availability:
    """One implementation, as `bpebench list` shows it."""

    name: str
    kind: str
    state: str
    """`ready`, `installed` (its package is there), `missing: …`, `broken: …`, or `plug-in`: not known until chosen."""
    about: str


def availability(name: str) -> Availability:
    """Return the state of the implementation `name`.

    Own and production implementations are imported, peers are looked up, other plug-ins only named.
    """
    if name in default_names():
        return _imported(name)
    point = plugin(name)
    if point.module.startswith(_PEERS):
        return _peer(name, point.module)
    origin = "" if point.dist is None else f"of {point.dist.name} {point.dist.version}; "
    return Availability(name, "third-party", "plug-in", f"{origin}imported when it is chosen")


def _imported(name: str) -> Availability:
    try:
        found = get(name)
    except Missing as missing:
        return Availability(name, "", f"missing: pip install {missing.package}", "")
    except Exception as error:  # a library may fail in any way on import; it is listed all the same
        return Availability(name, "", f"broken: {type(error).__name__}: {error}", "")
    return Availability(name, found.kind, "ready", found.summary)


def _peer(name: str, module: str) -> Availability:
    from impls.peers.metadata import adapter_metadata

    about = adapter_metadata(module)
    try:
        version(about.package)
    except PackageNotFoundError:
        return Availability(name, "peer", f"missing: pip install {about.package}", about.summary)
    return Availability(name, "peer", "installed", about.summary)
