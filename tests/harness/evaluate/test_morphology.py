"""Token borders against morphs: our gold files, and every figure on words counted by hand."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hand_made import hand_made
from random_models import BYTES
from refusals import refused
from sentencepiece_models import pieces_model

from harness.data import DataError
from harness.evaluate.intervals import Figure
from harness.evaluate.morphology import Word, agreement, gold_files, read_gold
from harness.measure.token_use import fastest
from impls import Model

LEAST_WORDS = {"tr": 500, "he": 200, "ru": 200}
LETTERS = {
    "tr": "abcçdefgğhıijklmnoöprsştuüvyzIİAETM'",
    "he": "אבגדהוזחטיכךלמםנןסעפףצץקרשת",
    "ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
}


def words(*morphs: str) -> list[Word]:
    return [Word(one.replace(" ", ""), tuple(one.split())) for one in morphs]


over_bytes = partial(hand_made, alphabet="bytes")


def values(model: Model, gold: list[Word], context: str = "alone") -> dict[str, float | None]:
    result = agreement(fastest(model), gold, context)
    return {name: cell.value for name, cell in result.items() if isinstance(cell, Figure)}


# --- the gold files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LEAST_WORDS)
def test_our_gold_files_have_enough_words_that_are_their_morphs(language: str) -> None:
    lines = gold_files()[language].read_text(encoding="utf-8").splitlines()
    rule = [line for line in lines if line.startswith("#")]
    assert any("Rule: " in line for line in rule)
    rows = [line.split("\t") for line in lines[len(rule) :]]
    assert len(rows) >= LEAST_WORDS[language]
    assert len({row[0] for row in rows}) == len(rows)
    for row in rows:
        assert "".join(row[1].split(" ")) == row[0]
        assert len(row[1].split(" ")) >= 2
        assert set(row[0]) <= set(LETTERS[language]), row[0]
    assert len(read_gold(language)) == len(rows)


# --- figures -----------------------------------------------------------------------------------------------------

GOLD = words("ev ler", "ev de", "ev i", "el de", "ler", "vle r")


def test_figures_counted_by_hand() -> None:
    # ev|ler, ev|d|e, ev|i, e|l|d|e, ler, v|ler: 8 borders; 5 of morphs; 4 of both.
    result = agreement(fastest(over_bytes("e+v l+e le+r")), GOLD, "alone")
    assert (result["n_words"], result["n_left_out"]) == (6, 0)
    assert (result["n_token_borders"], result["n_morph_borders"], result["n_shared_borders"]) == (8, 5, 4)
    figures = {name: cell.value for name, cell in result.items() if isinstance(cell, Figure)}
    assert figures["precision"] == 4 / 8
    assert figures["recall"] == 4 / 5
    assert figures["f1"] == 8 / 13
    assert figures["morph_score"] == 4 / 5  # ler is one token, and left out
    assert figures["single_token_word_share"] == 1 / 6
    assert figures["cut_character_word_share"] == 0
    for name in ("precision", "recall", "f1", "morph_score"):
        value, low, high = result[name]
        assert low < value < high


def test_morph_score_asks_for_the_first_border_only_whatever_else_is_cut() -> None:
    model = over_bytes("a+b c+d")
    assert values(model, words("ab cd ef"))["morph_score"] == 1  # ab|cd|e|f
    assert values(model, words("a bcd ef"))["morph_score"] == 0
    assert values(over_bytes("a+b ab+c"), words("a bc"))["morph_score"] is None


def test_after_a_space_a_word_is_cut_as_in_a_text() -> None:
    model = Model(tokens=(*BYTES, b" e", b" ev", b" evl"), merges=((32, 101), (256, 118), (257, 108)))
    assert values(model, words("ev ler"), "alone")["recall"] == 1
    result = agreement(fastest(model), words("ev ler"), "after a space")
    assert (result["n_token_borders"], result["n_shared_borders"]) == (2, 0)  # ␠evl|e|r

    result = agreement(fastest(over_bytes("e+v")), words("ev"), "after a space")
    assert (result["n_token_borders"], result["n_morph_borders"]) == (0, 0)
    assert {figure.value for name, figure in result.items() if name[0] in "prf"} == {None}


def test_a_border_inside_a_character_is_a_border_and_no_morphs() -> None:
    result = agreement(fastest(over_bytes("d+e")), words("değ er"), "alone")  # de|C4|9F|e|r
    assert (result["n_token_borders"], result["n_morph_borders"], result["n_shared_borders"]) == (4, 1, 1)
    assert result["cut_character_word_share"].value == 1
    assert result["precision"].value == 1 / 4
    assert agreement(fastest(over_bytes("e+v")), words("ev de"), "alone")["f1"].low is None


# --- vocabularies of other kinds ------------------------------------------------------------------------------------


def test_words_that_do_not_come_back_are_left_out() -> None:
    gold = words("ev de", "Ev de", "el de")
    lower = agreement(fastest(over_bytes("", normalization="lowercase")), gold, "after a space")
    assert (lower["n_words"], lower["n_left_out"]) == (2, 1)
    letters = {"alphabet": "chars", "merge_rule": "pairs"}
    tokens = tuple(letter.encode() for letter in "edv ")
    unknown = Model(tokens=(*tokens, b"?"), unknown="?", unknown_id=4, **letters)
    for model in (unknown, Model(tokens=tokens, **letters)):
        result = agreement(fastest(model), gold, "alone")
        assert (result["n_words"], result["n_left_out"], result["n_shared_borders"]) == (1, 2, 1)
    none = agreement(fastest(unknown), words("xyz z"), "alone")
    assert (none["n_words"], none["n_left_out"], none["f1"].value) == (0, 1, None)


def test_the_mark_of_sentencepiece_and_the_end_of_a_word_are_no_part_of_it() -> None:
    marked = pieces_model("▁ e v d ▁e ▁ev de", "▁+e ▁e+v d+e", byte_tokens=())
    ended = Model(
        tokens=(b"e", b"v", b"d", b"e</w>", b"de</w>", b"ev"), merges=((2, 3), (0, 1)), alphabet="chars",
        end_of_word="</w>", pattern=(r"\S+|\s+",),
    )  # fmt: skip
    for model, context in [(marked, "alone"), (marked, "after a space"), (ended, "alone")]:
        result = agreement(fastest(model), words("ev de"), context)
        assert (result["n_words"], result["n_token_borders"], result["n_shared_borders"]) == (1, 1, 1)


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"# only a rule\n", "contains no words"),
        (b"evde\tev da\n", "line 1: the morphs 'ev da' do not spell the word 'evde'"),
        (b"evde\tev  de\n", "line 1: the morphs"),
        (b"# a\nevde\n", "line 2 has 1 cells"),
        (b"evde\tev de\t1\n\nevde\tev de\n", "line 3: the word 'evde' occurs twice"),
        (b"ev\xc3\tev\n", "line 1 is not UTF-8"),
    ],
)
def test_a_bad_file_is_refused_by_line(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "gold.tsv").write_bytes(content)
    refused(DataError, reason.replace("(", r"\("), read_gold, str(tmp_path / "gold.tsv"))


def test_the_verb_takes_a_language_or_a_file_and_puts_lossy_vocabularies_last(bpebench: Any, tmp_path: Path) -> None:
    over_bytes("l+e le+r").save(tmp_path / "x.json")
    Model(tokens=(b"?", b"e"), alphabet="chars", unknown="?", unknown_id=0).save(tmp_path / "lossy.json")
    (tmp_path / "gold.tsv").write_bytes(b"\xef\xbb\xbf# rule\r\nevler\tev ler\r\nevde\tev de\t1\r\n")
    models = ["-m", str(tmp_path / "lossy.json"), "-m", str(tmp_path / "x.json")]
    command = ["evaluate", *models, "--morphology", "tr", "--morphology", str(tmp_path / "gold.tsv")]
    rows = json.loads(bpebench(*command, "--json").out)["rows"]
    contexts = [(row["words"] == "tr", row["context"]) for row in rows[::2]]
    assert contexts == [(True, "alone"), (True, "after a space"), (False, "alone"), (False, "after a space")]
    assert [row["recall"] for row in rows[1::4]] == [pytest.approx(rows[1]["recall"]), 1]
    latex = bpebench(*command, "--latex").out
    assert latex.count("\\begin{tabular}") == 4
    for block in latex.split("\n\n"):
        lines = [line for line in block.splitlines() if line.endswith("\\\\")]
        assert ("x.json" in lines[1], "lossy" in lines[2]) == (True, True), "a lossy vocabulary comes last"
    shown = bpebench(*command).out
    assert ("MorphScore" in shown, "A lossy vocabulary comes last" in shown) == (True, True)
