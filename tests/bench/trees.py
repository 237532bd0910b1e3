"""A working tree and the commit it is compared with, checked out beside it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def git(*arguments: str) -> str:
    """What git says about this repository."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def base_tree(base: str | None) -> Iterator[tuple[str, Path]]:
    """The name of a commit and where it is checked out; by default HEAD if the tree has changes, else its parent."""
    base = base or ("HEAD" if git("status", "--porcelain", "--", "impls", "harness") else "HEAD~1")
    try:
        commit = git("rev-parse", "--short", "--verify", base)
    except subprocess.CalledProcessError:
        sys.exit(f"there is no commit {base} to compare with; give --base COMMIT")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        git("worktree", "add", "--detach", "--force", str(tree), commit)
        try:
            yield commit, tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def in_a_process(script: Path, tree: Path, arguments: list[str]) -> Any:
    """What a script says, as JSON, of the code in that tree, in a process of its own: `--one` and these arguments."""
    command = [sys.executable, "-P", str(script.resolve()), "--one", *arguments]
    places = os.pathsep.join((str(tree), str(script.resolve().parent)))
    environment = os.environ | {"PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout)


def rounds_parser(description: str | None) -> argparse.ArgumentParser:
    """Options of a script that measures in rounds, on models."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("models", nargs="*", default=["cl100k_base", "o200k_base"])
    return parser


def comparison_parser(description: str | None) -> argparse.ArgumentParser:
    """Options of a script that compares the working tree with a commit, in rounds, on models."""
    parser = rounds_parser(description)
    parser.add_argument("--base", help="the commit to compare with")
    return parser
