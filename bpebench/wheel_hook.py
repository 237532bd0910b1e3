"""Hatch's build hook: what a wheel installs is one package, with compiled kernels if Numba is installed.

The folders `impls`, `harness` and `datasets` become parts of the package `bpebench`, and whatever names their modules
is rewritten, so that neither these names nor those of a user's own modules hide each other.

    from impls.core import errors              ->  from bpebench.impls.core import errors
    import_module("harness.commands.run")      ->  import_module("bpebench.harness.commands.run")

Build with `python -m build --wheel --no-isolation`. A wheel built without Numba has no kernels: the extra
`compile` then brings it, and they are compiled on first use.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MACHINES = ("x86_64", "AMD64", "aarch64", "arm64")
_COMPILE = """
import sys
from pathlib import Path
from bpebench.impls.compiled.codegen.build import compile_for_a_wheel
compile_for_a_wheel(Path(sys.argv[1]))
"""
_MOVED = {"impls": "impls", "harness": "harness", "datasets": "harness/datasets"}
"""Folders of the repository, and their place in the package."""
_NAME = r"(?=(?:impls|harness)(?:[.:][A-Za-z_{]|[\"']))"
_CHANGES = {
    r"^(\s*(?:>>> )?)import (impls|harness)$": r"\1from bpebench import \2",
    r"^(\s*(?:>>> )?(?:from|import) )(?=(?:impls|harness)\b)": r"\1bpebench.",
    rf"(?<=[\"'`]){_NAME}|(?<=-m ){_NAME}": "bpebench.",
}
"""Expression -> replacement: imports, and strings that are a module's name or begin with it."""


class OnePackage(BuildHookInterface[Any]):
    """Puts the code and the data into the package, and compiles kernels for one generation of each kind of machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to the wheel."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        package = Path(self._folder.name) / "bpebench"
        write_package(Path(self.root), package)
        if find_spec("numba") is not None and platform.machine() in _MACHINES:
            environment = os.environ | {"PYTHONPATH": self._folder.name}
            ready_made = package / "impls/compiled/codegen/ready_made"
            ready_made.mkdir()
            command = [sys.executable, "-P", "-c", _COMPILE, str(ready_made)]
            subprocess.run(command, env=environment, check=True)
        for path in _files(package):
            build_data["force_include"][str(path)] = path.relative_to(self._folder.name).as_posix()
        core = self.metadata.core
        for points in (core.scripts, core.gui_scripts, *core.entry_points.values()):
            points.update({name: f"bpebench.{target}" for name, target in points.items()})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files, now that the wheel holds them."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def write_package(root: Path, package: Path) -> None:
    """Write the package of a wheel into `package`, from the folders of the repository `root`."""
    for folder, place in {"bpebench": "", **_MOVED}.items():
        for source in _files(root / folder):
            target = package / place / source.relative_to(root / folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.suffix == ".py" and folder != "datasets":
                target.write_text(moved(source.read_text("utf-8")), "utf-8")
            else:
                target.write_bytes(source.read_bytes())


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder, but none that Python compiled."""
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def moved(source: str) -> str:
    """Return a module's source with the modules of `impls` and `harness` named as parts of `bpebench`.

    A module is imported by `from … import …`: after `import impls.core`, the name `impls` would be another.
    """
    for expression, replacement in _CHANGES.items():
        source = re.sub(expression, replacement, source, flags=re.MULTILINE)
    return source
