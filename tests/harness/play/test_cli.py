"""`bpebench play` as a command: what it says where it cannot begin."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

import harness.commands.play as play


def test_without_its_packages_it_says_what_to_install(bpebench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "find_spec", lambda name: None)
    ended = bpebench("play")
    assert ended.status == 1
    assert "starlette and uvicorn" in ended.err
    assert "pip install 'bpebench[play]'" in ended.err


def test_a_port_in_use_is_one_clear_line(bpebench: Any, model_file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = bpebench("play", "--port", str(port), "-m", str(model_file))
    assert ended.status == 2
    assert f"port {port} of 127.0.0.1 cannot be used" in ended.err
    assert "--port" in ended.err


def test_bad_arguments_are_refused_before_anything_is_served(bpebench: Any) -> None:
    for arguments in (["-m", "no-such-model"], ["-e", "nobody"], ["--port", "70000"], ["@no-such-file"]):
        ended = bpebench("play", *arguments)
        assert ended.status == 2
        assert arguments[-1].strip("@") in ended.err
