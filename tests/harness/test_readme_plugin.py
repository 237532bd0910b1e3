"""The README's plug-in, from an empty folder: its files and commands as they are printed there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_NAMED = re.compile(r"# (?P<name>[\w.]+)\n")


def section() -> str:
    """The README's section, and how CONTRIBUTING goes on."""
    texts = ((_ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    parts = zip(texts, ("## Add your tokenizer", "## A plug-in"), strict=True)
    return "\n".join(text.partition(heading)[2].partition("\n## ")[0] for text, heading in parts)


def blocks() -> list[tuple[str, str]]:
    """(language, content) of each block; commands have no language."""
    return re.findall(r"^```(\w*)\n(.*?)^```", section(), re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    return [line for language, block in blocks() if not language for line in block.splitlines() if line]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the section and nothing else."""
    folder = tmp_path_factory.mktemp("plugin")
    for language, block in blocks():
        if not language:
            continue
        name = _NAMED.match(block)
        assert name, f"a block that does not say which file it is: {block[:60]}"
        (folder / name["name"]).write_text(block, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a shell with an environment of its own, in which what is installed here can be imported."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False, symlinks=True)
    bin_folder = place / "bin"
    (packages,) = place.glob("lib/python*/site-packages")
    paths = [str(_ROOT), *(path for path in sys.path if path.endswith("site-packages"))]
    (packages / "installed.pth").write_text("\n".join(paths), encoding="utf-8")
    for name, module in (("bpebench", "harness"), ("pip", "pip")):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec "{bin_folder}/python" -P -m {module} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = f"{bin_folder}{os.pathsep}{kept['PATH']}"
    return kept | {"PATH": path, "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1", "COLUMNS": "200"}


def test_the_section_names_the_plugin_in_every_way(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {"mytokenizer.py", "pyproject.toml"}
    assert [shlex.split(command)[:2] for command in commands()] == [
        ["bpebench", "check"], ["pip", "install"], ["bpebench", "check"], ["bpebench", "run"],
    ]  # fmt: skip


@pytest.mark.campaign
def test_every_command_of_the_section_does_what_it_says(folder: Path, environment: dict[str, str]) -> None:
    for command in commands():
        ended = subprocess.run(
            ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=250
        )
        output = f"$ {command}\n{ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr, output
        if command.startswith("pip "):
            assert ended.returncode == 0, output
        else:
            assert ended.returncode == 1, output  # it has no merges
            assert re.search("mine|mytokenizer", ended.stdout), output
            assert re.search("differ|mismatch", ended.stdout), output
    assert list((folder / "results/local/plug-in").glob("*.jsonl"))
