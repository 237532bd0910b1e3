"""The sides of a fuzzing run, by name.

- `tiktoken`, `priority`, a plug-in: a registered implementation.
- `package.module:object`, a Python file, `cmd:COMMAND`, a model file: any form of target (see `harness.targets`).
- `regex@VERSION`: the reference implementation, splitting with that release of `regex`, installed separately.
- `tiktoken@VERSION`: a registered implementation over another release of the package of its name.

Releases are pinned by SHA-256 in `datasets/releases.toml`; for others give the digest: `regex@VERSION#sha256:HEX`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import impls
from harness.check.classes import registered
from harness.data.releases import Release, pinned_names, pinned_release

_RELEASE = re.compile(
    r"(?P<package>[\w.-]+)@(?P<version>[\w.+!-]+)(?:#(?P<hashes>sha256:[0-9a-f]{64}(?:,sha256:[0-9a-f]{64})*))?"
)


@dataclass(frozen=True, slots=True)
class SideSpec:
    """One side, as named on the command line."""

    name: str
    release: Release | None = None
    """The release installed separately for it."""


def parse_side(name: str) -> SideSpec:
    """Return the side of that name. Raises `UnknownName`, or `DataError` for a release without a pinned hash."""
    implementation = registered(name)
    if implementation is None:
        return SideSpec(name)
    if implementation not in impls.names():
        known = [*impls.names(), *pinned_names(), "MODULE:OBJECT", "FILE", "cmd:COMMAND", "PACKAGE@VERSION#sha256:HEX"]
        raise impls.UnknownName("implementation", name, known)
    if "@" not in name:
        return SideSpec(name)
    found = _RELEASE.fullmatch(name)
    if found is None:
        raise impls.UnknownName("release", name, [*pinned_names(), "PACKAGE@VERSION#sha256:HEX"])
    hashes = tuple(part.removeprefix("sha256:") for part in (found["hashes"] or "").split(",") if part)
    release = Release(found["package"], found["version"], hashes) if hashes else None
    release = release or pinned_release(found["package"], found["version"])
    return SideSpec(f"{release.package}@{release.version}", release)
