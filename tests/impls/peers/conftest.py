"""The peers under test: the real library where it is installed and exact, else a stand-in for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from stand_ins import MODULES

import impls
from impls import Model, Tokenizer
from impls.formats.known import KNOWN, Known
from impls.peers import conversion

PeerOf = Callable[..., type[Tokenizer]]


def _load_file(name: str, path: Path) -> ModuleType:
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOT_AS_GIVEN = {
    *("bpe-qwen", "iree-tokenizer", "omnitoken", "riptoken", "tokie"),
    *("bpe-openai", "quicktok", "rs-bpe", "toktok", "wordchipper"),
}
"""Inexact, or with vocabularies of their own: tests over small models take a stand-in even where they are installed."""


@pytest.fixture
def peer_of(monkeypatch: pytest.MonkeyPatch) -> PeerOf:
    """Return a function from a peer's name to its adapter; `model` is the vocabulary a library has built in."""

    def build(name: str, model: Model | None = None, *, stand_in: bool | None = None) -> type[Tokenizer]:
        module_name, make = MODULES[name]
        if stand_in is None:
            stand_in = name in NOT_AS_GIVEN or not installed(module_name)
        if not stand_in:
            return impls.get(name)
        if model is not None:
            digest = conversion.digest_of(model.id_by_token)
            known = Known("cl100k_base", "gpt2", dict(model.special_tokens))
            monkeypatch.setitem(KNOWN, digest, known)
        monkeypatch.setitem(sys.modules, module_name, make(model))
        file = Path(conversion.__file__).with_name(f"{name.replace('-', '_')}.py")
        adapter = _load_file(f"stand_in_{file.stem}", file)
        found: list[Any] = [thing for thing in vars(adapter).values() if getattr(thing, "name", None) == name]
        return found[0]  # type: ignore[no-any-return]

    return build


def installed(module: str) -> bool:
    """Whether the library itself can be imported."""
    try:
        import_module(module)
    except ModuleNotFoundError:
        return False
    return True
