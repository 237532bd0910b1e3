"""`bpebench vocab --lint`: findings as text and JSON, and the exit status that gates a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from random_models import BYTES

from impls import Model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two vocabularies: `good` has nothing to find, `bad` an unreachable token and a duplicate."""
    made = tmp_path_factory.mktemp("lint")
    Model(tokens=(*BYTES, b"ab", b"abc"), merges=((97, 98), (256, 99))).save(made / "good.json")
    extra = (b"bc", b"ab", b"abc", b"\xc3\xa9", b"e\xcc", b"e\xcc\x81")
    merges = ((98, 99), (97, 98), (257, 99), (0xC3, 0xA9), (101, 0xCC), (260, 0x81))
    Model(tokens=(*BYTES, *extra), merges=merges).save(made / "bad.json")
    return made


def test_findings_in_json(bpebench: Any, folder: Path) -> None:
    ended = bpebench("vocab", str(folder / "bad.json"), "--lint", "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    counts = found["findings"]
    assert (counts["unreachable"], counts["unreached"], counts["unused-byte"]) == (1, 0, 13)
    assert (counts["partial"], counts["duplicate-nfc"], counts["duplicate-nfkc"]) == (1, 1, 1)
    (lost,) = [token for token in found["unreached"] if token["rule"] != "utf-8"]
    expected = {"id": 258, "token": "abc", "ids": [97, 256], "proven": True, "rule": "merges"}
    assert expected.items() <= lost.items()
    assert found["duplicates"] == {"nfc": [[259, 261]], "nfkc": [[259, 261]]}
    assert found["n_tokens"] == 262


def test_the_exit_status_follows_the_kinds_asked_for_and_proofs_are_shown(bpebench: Any, folder: Path) -> None:
    for kind, name, status in (
        ("unreachable", "bad", 1), ("unreachable", "good", 0), ("duplicate-nfc", "bad", 1), ("partial", "bad", 1),
        ("partial", "good", 0), ("unreached", "bad", 0), ("unused-byte", "good", 1),
    ):  # fmt: skip
        ended = bpebench("vocab", str(folder / f"{name}.json"), "--lint", "--fail-on", kind)
        assert (ended.status, f"failed: {kind}" in ended.out) == (status, bool(status)), kind
    shown = bpebench("vocab", str(folder / "bad.json"), "--lint").out
    assert ("its symbols merge to" in shown, "97 256" in shown) == (True, True)
