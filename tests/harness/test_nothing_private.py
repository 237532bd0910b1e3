"""What is published with a run names no host, no user and no path."""

from __future__ import annotations

import getpass
import json
import platform
import re
from pathlib import Path
from typing import Any

import pytest

from harness.measure.provenance import machine

_RESULTS = Path(__file__).resolve().parents[2] / "results"
_TEXTS = ("base64", "escaped")
"""Fields that hold texts of corpora, which may contain anything."""
_PRIVATE = re.compile(
    r"(?<![\w.~/-])(?:/[A-Za-z][\w.-]*/|~/|[A-Z]:\\)\S*"  # a path
    r"|file://\S+"
    r"|[\w.+-]+@[A-Za-z][\w-]*\.[A-Za-z][\w.]*"  # an address of mail
    r"|\b(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b"  # of a machine
    r"|(?<=[@/])\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|\b[\w-]+\.(?:local|lan|internal|localdomain)\b"
)


def strings(value: Any) -> set[str]:
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if key not in _TEXTS}
        return set(kept).union(*map(strings, kept.values()))
    if isinstance(value, list):
        return set().union(*map(strings, value))
    return {value} if isinstance(value, str) else set()


@pytest.mark.parametrize("folder", sorted(p.parent for p in _RESULTS.glob("*/records.jsonl")), ids=lambda p: p.name)
def test_a_committed_run_holds_no_path_and_no_address(folder: Path) -> None:
    documents = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    documents += map(json.loads, (folder / "records.jsonl").read_text("utf-8").splitlines())
    texts = strings(documents)
    assert texts
    assert [text for text in texts if _PRIVATE.search(text)] == []


def test_the_facts_of_a_machine_name_neither_it_nor_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "ferrari.example")
    monkeypatch.setenv("LOGNAME", "lovelace")
    monkeypatch.setenv("USER", "lovelace")
    assert getpass.getuser() == "lovelace"
    facts = json.dumps(machine(["priority"]))
    assert "ferrari" not in facts
    assert "lovelace" not in facts
    assert str(Path.home()) + "/" not in facts
    assert not any(map(_PRIVATE.search, strings(json.loads(facts))))
