"""`bpebench vocab A --against B`: counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from impls import Model
from impls.core.text.sentencepiece_rules import SentencePieceRules

BYTES = tuple(bytes([byte]) for byte in range(256))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two vocabularies that share `ab` under other ids, and a text."""
    made = tmp_path_factory.mktemp("difference")
    Model(tokens=(*BYTES, b"ab", b"\xd0\xb4"), merges=((97, 98), (0xD0, 0xB4)), special_tokens={"<s>": 258}).save(
        made / "one.json"
    )
    tokens = (*BYTES, b"cd", b"ab", b"abab")
    specials = {"<s>": 259, "<t>": 260}
    Model(tokens=tokens, merges=((99, 100), (97, 98), (257, 257)), special_tokens=specials).save(made / "other.json")
    (made / "text.txt").write_text("abab\n\nдд\n\nx\n\ncdcdcd\n", encoding="utf-8")
    (made / "prices.toml").write_text(
        f'currency = "EUR"\ndate = 2026-11-01\n[per_million_input_tokens]\n"{made}/one.json" = 1000000\n'
    )
    return made


def test_tokens_shared_moved_and_in_one_only(bpebench: Any, folder: Path) -> None:
    found = json.loads(
        bpebench("vocab", str(folder / "one.json"), "--against", str(folder / "other.json"), "--json").out
    )
    assert (found["n_shared"], found["n_moved"]) == (257, 1)
    assert (found["only_one"], found["only_other"]) == ([257], [256, 258])
    assert found["special"] == {"shared": 1, "moved": 1, "only_one": 0, "only_other": 1}
    scripts = {row["script"]: (row["n_shared"], row["n_only_one"], row["n_only_other"]) for row in found["scripts"]}
    assert scripts["Cyrillic"] == (0, 1, 0)
    assert scripts["Latin"] == (53, 0, 2)
    assert found["corpora"] == []


def test_what_becomes_of_each_document_and_of_the_bill(bpebench: Any, folder: Path) -> None:
    command = ["vocab", str(folder / "one.json"), "--against", str(folder / "other.json")]
    command += ["-c", str(folder / "text.txt"), "--prices", str(folder / "prices.toml")]
    ended = bpebench(*command, "--json")
    assert ended.status == 0
    assert f"has no price of {folder}/other.json" in ended.err
    (corpus,) = json.loads(ended.out)["corpora"]
    # With the two line feeds after each but the last, which has one: 4, 4, 3, 7 and 3, 6, 3, 4 tokens.
    assert (corpus["n_tokens_one"], corpus["n_tokens_other"]) == (18, 16)
    assert corpus["factor"] == 16 / 18
    assert corpus["interval"][0] < 16 / 18 < corpus["interval"][1]
    assert (corpus["n_documents_more"], corpus["n_documents_fewer"]) == (1, 2)
    assert [(one["number"], one["before"], one["after"]) for one in corpus["more"]] == [(2, 4, 6)]
    assert [(one["number"], one["before"], one["after"]) for one in corpus["fewer"]] == [(4, 7, 4), (1, 4, 3)]
    assert (corpus["cost_one"], corpus["cost_other"]) == (18, None)
    shown = bpebench(*command).out
    assert "0.889 ±" in shown
    assert "EUR" in shown
    assert "-3" in shown


def test_a_vocabulary_against_itself_changes_nothing(bpebench: Any, folder: Path) -> None:
    model = str(folder / "one.json")
    ended = bpebench("vocab", model, "--against", model, "-c", str(folder / "text.txt"), "--json")
    found = json.loads(ended.out)
    assert (found["n_shared"], found["n_moved"], found["only_one"], found["only_other"]) == (258, 0, [], [])
    (corpus,) = found["corpora"]
    assert (corpus["factor"], corpus["more"], corpus["fewer"]) == (1, [], [])


def test_a_character_and_its_byte_each_have_a_counterpart(bpebench: Any, tmp_path: Path) -> None:
    rules = SentencePieceRules(byte_ids=tuple(range(256)))
    tokens = (*[None] * 256, "▁".encode(), b"a", b"b")
    Model(tokens=tokens, alphabet="chars", sentencepiece=rules).save(tmp_path / "x.json")
    model = str(tmp_path / "x.json")
    found = json.loads(bpebench("vocab", model, "--against", model, "--json").out)
    assert (found["n_shared"], found["n_moved"], found["n_only_one"], found["n_only_other"]) == (259, 0, 0, 0)


def test_only_the_largest_changes_of_many_batches_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.data import load_model
    from harness.data.corpora import corpus_of
    from harness.evaluate import texts
    from harness.evaluate.difference import difference
    from harness.evaluate.prices import Prices
    from harness.evaluate.run import fastest
    from harness.progress import Bar

    monkeypatch.setattr(texts, "_BATCH_CHARACTERS", 10)
    corpus = corpus_of("many", "\n\n".join("cd" * n for n in (3, 1, 9, 2, 8, 4, 7, 5, 6)).encode())
    tokenizers = tuple(fastest(load_model(folder / name)) for name in ("one.json", "other.json"))
    found = difference(("one", "other"), tokenizers, [corpus], Prices(), Bar())
    (change,) = found.corpora
    assert [(one.number, one.before - one.after) for one in change.fewer] == [(3, 9), (5, 8), (7, 7), (9, 6), (8, 5)]
    assert (change.n_documents, change.n_fewer, change.more) == (9, 9, [])
