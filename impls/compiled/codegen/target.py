"""Describes the processor that kernels are compiled for: this one, or, for a wheel, a generation of processors.

This module must import nothing of this package.
"""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

_MACHINES = {"AMD64": "x86_64", "arm64": "aarch64"}
"""Names of machines on some systems, mapped to the names Linux and LLVM use."""
_GENERATIONS = {"x86_64": "x86-64-v3", "aarch64": "generic"}
"""By machine, LLVM's name of the oldest processor that runs a wheel's kernels: those of about 2015 and later do."""
_FLAGS = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
"""The features that a processor of the x86-64 generation must have, by Linux's names."""
VARIABLE = "BPEBENCH_COMPILED_CPU"
"""The environment variable that says for which of `generations` kernels are compiled, if not for this processor."""
_FIELDS = ("cpu family", "model", "stepping", "flags")
"""How lines begin in which Linux says what decides about a processor's code."""


def machine() -> str:
    """Return LLVM's name of this kind of machine, such as "x86_64"."""
    name = platform.machine()
    return _MACHINES.get(name, name)


def generations() -> list[str]:
    """Return what a wheel built here carries kernels for: strings of a machine and the name of a processor.

    On Linux kernels for every kind of machine can be compiled; elsewhere only for the machine itself.
    """
    machines = _GENERATIONS if sys.platform == "linux" else _GENERATIONS.keys() & {machine()}
    return [f"{name}:{_GENERATIONS[name]}" for name in machines]


def generation() -> str | None:
    """Return the one of `generations` whose kernels this processor runs, or None."""
    if machine() == "x86_64" and not set(_processor().split()) >= _FLAGS:
        return None
    return next((each for each in generations() if each.startswith(f"{machine()}:")), None)


@cache
def _processor() -> str:
    """Return what Linux says of the first processor if it is an x86-64, as far as it decides about code; else ""."""
    if sys.platform != "linux" or machine() != "x86_64":
        return ""
    try:
        # Reading about all processors may take milliseconds.
        with Path("/proc/cpuinfo").open("rb", buffering=0) as file:
            lines = file.read(4096).decode("ascii", "replace").split("\n\n")[0].splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if line.startswith(_FIELDS))


def description() -> str:
    """Return a string that identifies the processor that kernels are compiled for."""
    if known := os.environ.get(VARIABLE) or _processor():
        return known
    from llvmlite import binding as llvm

    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features().flatten()}"


def features() -> Any:
    """Return LLVM's map of features of the processor that kernels are compiled for, beyond what its name implies."""
    from llvmlite import binding as llvm

    return llvm.FeatureMap() if os.environ.get(VARIABLE) else llvm.get_host_cpu_features()


def target_machine() -> Any:
    """Return LLVM's target machine for the processor that kernels are compiled for."""
    from llvmlite import binding as llvm

    name, _, cpu = (os.environ.get(VARIABLE) or llvm.get_host_cpu_name()).rpartition(":")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = llvm.get_default_triple() if name in ("", machine()) else f"{name}-unknown-linux-gnu"
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features().flatten(), opt=3, codemodel="jitdefault", jit=True
    )
