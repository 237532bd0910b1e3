"""Both ways of `compiled` across the border to Python."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["fast", "plain"])
def boundary(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", request.param)
    return request.param
