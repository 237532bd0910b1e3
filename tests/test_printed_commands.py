"""The commands the README and `--help` print, as they are printed, each in a fresh folder after those it needs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harness.cli import VERBS, group
from harness.data import cache_folder

_ROOT = Path(__file__).resolve().parents[1]
_LONG = ("play",)
"""Verbs whose examples are left to themselves: what `make run` runs, what says that this machine is busy, and what
serves until it is interrupted."""
_FINDS = ("explain",)
"""Verbs whose examples have something to find, which is status 1."""
_MADE = re.compile(r"^(results/local/|mine\b|out\.json$)")
"""Beginnings of the names of models, files and folders that one command makes and later ones read."""


def printed() -> list[str]:
    section = (_ROOT / "README.md").read_text(encoding="utf-8").partition("## What you can do")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    return [line for line in lines if shlex.split(line)[1] not in _LONG]


def examples() -> list[str]:
    known = {command.partition("#")[0].strip() for command in printed()}
    every = [f"bpebench {name} {verb['example']}" for name, verb in VERBS.items() if name not in _LONG]
    return [command for command in every if command not in known]


def sequences() -> dict[str, list[str]]:
    """The commands in order, by the name that one of them makes and the others read; any other command is alone."""
    commands_of: dict[str, list[str]] = {}
    for command in [*printed(), *examples()]:
        files = [match[0] for word in shlex.split(command) if (match := _MADE.search(word))]
        commands_of.setdefault(files[0] if files else command.partition("#")[0].strip(), []).append(command)
    return commands_of


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A shell's variables: `bpebench` on the path, and a cache of its own with what has been fetched."""
    folder = tmp_path_factory.mktemp("printed")
    script = folder / "bin" / "bpebench"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m harness "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    cache = folder / "cache"
    shutil.copytree(cache_folder(), cache, copy_function=_link, ignore=shutil.ignore_patterns("models", "hub"))
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "PYTHONPATH": str(_ROOT), "BPEBENCH_CACHE": str(cache), "COLUMNS": "100"}


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.mark.parametrize("command", [command for commands in sequences().values() for command in commands])
def test_printed_commands_are_understood(command: str) -> None:
    words = shlex.split(command, comments=True)[1:]
    context = click.Context(group)
    name, verb, arguments = group.resolve_command(context, words)
    verb.make_context(name, arguments, parent=context)


@pytest.mark.campaign
@pytest.mark.timeout(600)
@pytest.mark.parametrize("commands", [pytest.param(commands_of, id=name) for name, commands_of in sequences().items()])
def test_printed_commands_work(commands: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "datasets").symlink_to(_ROOT / "datasets")  # as in a clone
    for command in commands:
        ended = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        verb = shlex.split(command)[1]
        transcript = f"$ {command}\n{ended.stdout}\n{ended.stderr}"
        assert ended.returncode == (1 if verb in _FINDS else 0), transcript
        assert ended.stdout or verb in ("fetch", "convert", "report"), transcript
