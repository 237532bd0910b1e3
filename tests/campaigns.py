"""Run the long differential campaigns, each for its share of a budget: random tests again and again with new seeds.

    python tests/campaigns.py [--seconds 300] [--seed 7] [NAME…]

As many run at once as there are cores. A failure prints the seed and the round; the same seed draws the same again.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAMPAIGNS = {
    "strings": (2, "tests/impls/sentencepiece"),
    "patterns": (2, "tests/impls/compiled/test_pattern.py tests/impls/patterns"),
    "models": (
        3,
        "tests/impls/encoding tests/impls/compiled/test_models.py tests/impls/compiled/test_segments.py "
        "tests/impls/training tests/impls/compiled/test_training.py",
    ),
    "drop-ins": (2, "tests/impls/drop_in"),
    "steps": (2, "tests/impls/incremental tests/impls/streaming"),
    "bounds": (1, "tests/impls/interface tests/impls/offsets"),
    "printed": (4, "tests/test_printed_commands.py tests/harness/test_readme_plugin.py tests/test_wheel.py"),
}
"""Weight in the budget and tests, by name."""


def main() -> None:
    parser = argparse.ArgumentParser(description="run random tests again and again, with new seeds")
    parser.add_argument("names", nargs="*", default=list(CAMPAIGNS), help=f"of {', '.join(CAMPAIGNS)}; all by default")
    parser.add_argument("--seconds", type=float, default=300.0, help="for all together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    if unknown := set(options.names) - set(CAMPAIGNS):
        parser.error(f"unknown campaign '{unknown.pop()}'; there are {', '.join(CAMPAIGNS)}")
    total = sum(CAMPAIGNS[name][0] for name in options.names)

    def passes(name: str) -> bool:
        return passed(name, options.seconds * CAMPAIGNS[name][0] / total, options.seed)

    longest_first = sorted(options.names, key=lambda name: -CAMPAIGNS[name][0])
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        sys.exit(not all(list(threads.map(passes, longest_first))))


def passed(name: str, seconds: float, seed: int) -> bool:
    """Run one campaign and print its verdict; return whether it passed."""
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--timeout", "0", "-n", "0", f"--campaign={seconds:.0f}"]
    done = subprocess.run([*command, f"--seed={seed}", *CAMPAIGNS[name][1].split()], cwd=ROOT, check=False,
                          capture_output=True, text=True)  # fmt: skip
    verdict = "passed" if done.returncode == 0 else f"FAILED\n{done.stdout[-8000:]} {done.stderr[-2000:]}"
    print(f"{name}: {time.monotonic() - began:.0f} s, --seed {seed}: {verdict}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    main()
