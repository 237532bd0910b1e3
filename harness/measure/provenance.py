"""Where and with what a run was made: machine, versions, settings. No host name, no user name, no path.

An unavailable fact is None, never a guess.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import subprocess
import unicodedata
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import harness
from harness.measure import placement
from harness.process.pool import Pool
from harness.process.session import Failed

PROBE_SECONDS = 60.0

_CPUINFO = Path("/proc/cpuinfo")
_CPU = Path("/sys/devices/system/cpu")
_KINDS_OF_CACHE = {"Data": "d", "Instruction": "i"}


def recorded_packages() -> list[str]:
    """Return the packages whose versions are recorded: this one, its dependencies, and what its extras install."""
    required = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in metadata.requires("bpebench") or ()}
    return ["bpebench", "llvmlite", *sorted(required)]


def machine(implementations: Sequence[str] = ()) -> dict[str, Any]:
    """Return everything about this machine and installation that a figure may depend on."""
    import psutil

    return {
        "cpu": cpu_model(),
        "cpu_generation": cpu_generation(),
        "cores": os.cpu_count(),
        "usable_cores": len(placement.cores()),
        "physical_cores": psutil.cpu_count(logical=False),
        "caches_bytes": caches(),
        "governor": governor(),
        "memory_bytes": int(psutil.virtual_memory().total),
        "os": operating_system(),
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": versions(recorded_packages()),
        "unicode": {"unicodedata": unicodedata.unidata_version} | unicode_versions(implementations),
        "suite": suite(),
        "thread_variables": dict.fromkeys(placement.THREAD_VARIABLES, "threads of the workload")
        | {"TOKENIZERS_PARALLELISM": "true where the workload has more than one thread"},
        "pinning": placement.can_pin(),
    }


def operating_system() -> str:
    """Return the name and version number of the system, without what a builder added to the version."""
    number = re.match(r"[\d.]*", platform.release())
    return f"{platform.system()} {number[0] if number else ''}".strip()


def cpu_model() -> str | None:
    """Return the model name of the processor; None if unknown."""
    if named := re.search(r"^model name\s*:(.*)$", _read(_CPUINFO), re.MULTILINE):
        return " ".join(named[1].split())
    with contextlib.suppress(Exception):
        import cpuinfo

        return str(cpuinfo.get_cpu_info()["brand_raw"])
    return None


def cpu_generation() -> str | None:
    """Return what distinguishes processors of one name, such as `family 26 model 2 AVX-512`; None if unknown."""
    facts = dict(re.findall(r"^(cpu family|model|flags)\s*:(.*)$", _read(_CPUINFO), re.MULTILINE))
    if not {"cpu family", "model"} <= set(facts):
        return None
    width = {"avx512f": " AVX-512", "avx2": " AVX2"}
    flags = facts.get("flags", "").split()
    vectors = next((name for flag, name in width.items() if flag in flags), "")
    return f"family {facts['cpu family'].strip()} model {facts['model'].strip()}{vectors}"


def _read(path: Path) -> str:
    """Return the content of a system file, or an empty string if it does not exist."""
    with contextlib.suppress(OSError):
        return path.read_text().strip()
    return ""


def caches() -> dict[str, int]:
    """Return the size in bytes of each cache of the first core: L1d, L1i, L2, L3."""
    sizes: dict[str, int] = {}
    for index in sorted((_CPU / "cpu0" / "cache").glob("index*")):
        level, kind, size = (_read(index / name) for name in ("level", "type", "size"))
        with contextlib.suppress(ValueError):
            sizes[f"L{level}{_KINDS_OF_CACHE.get(kind, '')}"] = _size(size)
    return sizes


def _size(text: str) -> int:
    """Parse `48K` or `2M` as bytes."""
    factor = {"K": 1024, "M": 1024**2, "G": 1024**3}.get(text[-1:], 1)
    return int(text.rstrip("KMG")) * factor


def governor() -> str | None:
    """Return the frequency governor of the cores (several, if they differ); None if the system does not report it."""
    return ", ".join(sorted({*map(_read, _CPU.glob("cpu*/cpufreq/scaling_governor"))} - {""})) or None


def load() -> float | None:
    """Return the mean number of running processes over the last minute."""
    with contextlib.suppress(OSError, AttributeError):
        return round(os.getloadavg()[0], 2)
    return None


def versions(packages: Iterable[str]) -> dict[str, str | None]:
    """Return installed versions by package; None for a package that is not installed."""
    versions_by_name: dict[str, str | None] = dict.fromkeys(packages)
    for name in versions_by_name:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions_by_name[name] = metadata.version(name)
    return versions_by_name


def unicode_versions(implementations: Sequence[str]) -> dict[str, str | None]:
    """Return the Unicode version of `regex` and each implementation, probed in separate processes; None if unknown."""
    from harness.unicode_versions import version_of

    engines = ["regex", *implementations]
    with Pool() as pool:
        answers = pool.run(version_of, [(engine,) for engine in engines], seconds=PROBE_SECONDS)
    probed = zip(engines, answers, strict=True)
    return {engine: None if isinstance(answer, Failed) else answer for engine, answer in probed}


def suite() -> dict[str, Any]:
    """Return the suite's version and, in a checkout, its commit and whether files differ (except `results/`)."""
    root = Path(harness.__file__).parent.parent
    # Use only this project's own checkout, not another repository around an installed package.
    is_checkout = (root / ".git").exists() and (root / "pyproject.toml").is_file()
    commit = _git(root, "rev-parse", "HEAD") if is_checkout else None
    dirty: bool | None = None
    if commit is not None:
        changes = _git(root, "status", "--porcelain", "--", ".", ":(exclude)results")
        dirty = None if changes is None else bool(changes)
    return {"version": versions(["bpebench"])["bpebench"], "commit": commit, "dirty": dirty}


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), *arguments]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    return None
