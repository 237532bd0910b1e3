"""The command line called within the process: what it ends with, prints and tells."""

from __future__ import annotations

import io
import sys
from typing import Any, NamedTuple

import pytest

from harness.cli import main


class Ended(NamedTuple):
    """Exit status, standard output and standard error of one call."""

    status: int
    out: str
    err: str


@pytest.fixture
def bpebench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Calls `bpebench` with arguments; no call ends in a traceback."""

    def call(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "argv", ["bpebench", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()  # what fixtures print, as of kernels that are compiled
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ended(int(stop.value.code or 0), out, err)

    return call
