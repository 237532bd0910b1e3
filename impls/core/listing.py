"""What there is to choose from, told without importing what is not chosen: plug-ins stay untouched."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from impls.core.errors import Missing
from impls.registry import default_names, get, plugin

_PEERS = "impls.peers."


@dataclass(frozen=True, slots=True)
class Listed:
    """One implementation as `bpebench list` shows it."""

    name: str
    kind: str
    state: str
    """`ready`, `installed` (its package is there), `missing: …`, `broken: …`; `plug-in`: it shows when it is chosen."""
    about: str


def listed(name: str) -> Listed:
    """Own and production implementations are imported, peers are looked up, other people's plug-ins only named."""
    if name in default_names():
        return _imported(name)
    point = plugin(name)
    if point.module.startswith(_PEERS):
        return _peer(name, point.module)
    origin = "" if point.dist is None else f"of {point.dist.name} {point.dist.version}; "
    return Listed(name, "third-party", "plug-in", f"{origin}imported when it is chosen")


def _imported(name: str) -> Listed:
    try:
        found = get(name)
    except Missing as missing:
        return Listed(name, "", f"missing: pip install {missing.package}", "")
    except Exception as error:  # a library may fail in any way while it is imported; it is listed all the same
        return Listed(name, "", f"broken: {type(error).__name__}: {error}", "")
    return Listed(name, found.kind, "ready", found.summary)


def _peer(name: str, module: str) -> Listed:
    from impls.peers.declared import declared

    about = declared(module)
    try:
        version(about.package)
    except PackageNotFoundError:
        return Listed(name, "peer", f"missing: pip install {about.package}", about.summary)
    return Listed(name, "peer", "installed", about.summary)
