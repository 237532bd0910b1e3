"""`make bench`: our hot paths in the working tree against its base commit, interleaved on this machine.

The base is HEAD where the tree has changes, else HEAD's parent. Both run the working tree's benchmarks, so that the
measure is one and only the measured code differs. Nothing is kept: the reports live in a temporary folder, and
the fields that name the machine are dropped before they are read.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_BENCHMARKS = Path(__file__).resolve().parent / "bench_hot_paths.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds of each tree (default 3)")
    parser.add_argument("--base", help="the commit to compare with")
    options = parser.parse_args()
    with _base_tree(options.base) as (commit, tree), tempfile.TemporaryDirectory() as folder:
        _print(_measure({"working tree": _ROOT, commit: tree}, Path(folder), options.rounds), commit)


def _git(*arguments: str) -> str:
    """What git says about this repository."""
    command = ["git", "-C", str(_ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def _base_tree(base: str | None) -> Iterator[tuple[str, Path]]:
    """The name of a commit and where it is checked out; by default HEAD if the tree has changes, else its parent."""
    base = base or ("HEAD" if _git("status", "--porcelain", "--", "impls", "harness") else "HEAD~1")
    try:
        commit = _git("rev-parse", "--short", "--verify", base)
    except subprocess.CalledProcessError:
        sys.exit(f"there is no commit {base} to compare with; give --base COMMIT")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        _git("worktree", "add", "--detach", "--force", str(tree), commit)
        try:
            yield commit, tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _measure(trees: dict[str, Path], folder: Path, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Benchmark -> tree -> median seconds of each round."""
    seconds: dict[str, dict[str, list[float]]] = {}
    for number in range(rounds):
        order = list(trees) if number % 2 == 0 else list(reversed(trees))
        for name in order:
            print(f"round {number + 1} of {rounds}: {name} …", file=sys.stderr, flush=True)
            report = folder / "report.json"
            report.unlink(missing_ok=True)
            _run_benchmarks(trees[name], report)
            for entry in _without_machine(json.loads(report.read_text()))["benchmarks"]:
                medians = seconds.setdefault(entry["name"], {}).setdefault(name, [])
                medians.append(entry["stats"]["median"])
    return seconds


def _run_benchmarks(tree: Path, report: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", str(_BENCHMARKS), f"--benchmark-json={report}"]
    command += ["--benchmark-warmup=on", "--rootdir", str(_ROOT), "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    finished = subprocess.run(command, env=environment, cwd=report.parent, capture_output=True, text=True)
    if not report.exists():
        sys.exit(f"the benchmarks did not run:\n{finished.stdout[-3000:]}{finished.stderr[-1000:]}")


def _without_machine(report: dict) -> dict:
    return {key: value for key, value in report.items() if key not in ("machine_info", "commit_info")}


def _print(seconds: dict[str, dict[str, list[float]]], commit: str) -> None:
    print(
        f"{'benchmark':<44}{'base ' + commit:>16}{'working tree':>16}{'ratio':>9}  of medians, lowest to highest round"
    )
    for name, trees in sorted(seconds.items()):
        new, old = trees.get("working tree"), trees.get(commit)
        if not new or not old:
            print(f"{name:<44}  only in {'the working tree' if new else commit}")
            continue
        ratios = sorted(a / b for a, b in zip(new, old, strict=False))
        print(
            f"{name:<44}{statistics.median(old) * 1e3:>13.3f} ms{statistics.median(new) * 1e3:>13.3f} ms"
            f"{statistics.median(ratios):>9.3f}  {ratios[0]:.3f} … {ratios[-1]:.3f}"
        )


if __name__ == "__main__":
    main()
