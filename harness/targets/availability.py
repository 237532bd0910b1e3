"""Which implementations can be used here, without importing packages of peers and plug-ins."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import impls
from impls.core.errors import Missing
from impls.peers import PEERS
from impls.registry import plugins


@dataclass(frozen=True, slots=True)
class Availability:
    """One implementation, as `bpebench list` shows it."""

    name: str
    kind: str
    state: str
    """`ready`, `installed` (its package is there), `missing: …`, `broken: …`, or `plug-in`: unknown until chosen."""
    about: str


def availability(name: str) -> Availability:
    """Return the state of the implementation `name`, one of `names`.

    Own and production implementations are imported, packages of peers are looked up, other plug-ins only named.
    """
    if name in impls.default_names():
        try:
            implementation = impls.get(name)
        except Missing as missing:
            return Availability(name, "", f"missing: pip install {missing.package}", "")
        except Exception as error:  # a library may fail in any way on import; it is listed all the same
            return Availability(name, "", f"broken: {type(error).__name__}: {error}", "")
        return Availability(name, implementation.kind, "ready", implementation.summary)
    point = plugins()[name]
    if not point.module.startswith("impls.peers."):
        origin = "" if point.dist is None else f"of {point.dist.name} {point.dist.version}; "
        return Availability(name, "third-party", "plug-in", f"{origin}imported when it is chosen")
    package, summary = PEERS[name]["package"], PEERS[name]["summary"]
    try:
        version(package)
    except PackageNotFoundError:
        return Availability(name, "peer", f"missing: pip install {package}", summary)
    return Availability(name, "peer", "installed", summary)
