"""The processor that kernels are compiled for: this one, or, for a wheel, any of a generation of each kind of machine.

Must import nothing of this package.
"""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

_MACHINES = {"AMD64": "x86_64", "arm64": "aarch64"}
"""Names that some systems have for machines, and what Linux and LLVM call them."""
_GENERATIONS = {"x86_64": "x86-64-v3", "aarch64": "generic"}
"""By machine the processors that run the kernels a wheel carries, by LLVM's name: those of about 2015 and later."""
_FLAGS = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
"""What those of x86-64 have, by Linux's names."""
_VARIABLE = "BPEBENCH_COMPILED_CPU"
_FIELDS = ("cpu family", "model", "model name", "stepping", "flags")


def machine() -> str:
    """Return what kind of machine this is, by LLVM's name."""
    name = platform.machine()
    return _MACHINES.get(name, name)


def generations() -> list[str]:
    """Return what a wheel that is built here carries kernels for: each a machine and the name of a processor.

    On Linux those of every kind of machine can be made; elsewhere only its own.
    """
    machines = _GENERATIONS if sys.platform == "linux" else _GENERATIONS.keys() & {machine()}
    return [f"{name}:{_GENERATIONS[name]}" for name in machines]


def generation() -> str | None:
    """Return which of `generations` this processor runs, if any."""
    if machine() == "x86_64" and not set(_processor().get("flags", "").split()) >= _FLAGS:
        return None
    return next((one for one in generations() if one.startswith(f"{machine()}:")), None)


def environment_for(one: str) -> dict[str, str]:
    """Return the environment in which kernels are compiled for one of `generations`."""
    return {_VARIABLE: one}


@cache
def _processor() -> dict[str, str]:
    """Return what Linux says of the first processor, where it is an x86-64; empty elsewhere."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return {}
    try:
        # All processors together may take milliseconds.
        with Path("/proc/cpuinfo").open("rb", buffering=0) as file:
            lines = file.read(4096).decode("ascii", "replace").split("\n\n")[0].splitlines()
    except OSError:
        return {}
    found = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return {name: found.get(name, "") for name in _FIELDS} if "flags" in found else {}


def description() -> str:
    """Return what tells the processor that kernels are compiled for from others."""
    chosen = os.environ.get(_VARIABLE)
    if chosen or (processor := _processor()):
        return chosen or str(processor)
    from llvmlite import binding as llvm

    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features().flatten()}"


def features() -> Any:
    """Return LLVM's map of what the processor that kernels are compiled for has beyond its name."""
    from llvmlite import binding as llvm

    return llvm.FeatureMap() if os.environ.get(_VARIABLE) else llvm.get_host_cpu_features()


def target_machine(processor: str = "") -> Any:
    """Return LLVM's target machine for a processor: by default the one that kernels are compiled for.

    `processor` is one of `generations`, or LLVM's name of a processor of this machine.
    """
    from llvmlite import binding as llvm

    name, _, cpu = (processor or os.environ.get(_VARIABLE) or llvm.get_host_cpu_name()).rpartition(":")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    own = name in ("", machine())
    has = llvm.FeatureMap() if processor else features()
    triple = llvm.get_default_triple() if own else f"{name}-unknown-linux-gnu"
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=has.flatten(), opt=3, codemodel="jitdefault", jit=True
    )
