"""What an adapter says of itself, read from its source: to tell of a peer its library need not be imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class AdapterMetadata:
    """Of one adapter."""

    package: str
    """The distribution its library comes in."""
    summary: str


def adapter_metadata(module: str) -> AdapterMetadata:
    """The package that `module` (`impls.peers.NAME`) asks `library` for, and the `summary` of its class."""
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
