"""Code that is to run in a process of its own: other settings, other builds, memory nobody else has touched."""

from __future__ import annotations

import os
import subprocess
import sys


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python code with those arguments and these variables besides; what it wrote is in the result."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
