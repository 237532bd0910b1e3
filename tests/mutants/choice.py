"""Which tests concern a module: those of its name, then those that reach it by imports, the nearest first."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path, PurePosixPath

from impls.compiled.codegen.entry_points import OBJECT_FILES, exported

ROOT = Path(__file__).parents[2]
KERNELS = {name: f"impls.compiled.{module}" for each in OBJECT_FILES for name, module in exported(each).items()}
"""By name of a kernel, which Python calls as `native.NAME`, its module."""


def tests_of(path: str) -> list[str]:
    """Return the test files that may notice a fault in a module, the likeliest first.

    First those of the module's name, then those that import it, then the others: those whose paths share most words
    with its own, of the folder that mirrors its own, of the fewest imports between, the smallest.
    """
    module = PurePosixPath(path).with_suffix("")
    module = module.parent if module.name == "__init__" else module
    distances, words = _importers(path), _words(str(module))
    mirrors = (f"tests/{above}" for above in module.parents)
    mirror = next(folder for folder in mirrors if any((ROOT / folder).glob("test_*.py")))

    def remoteness(test: str) -> tuple[int, int, bool, int, int]:
        its_name = {f"test_{module.name}", f"test_{module.parent.name}_{module.name}", module.name}
        is_own = its_name & {PurePosixPath(test).stem, *PurePosixPath(test).parts}
        distance = 0 if is_own else distances.get(test, 99)
        is_mirror = str(PurePosixPath(test).parent) == mirror
        size = (ROOT / test).stat().st_size
        return min(distance, 2), -len(words & _words(test)), not is_mirror, distance, size

    side = f"tests/{module.parts[0]}/"
    side = side if any(test.startswith(side) for test in _imports()) else "tests/"
    return sorted((test for test in _imports() if test.startswith(side) and "/test_" in test), key=remoteness)


def _words(path: str) -> set[str]:
    return set(re.findall("[a-z]+", path)) - {"py"}


def reached(path: str) -> set[str]:
    """Return a module and all that it imports, directly or by way of others."""
    seen, waiting = {path}, [path]
    while waiting:
        new = _imports()[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def _importers(path: str) -> dict[str, int]:
    """Return the files that reach a module by imports, and how many imports lie between."""
    distances, edge, distance = {path: 0}, {path}, 0
    while edge:
        distance += 1
        edge = {file for file, targets in _imports().items() if file not in distances and targets & edge}
        distances |= dict.fromkeys(edge, distance)
    return distances


@cache
def _imports() -> dict[str, set[str]]:
    """Return what each Python file imports of the others; a test file imports the `conftest.py` of its folder.

    The one of all tests tells nothing of any.
    """
    folders = ("bpebench", "impls", "harness", "tests")
    files = {file.relative_to(ROOT).as_posix(): file for folder in folders for file in (ROOT / folder).rglob("*.py")}
    by_module = {re.sub(r"/__init__$", "", path[:-3]).replace("/", "."): path for path in files}
    by_module |= {PurePosixPath(path).stem: path for path in files if path.startswith("tests/support/")}
    imports: dict[str, set[str]] = {}
    for path, file in files.items():
        names = set[str]()
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "native":
                names |= {KERNELS.get(node.attr, "")}
        imports[path] = {by_module[name] for name in names if name in by_module} - {path}
        if (beside := str(PurePosixPath(path).with_name("conftest.py"))) in files and path.count("/") > 1:
            imports[path].add(beside)
    return imports
