"""The processor that kernels are compiled for: this one, or, for a wheel, any of a generation.

Must import nothing of this package.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from llvmlite import binding as llvm

GENERATION = "x86-64-v3"
"""The processors that run the kernels a wheel carries, by LLVM's name: those of about 2015 and later."""
_FEATURES = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_VARIABLE = "BPEBENCH_COMPILED_CPU"
FOR_A_WHEEL = {_VARIABLE: GENERATION}
"""The environment in which kernels are compiled for the generation."""


def cpu() -> str:
    """Return LLVM's name of the processor that kernels are compiled for."""
    return os.environ.get(_VARIABLE) or llvm.get_host_cpu_name()


def features() -> Mapping[str, bool]:
    """Return what that processor has beyond its name, by LLVM's names of features."""
    found: Mapping[str, bool] = llvm.FeatureMap() if os.environ.get(_VARIABLE) else llvm.get_host_cpu_features()
    return found


def runs_generation() -> bool:
    """Return whether this processor runs the kernels a wheel carries."""
    found = llvm.get_host_cpu_features()
    return llvm.get_process_triple().startswith("x86_64") and all(found.get(name) for name in _FEATURES)


def target_machine() -> Any:
    """Return LLVM's target machine for that processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu(), features=llvm.FeatureMap(features()).flatten(), opt=3, codemodel="jitdefault", jit=True
    )
