"""`make bench`: our hot paths in the working tree against its base commit, interleaved on this machine.

The base is HEAD where the tree has changes, else HEAD's parent. Both run the working tree's benchmarks, so that the
measure is one and only the measured code differs. Nothing is kept: the reports live in a temporary folder, and of them
only the seconds are read.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 3


def git(*arguments: str) -> str:
    """Return what git says about this repository."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def medians(tree: Path, report: Path) -> dict[str, float]:
    """Return the median seconds of each benchmark over the code of a tree."""
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", f"{ROOT}/tests/bench/bench_hot_paths.py", "-p", "no:cacheprovider"]
    command += [f"--benchmark-json={report}", "--benchmark-warmup=on", f"--rootdir={ROOT}"]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    finished = subprocess.run(command, env=environment, cwd=report.parent, capture_output=True, text=True)
    if not report.exists():
        sys.exit(f"the benchmarks did not run:\n{finished.stdout[-3000:]}{finished.stderr[-1000:]}")
    return {entry["name"]: entry["stats"]["median"] for entry in json.loads(report.read_text())["benchmarks"]}


def main() -> None:
    """Print the medians of both trees, and their ratio from the lowest to the highest round."""
    base = "HEAD" if git("status", "--porcelain", "--", "impls", "harness") else "HEAD~1"
    with tempfile.TemporaryDirectory() as folder:
        tree, report = Path(folder) / "base", Path(folder) / "report.json"
        git("worktree", "add", "--detach", "--force", str(tree), base)
        try:
            rounds = [(medians(tree, report), medians(ROOT, report)) for _ in range(ROUNDS)]
        finally:
            git("worktree", "remove", "--force", str(tree))
    print(f"{'benchmark':<44}{base:>16}{'working tree':>16}{'ratio':>9}  of medians, lowest to highest round")
    for name in sorted(rounds[0][0]):
        old, new = (statistics.median(tree[name] for tree in trees) * 1e3 for trees in zip(*rounds, strict=True))
        ratios = sorted(after[name] / before[name] for before, after in rounds)
        spread = f"{statistics.median(ratios):>9.3f}  {ratios[0]:.3f} … {ratios[-1]:.3f}"
        print(f"{name:<44}{old:>13.3f} ms{new:>13.3f} ms{spread}")


if __name__ == "__main__":
    main()
