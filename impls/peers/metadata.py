"""The package and summary of an adapter, parsed from its source, so that a peer is listed without importing it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class AdapterMetadata:
    """The package and summary of one adapter."""

    package: str
    """The distribution its library comes in."""
    summary: str


def adapter_metadata(module: str) -> AdapterMetadata:
    """Return the package that `module` (`impls.peers.NAME`) passes to `library`, and the `summary` of its class."""
    package, _, stem = module.rpartition(".")
    source = (files(package) / f"{stem}.py").read_text(encoding="utf-8")
    found = {"package": "", "summary": ""}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "library":
            found["package"] = ast.literal_eval(node.args[1])
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "summary":
            assert node.value is not None
            found["summary"] = ast.literal_eval(node.value)
    return AdapterMetadata(**found)
