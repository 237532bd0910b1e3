"""The files a run hands to its workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.measure.run.materials import Materials
from impls import Model
from impls.formats import parse_cache


def test_a_model_file_was_read_before_anybody_is_timed_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(parse_cache, "LEAST_BYTES", 1)
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)))
    with Materials(lambda _: model, lambda *_: pytest.fail("no corpus is asked for")) as materials:
        path = materials.own_format("bytes")
        assert "_packed" in Model.load(path).__dict__, "it is restored from what was kept"
        assert Model.load(path) == model
