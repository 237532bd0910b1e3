"""The package and summary of an adapter, found in its source, so that a peer is listed without importing it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple

_PACKAGE = re.compile(r'= library\("[^"]*", "([^"]*)"')
_SUMMARY = re.compile(r'^    summary: ClassVar\[str\] = "([^"]*)"$', re.MULTILINE)


class AdapterMetadata(NamedTuple):
    """The package and summary of one adapter."""

    package: str
    """The distribution its library comes in."""
    summary: str


def adapter_metadata(module: str) -> AdapterMetadata:
    """Return the package that `module` (`impls.peers.NAME`) passes to `library`, and the `summary` of its class."""
    package, _, stem = module.rpartition(".")
    source = (files(package) / f"{stem}.py").read_text(encoding="utf-8")
    return AdapterMetadata(*("".join(pattern.findall(source)) for pattern in (_PACKAGE, _SUMMARY)))
