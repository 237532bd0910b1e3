"""Models by hub name: a plain word where the hub does not answer, the file's model where it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

import impls
from harness.data import DataError, load_model


@pytest.fixture(autouse=True)
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.data.hub.why_silent", lambda endpoint: "")


def _answering(answer: Any) -> Any:
    def hf_hub_download(*_: Any, **__: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return hf_hub_download


def test_a_hub_that_cannot_be_reached_makes_the_model_unavailable_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", _answering(ConnectionError("refused")))
    with pytest.raises(DataError, match=r"^hf:OWNER/NAME: unavailable offline: the hub cannot be reached$"):
        load_model("hf:OWNER/NAME")


def test_what_the_hub_gives_is_read_as_any_model_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = impls.train("priority", ["kedi kedi kedi"], impls.TrainingSpec(vocab_size=260)).model
    model.save(tmp_path / "tokenizer.json")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", _answering(str(tmp_path / "tokenizer.json")))
    assert load_model("hf:OWNER/NAME") == model


@pytest.mark.parametrize("name", ["hf:", "hf:name", "hf:owner/", "hf:a/b/c"])
def test_a_name_that_is_none_of_the_hubs_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="OWNER/NAME"):
        load_model(name)
