"""The prepared tables of a model: the initial entries of the cache of pieces, and their key in the user's cache."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path

import pytest
from random_models import BYTES

import impls
from impls import Model
from impls.compiled import Compiled, tables
from impls.compiled.codegen import build
from impls.compiled.tables import model_digest, tables_of


def test_a_model_has_one_digest_however_it_came_about_and_another_when_it_differs() -> None:
    model = impls.get("priority").train_model(["the cat sat"] * 3, impls.TrainingSpec(vocab_size=260))
    same = [model, pickle.loads(pickle.dumps(model)), Model.restored(model.packed()), model.with_()]
    assert len(set(map(model_digest, same))) == 1
    assert model_digest(model.with_(merges=model.merges[:-1], merge_counts=None)) != model_digest(model)


def test_tables_are_read_from_the_cache_unless_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Compiled(Model(tokens=BYTES))  # kernels from the cache that holds them
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(tables, "_TINY", 0)
    model = Model(tokens=(*BYTES, b"ab"), merges=((97, 98),))
    first = tables_of(model)
    (path,) = (tmp_path / "compiled" / "tables").iterdir()
    with monkeypatch.context() as patched:
        patched.setattr(tables, "build_tables", lambda model: pytest.fail("made again"))
        assert (tables_of(model)["pairs"] == first["pairs"]).all()
    content = path.read_bytes()
    for damaged in (content[:-1], content[:5000] + bytes([content[5000] ^ 1]) + content[5001:], b""):
        path.write_bytes(damaged)
        assert (tables_of(model)["pairs"] == first["pairs"]).all()
        assert path.read_bytes() == content


@pytest.mark.parametrize("package", ["numba", "llvmlite"])
def test_the_object_file_is_named_by_the_versions_of_what_compiles_it(package: str) -> None:
    assert import_module(package).__version__ in build._release(package)


def test_the_object_file_is_named_by_the_name_and_content_of_each_source(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    for sources in ([("a", b"b")], [("a", b"c")], [("b", b"b")], [("a", b"b"), ("c", b"")]):
        monkeypatch.setattr(build, "_sources", lambda sources=sources: iter(sources))
        digests.add(build._digest())
    assert len(digests) == 4
