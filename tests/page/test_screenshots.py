"""The README's screenshots: there, small, and of what the pages show today as far as a picture must."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from screenshots import FOLDER, MOST_BYTES, ROOT, WIDTH, main

pytestmark = pytest.mark.needs("chromium")
NAMES = ("playground.png", "report.png")


def size_of(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert 10_000 < len(content) <= MOST_BYTES  # one of an empty page has less
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_the_readme_shows_both_screenshots() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in NAMES:
        assert f"]({(FOLDER / name).relative_to(ROOT).as_posix()})" in readme
        assert size_of(FOLDER / name)[0] == WIDTH


@pytest.mark.campaign
def test_they_can_be_taken_again(tmp_path: Path) -> None:
    main(tmp_path)
    for name in NAMES:
        assert size_of(tmp_path / name) == size_of(FOLDER / name)
