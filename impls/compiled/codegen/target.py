"""The processor that kernels are compiled for: this one, or, for a wheel, any of a generation.

Must import nothing of this package.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

GENERATION = "x86-64-v3"
"""The processors that run the kernels a wheel carries, by LLVM's name: those of about 2015 and later."""
_FLAGS = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
"""What they have, by Linux's names."""
_VARIABLE = "BPEBENCH_COMPILED_CPU"
FOR_A_WHEEL = {_VARIABLE: GENERATION}
"""The environment in which kernels are compiled for the generation."""
_FIELDS = ("cpu family", "model", "model name", "stepping", "flags")


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


def runs_generation() -> bool:
    """Return whether this processor runs the kernels a wheel carries."""
    return set(_processor().get("flags", "").split()) >= _FLAGS


def target_machine() -> Any:
    """Return LLVM's target machine for the processor that kernels are compiled for."""
    from llvmlite import binding as llvm

    cpu = os.environ.get(_VARIABLE) or llvm.get_host_cpu_name()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features().flatten(), opt=3, codemodel="jitdefault", jit=True
    )
