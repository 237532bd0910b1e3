"""A small model in a file, and the playground that begins with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import impls
from harness.data import load_corpus
from harness.play.app import Playground
from harness.play.store import Store

HOME = "http://127.0.0.1:8877"
TEXTS = ["evlerimizden gelen hello world, unhappiness and happiness", "hello hello world 👩🏽‍🚀 öğrendik"]
MODEL = "tiny.json"


@pytest.fixture(scope="session")
def model_file(saved: Callable[..., Path]) -> Path:
    return saved(*TEXTS, name=MODEL, vocab_size=330, special_tokens=("<s>",))


@pytest.fixture(scope="session")
def unsplit_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that does not split texts, so that a quadratic algorithm takes long."""
    path = tmp_path_factory.mktemp("models") / "unsplit.json"
    spec = impls.TrainingSpec(vocab_size=600, pattern="none")
    impls.train("compiled", ["".join(load_corpus("samples/tr").documents())], spec).model.save(path)
    return path


@pytest.fixture(scope="session")
def client(model_file: Path, unsplit_file: Path) -> Iterator[TestClient]:
    store = Store([str(model_file), str(unsplit_file)])
    with TestClient(Playground(store, limit_seconds=2.0).app(), HOME, raise_server_exceptions=False) as client:
        yield client
