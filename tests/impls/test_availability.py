"""Implementations listed without being imported: peers with their package, third-party plug-ins by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from module_folders import found_in

import impls
from harness.targets.availability import availability


def test_a_plugin_is_named_with_its_package_and_not_imported(tmp_path: Path) -> None:
    information = tmp_path / "theirs-1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
    (information / "entry_points.txt").write_text("[bpebench.implementations]\ntheirs = theirs_package:Theirs\n")
    (tmp_path / "theirs_package.py").write_text("raise SystemExit('imported')\n")
    with found_in(tmp_path):
        assert "theirs" in impls.names()
        entry = availability("theirs")
    assert (entry.kind, entry.state) == ("third-party", "plug-in")
    assert entry.about == "of theirs 1.2; imported when it is chosen"
    assert "theirs_package" not in sys.modules


def test_own_implementations_are_ready_and_what_cannot_be_imported_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (availability("naive").kind, availability("naive").state) == ("pure", "ready")
    monkeypatch.setitem(impls.registry._OWN, "naive", "no_such_package:Naive")
    assert availability("naive").state == "missing: pip install no_such_package"
    monkeypatch.setitem(impls.registry._OWN, "naive", "impls.naive:NoSuchClass")
    assert availability("naive").state.startswith("broken: AttributeError")
