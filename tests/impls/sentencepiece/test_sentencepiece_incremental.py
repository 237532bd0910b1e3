"""Texts that grow, by SentencePiece's rules: first spaces, extra spaces, unknown characters, user-defined pieces."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sentencepiece
from growing_texts import follow

import impls
from impls import Model
from impls.core.text.normal_borders import CharsmapBorders
from impls.formats.sentencepiece_model import read
from impls.operations import incremental

WITHOUT = {"user-defined, nmt_nfkc"}
"""Options with a charsmap beside user-defined pieces, which are found first."""


@pytest.mark.parametrize("implementation", ["priority", "compiled", "sentencepiece"])
def test_ids_are_those_of_a_fresh_encoding(
    trained: Any,
    implementation: str,
    random_texts: Callable[..., list[str]],
    fuzz: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(incremental, "CHUNK", 12)
    tokenizer = impls.load(implementation, trained.model)
    stable = follow(tokenizer, 60 * fuzz, trained.name, random_texts(80, seed=11), allowed_special="all")
    if implementation != "sentencepiece":
        assert (stable > 0.1) == (trained.name not in WITHOUT)


def _with_rules(rng: Random, folder: Path) -> Model:
    """A model of SentencePiece's library with random replacements of short texts."""
    entries = {"".join(rng.choices("abc d", k=rng.choice((1, 1, 2, 2, 3)))) for _ in range(rng.randrange(1, 9))}
    rules = {"xx": "x"} | {
        entry: "".join(rng.choices("abcx ", k=rng.choice((0, 1, 1, 2)))) for entry in sorted(entries)
    }
    lines = (
        "\t".join(" ".join(f"{ord(c):X}" for c in one) for one in rule) for rule in rules.items() if len({*rule}) > 1
    )
    table = folder / "rules.tsv"
    table.write_text("\n".join(lines) + "\n")
    target = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["ab cab dx abba cabx bad", "d c b a x ab abc"] * 9), model_writer=target,
        model_type="bpe",
        normalization_rule_tsv=str(table), byte_fallback=True, vocab_size=290, hard_vocab_limit=False, minloglevel=2,
        num_threads=1, add_dummy_prefix=rng.random() < 0.5, remove_extra_whitespaces=rng.random() < 0.5,
    )  # fmt: skip
    return read(target.getvalue())


def test_random_charsmaps_are_cut_where_no_entry_reaches(
    tmp_path: Path, fuzz: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "CHUNK", 4)
    rng, stable = Random(7), 0.0
    for n in range(25 * fuzz):
        tokenizer = impls.load("priority", _with_rules(rng, tmp_path))
        texts = ["".join(rng.choices("abcdx  ", k=rng.randrange(12))) for _ in range(60)]
        stable += follow(tokenizer, 15, f"charsmap {n}", texts) > 0.05
    assert stable > 5 * fuzz


def _unit(label: int, offset: int, *, leaf: bool = False) -> int:
    return offset << 10 | leaf << 8 | label


@pytest.mark.parametrize(
    "units",
    [
        {0: _unit(0, 256), 256 ^ 0xFF: _unit(0xFF, 512, leaf=True), 1023: 1 << 31},  # an entry that is no UTF-8
        {0: _unit(0, 256), 256 ^ 97: _unit(97, 97), 256 ^ 98: _unit(98, 98)},  # entries that go round in a circle
        {0: _unit(0, 256), 256 ^ 97: _unit(97, 512, leaf=True), 865: 1 << 31 | 999},  # a replacement that is not there
    ],
)
def test_a_damaged_charsmap_has_no_certain_places(units: dict[int, int]) -> None:
    table = b"".join(units.get(k, 1 << 31).to_bytes(4, "little") for k in range(1024))
    borders = CharsmapBorders(len(table).to_bytes(4, "little") + table + b"x\0")
    assert not borders.possible
