"""Hostile use: a clear 4xx as problem+json, nothing of this machine in it, and the server lives."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from harness.play import messages
from harness.play.app import page_files
from harness.play.guard import Busy, Guard
from harness.play.workers import Workers
from harness.process.session import FailedError

HOME = "http://127.0.0.1:8877"
MODEL = "tiny.json"
JSON = {"content-type": "application/json"}
BYTES = {"content-type": "application/octet-stream"}
COLUMN = {"implementation": "priority", "model": MODEL}


@pytest.fixture(autouse=True)
def _lives(client: TestClient) -> Iterator[None]:
    yield
    answer = client.post("/api/encode", json={"text": "hello", "columns": [COLUMN]})
    assert answer.json()["columns"][0]["verdict"] == "ok"


def is_problem(answer: Any, status: int) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"status", "title", "detail", "type"}
    assert answer.json()["status"] == status
    assert answer.json()["detail"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers


FINE: tuple[dict[str, str], ...] = (
    {}, {"host": "localhost:8877", "origin": "http://localhost:8877"}, {"origin": HOME},
    {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"},
)  # fmt: skip
FOREIGN: tuple[dict[str, str], ...] = (
    {"host": "evil.example"}, {"host": "127.0.0.1.evil.example:8877"}, {"host": "127.0.0.1:8877@evil.example"},
    {"host": ""}, {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:1234"},
    {"origin": "https://127.0.0.1:8877"}, {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
)  # fmt: skip


def test_only_this_machine_and_our_own_page_are_answered(client: TestClient) -> None:
    for path in ("/", "/api/choices"):
        for headers in FINE:
            assert client.get(path, headers=headers).status_code == 200
        for headers in FOREIGN:
            is_problem(client.get(path, headers=headers), 403)


def endless() -> Iterator[bytes]:
    """A body that says nothing of its length, and is over the limit."""
    for _ in range(10):
        yield b" " * (1 << 20)


def columns(**changes: str) -> dict[str, Any]:
    return {"json": {"text": "a", "columns": [COLUMN | changes]}}


BAD: list[tuple[str, int, dict[str, Any]]] = [
    ("encode", 413, {"content": b'"' + b"x" * (5 << 20), "headers": JSON}),
    ("encode", 413, {"content": endless(), "headers": JSON}),
    ("encode", 413, {"content": b"{}", "headers": JSON | {"content-length": "9" * 12}}),
    ("encode", 413, {"json": {"text": "é" * ((1 << 19) + 1), "columns": [COLUMN]}}),
    ("encode", 415, {"content": b"{}"}),
    ("encode", 415, {"content": b"{}", "headers": {"content-type": "text/plain"}}),
    ("encode", 400, {"content": b"", "headers": JSON}),
    ("encode", 400, {"content": b'{"text": "\xff", "columns": []}', "headers": JSON}),
    ("encode", 400, {"content": rb'{"text": "\ud800", "columns": []}', "headers": JSON}),
    ("encode", 422, {"content": b"[" * 100_000, "headers": JSON}),
    ("encode", 422, {"json": {"text": "a", "columns": [COLUMN], "path": "/etc/passwd"}}),
    ("encode", 422, {"json": {"text": "a", "columns": []}}),
    ("encode", 422, {"json": {"text": "a", "columns": [COLUMN] * 7}}),
    ("encode", 404, columns(implementation="<script>")),
    ("encode", 404, columns(implementation="cmd:id")),
    ("encode", 404, columns(model="/etc/passwd")),
    ("encode", 404, columns(model="../../etc/passwd")),
    ("encode", 404, columns(model="hf:a/b")),
    ("models", 413, {"content": b"x", "headers": BYTES | {"content-length": str(messages.MAX_UPLOAD_BYTES + 1)}}),
    *(
        ("models", 422, {"content": content, "headers": BYTES})
        for content in (b"", b"\x00" * 1000, b"PK\x03\x04rest", b'{"model": {}}', b"#version: 0.2\na b\n", b"\xf7" * 99)
    ),
    *(
        ("train", status, {"json": {"text": "ab", "vocab_size": 300} | request})
        for status, request in (
            (422, {"pattern": "(a)"}), (422, {"pattern": "(" * 500}), (422, {"vocab_size": 10**9}),
            (422, {"pattern": "(?:(?:a{0,1000}){0,1000}){0,1000}"}), (422, {"ties": "random"}),
            (413, {"text": "é" * ((1 << 19) + 1)}), (422, {"pattern": r"[^b]+"}),
        )
    ),
]  # fmt: skip
"""What is posted to /api/…, and how it is answered."""
NO_FILES = (
    "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "/page/../app.py", "/app.py", "/main.js/", "//etc/passwd",
    "/api/models/..%2f..%2fetc%2fpasswd", "/api/models/tiny.json", "/index.html%00.js", "/api/", "/api/encode/",
)  # fmt: skip


def test_a_bad_request_gets_a_clear_answer_without_a_path(client: TestClient, model_file: Path) -> None:
    for number, (path, status, request) in enumerate(BAD):
        answer = client.post(f"/api/{path}", **request)
        assert answer.status_code == status, (number, answer.text)
        is_problem(answer, status)
        assert str(model_file.parent) not in answer.text
    for name in NO_FILES:
        is_problem(client.get(name), 404)
    answer = client.get("/api/encode")
    is_problem(answer, 405)
    assert "POST" in answer.headers["allow"]


def test_a_worker_that_crashes_is_replaced() -> None:
    async def run() -> None:
        with closing(Workers(most=1)) as workers:
            with pytest.raises(FailedError):
                await workers.call("a", (), os._exit, 3, seconds=5)
            assert await workers.call("a", (), len, "abc", seconds=20) == 3
            assert await workers.call("b", (), len, "abcd", seconds=20) == 4  # the other one makes room

    asyncio.run(run())


def test_a_worker_killed_while_idle_is_reaped_and_replaced() -> None:
    async def run() -> None:
        with closing(Workers(most=1)) as workers:
            reaping = asyncio.create_task(workers.reap())
            worker = await workers.call("a", (), os.getpid, seconds=20)
            reaper = psutil.Process(worker).ppid()
            os.kill(worker, signal.SIGKILL)
            for _ in range(200):
                if not psutil.pid_exists(worker) and not psutil.pid_exists(reaper):
                    break
                await asyncio.sleep(0.05)
            assert not psutil.pid_exists(worker)
            assert not psutil.pid_exists(reaper), "a zombie is left"
            assert await workers.call("a", (), len, "abc", seconds=20) == 3
            reaping.cancel()

    asyncio.run(run())


def test_what_must_wait_too_long_is_refused_and_later_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipes = [tmp_path / "a", tmp_path / "b"]
    for pipe in pipes:
        os.mkfifo(pipe)

    async def run() -> None:
        with closing(Workers(most=2)) as workers:
            calls = (workers.call(pipe.name, (), Path.read_text, pipe, seconds=250) for pipe in pipes)
            running = [asyncio.create_task(call) for call in calls]
            await asyncio.sleep(0)
            with pytest.raises(Busy, match="all 2 workers are busy"):
                await workers.call("c", (), len, "abc", seconds=20)
            with pytest.raises(Busy, match="this column has other requests"):
                await workers.call("a", (), len, "abc", seconds=20)
            assert not any(task.done() for task in running)
            for pipe in pipes:
                pipe.write_text("late")
            assert await asyncio.gather(*running) == ["late", "late"]
            monkeypatch.setattr("harness.play.workers.WAITING_SECONDS", 60)
            assert await asyncio.gather(*(workers.call("a", (), len, "abc", seconds=20) for _ in range(20))) == [3] * 20
            assert await workers.call("c", (), len, "abc", seconds=20) == 3

    asyncio.run(run())


def test_bodies_are_bounded_in_all_and_not_only_each(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = client.app
    assert isinstance(guard, Guard)
    monkeypatch.setattr("harness.play.guard.MAX_BYTES_AT_ONCE", 3 << 20)
    monkeypatch.setattr(guard, "_n_bytes", (3 << 20) - 100)  # of other requests, which have not ended
    is_problem(client.post("/api/models", content=b"x" * 1000, headers=BYTES), 503)
    assert client.get("/").status_code == 200
    assert guard._n_bytes == (3 << 20) - 100
    monkeypatch.setattr(guard, "_n_bytes", 0)
    is_problem(client.post("/api/models", content=b"x" * 1000, headers=BYTES), 422)
    assert guard._n_bytes == 0


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.lists(st.integers())
NAMES = st.sampled_from(["priority", MODEL, "gpt2", ""])
COLUMNS = st.lists(st.fixed_dictionaries({"implementation": NAMES, "model": NAMES}), max_size=3)
FIELDS = {
    "text": st.text(max_size=30), "columns": COLUMNS, "pieces": st.booleans(), "allow_special": st.booleans(),
    "model": NAMES, "piece": st.none() | st.integers(-5, 400), "vocab_size": st.integers(200, 400),
    "pattern": NAMES | st.text(max_size=30), "ties": st.sampled_from(["first", "last"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "required", "optional"),
    [
        ("/api/encode", "text columns", "pieces allow_special"),
        ("/api/explain", "text columns", ""),
        ("/api/steps", "text model", "piece"),
        ("/api/train", "text vocab_size", "pattern ties"),
    ],
)
def test_every_request_gets_an_answer_or_a_problem(client: TestClient, path: str, required: str, optional: str) -> None:
    def fields(names: str) -> dict[str, Any]:
        return {name: st.one_of(*[FIELDS[name]] * 9, ANYTHING) for name in names.split()}

    n = 8 if path == "/api/train" else 30

    @settings(max_examples=n, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.fixed_dictionaries(fields(required), optional=fields(optional)))
    def ask(request: Any) -> None:
        answer = client.post(path, content=msgspec.json.encode(request), headers=JSON)
        if answer.status_code != 200:
            assert answer.status_code in (400, 404, 422, 503)
            is_problem(answer, answer.status_code)

    ask()


def test_the_page_loads_nothing_from_elsewhere_and_writes_no_markup(client: TestClient) -> None:
    for name, content in page_files().items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, name
        for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "style=", "onclick="):
            assert word not in text, f"{name}: {word}"
        assert client.get(f"/{name}" if name != "index.html" else "/").content == content


def test_a_fault_of_ours_says_nothing_of_the_machine(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.play.app.samples", Mock(side_effect=RuntimeError("/home/someone/secret")))
    answer = client.get("/api/samples")
    is_problem(answer, 500)
    assert "secret" not in answer.text
