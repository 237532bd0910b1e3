"""Hatch's build hook: a wheel built where Numba is installed carries object files, so its first id needs no compiler.

Build with `python -m build --wheel --no-isolation`. A wheel built without Numba carries none, and the kernels are
compiled on first use.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MACHINES = ("x86_64", "AMD64", "aarch64", "arm64")
_COMPILE = """
import sys
from pathlib import Path
from impls.compiled.codegen.build import compile_for_a_wheel
compile_for_a_wheel(Path(sys.argv[1]))
"""


class ObjectFiles(BuildHookInterface[Any]):
    """Compiles the kernels for one generation of processors of each kind of machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the object files to the wheel."""
        if version == "editable" or find_spec("numba") is None or platform.machine() not in _MACHINES:
            return
        self._folder = tempfile.TemporaryDirectory()
        environment = os.environ | {"PYTHONPATH": self.root}
        command = [sys.executable, "-P", "-c", _COMPILE, self._folder.name]
        subprocess.run(command, env=environment, check=True)
        for path in Path(self._folder.name).iterdir():
            build_data["force_include"][str(path)] = f"impls/compiled/codegen/ready_made/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the object files from the source folder, now that the wheel holds them."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
