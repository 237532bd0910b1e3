"""The hub's own library against a server of ours on the loopback interface, and against a cache it has filled."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

import bpebench
import impls
from harness.data import DataError, load_model
from harness.data.hub import LIMIT_SECONDS, why_silent
from impls.formats import save

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "OWNER/NAME"


class Hub(ThreadingHTTPServer):
    """Answers as the hub does for one file of one repository; `asked` are the requests it got."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.files = files
        self.status = 200
        self.hangs = False
        self.slow_seconds = 0.0
        self.n_failures = 0
        """How many requests for a file are answered by 503 before any by the file."""
        self.released = threading.Event()
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        hub: Any = self.server
        hub.asked.append(f"{self.command} {self.path}")
        if hub.hangs:
            hub.released.wait(30)
        file = self.path.removeprefix(f"/{REPOSITORY}/resolve/main/").removeprefix(f"/{REPOSITORY}/resolve/{COMMIT}/")
        content = hub.files.get(file)
        status = hub.status if hub.status != 200 else 200 if content is not None else 404
        if content is not None:
            time.sleep(hub.slow_seconds)
            if hub.n_failures:
                hub.n_failures, status = hub.n_failures - 1, 503
        body = content if status == 200 and content is not None else b""
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "EntryNotFound" if REPOSITORY in self.path else "RepoNotFound")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def model() -> impls.Model:
    return impls.train("priority", ["kedi kedi kedi"], impls.TrainingSpec(vocab_size=260)).model


@pytest.fixture
def hub(model: impls.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    save(model, tmp_path / "tokenizer.json", "tokenizer.json")
    server = Hub({"tokenizer.json": (tmp_path / "tokenizer.json").read_bytes()})
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    why_silent.cache_clear()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


def test_a_model_is_fetched_by_its_hub_name_and_kept(hub: Hub, model: impls.Model) -> None:
    assert load_model(f"hf:{REPOSITORY}").merges == model.merges
    assert any(asked.startswith("GET /OWNER/NAME/resolve/") for asked in hub.asked)
    downloads = sum(asked.startswith("GET") for asked in hub.asked)
    assert load_model(f"hf:{REPOSITORY}").merges == model.merges
    assert sum(asked.startswith("GET") for asked in hub.asked) == downloads


def test_a_revision_is_fetched_by_its_name(hub: Hub, model: impls.Model) -> None:
    tokenizer = bpebench.hf.Tokenizer.from_pretrained(REPOSITORY, revision=COMMIT, implementation="priority")
    assert tokenizer.implementation.model.merges == model.merges
    assert f"GET /OWNER/NAME/resolve/{COMMIT}/tokenizer.json" in hub.asked
    with pytest.raises(DataError, match=r"no such model|none of tokenizer\.json"):
        bpebench.hf.Tokenizer.from_pretrained(REPOSITORY, revision="other")


def test_what_the_hub_does_not_have_is_reported(hub: Hub) -> None:
    hub.files.clear()
    refused(DataError, r"it has none of tokenizer\.json, tokenizer\.model", load_model, f"hf:{REPOSITORY}")
    refused(DataError, r"^hf:NOBODY/NOTHING: the hub has no such model", load_model, "hf:NOBODY/NOTHING")
    for name in ("hf:", "hf:name", "hf:owner/", "hf:a/b/c"):
        refused(DataError, "OWNER/NAME", load_model, name)


def test_a_hub_that_is_broken_makes_the_model_unavailable(hub: Hub) -> None:
    hub.status = 503
    with pytest.raises(DataError, match=r"^hf:OWNER/NAME: unavailable offline: the hub cannot be reached$"):
        load_model(f"hf:{REPOSITORY}")


def test_a_hub_that_never_answers_is_given_up_and_not_asked_again(hub: Hub) -> None:
    hub.hangs = True
    for name in (REPOSITORY, "OWNER/OTHER"):
        with pytest.raises(DataError, match=f"^hf:{name}: unavailable offline: the hub did not answer within 1 s$"):
            load_model(f"hf:{name}")
    assert len(hub.asked) == 1


def test_what_was_fetched_once_loads_when_the_hub_hangs(hub: Hub, model: impls.Model) -> None:
    load_model(f"hf:{REPOSITORY}")
    why_silent.cache_clear()
    hub.hangs = True
    assert load_model(f"hf:{REPOSITORY}").merges == model.merges


def test_a_hub_that_answers_may_take_longer_than_the_limit_to_give_a_file(hub: Hub, model: impls.Model) -> None:
    hub.slow_seconds = LIMIT_SECONDS * 1.2
    assert load_model(f"hf:{REPOSITORY}").merges == model.merges


def test_nothing_the_hubs_library_reports_reaches_the_terminal(hub: Hub) -> None:
    hub.n_failures = 1
    script = f"from harness.data import load_model\nload_model('hf:{REPOSITORY}')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert hub.n_failures == 0
