"""Mixtures of languages to train on: shares, premiums, and files that are wrong."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sweeps import swept, words, write_texts

from harness.evaluate.mixtures import mixed, read_mixtures


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    return write_texts(tmp_path)


def test_mixtures_have_equal_bytes_in_the_given_shares() -> None:
    documents = {"aa": words(1, "abcd", 400), "bb": words(2, "éàüö", 300)}
    shares = {"half": {"aa": 0.5, "bb": 0.5}, "most": {"aa": 0.9, "bb": 0.1}, "aa alone": {"aa": 1.0}}
    made = mixed({name: partial(iter, some) for name, some in documents.items()}, shares)
    found = {
        name: {language: list(part.documents()) for language, part in parts.items()} for name, parts in made.items()
    }
    n_bytes = {
        name: {language: sum(len(text.encode()) for text in some) for language, some in parts.items()}
        for name, parts in found.items()
    }
    assert n_bytes == {
        name: {language: part.n_bytes for language, part in parts.items()} for name, parts in made.items()
    }
    totals = [sum(parts.values()) for parts in n_bytes.values()]
    assert max(totals) - min(totals) < 300
    assert totals[2] == sum(len(text.encode()) for text in documents["aa"]), "as much as there is of the scarcest"
    for name, parts in shares.items():
        for language, share in parts.items():
            assert n_bytes[name][language] / sum(n_bytes[name].values()) == pytest.approx(share, abs=0.01)
    assert set(found["half"]["aa"]) < set(found["most"]["aa"]) < set(found["aa alone"]["aa"])


@pytest.fixture
def mixture_file(tmp_path: Path, texts: dict[str, str]) -> Path:
    """Two languages with parallel lines to measure on: each of the second is twice as long in bytes."""
    rng = random.Random(5)
    lines = [" ".join("".join(rng.choices("abcd", k=3)) for _ in range(4)) for _ in range(20)]
    (tmp_path / "aa.lines").write_text("\n".join(lines))
    (tmp_path / "bb.lines").write_text("\n".join(line.translate(str.maketrans("abcd ", "éàüö–")) for line in lines))
    file = tmp_path / "mix.toml"
    file.write_text(
        f"parallel = true\n[corpora]\naa = '{texts['train']}'\nbb = '{texts['other']}'\n"
        f"[held_out]\naa = '{tmp_path / 'aa.lines'}'\nbb = '{tmp_path / 'bb.lines'}'\n"
    )
    return file


def test_premium_falls_with_the_share_of_a_language(bpebench: Any, mixture_file: Path, tmp_path: Path) -> None:
    given = ["--languages", str(mixture_file), "--vocab-sizes", "257..320", "--out", str(tmp_path / "out")]
    found = swept(bpebench, *given)
    assert found["pivot"] == "aa"
    rows = {(row["mixture"], row["language"], row["vocab_size"]): row for row in found["rows"]}
    for (mixture, language, size), row in rows.items():
        assert row["premium"] == row["n_tokens"] / rows[mixture, "aa", size]["n_tokens"]
        alone = {"aa alone": "aa", "bb alone": "bb"}.get(mixture)
        if alone is not None:
            assert row["language_share"] == (language == alone)
    premiums = [rows[mixture, "bb", 320]["premium"] for mixture in ("aa alone", "equal", "bb alone")]
    assert premiums == sorted(premiums, reverse=True)
    assert premiums[0] > 2 > premiums[2], "a language learned alone does not help the other"
    chart = (tmp_path / "out" / "mixture-light.svg").read_text()
    assert "Premium by share of the training text: 320 ids" in chart
    shown = bpebench("sweep", *given[:4]).out
    assert "gpt2, aa alone: bb pays most" in shown


def test_texts_that_are_not_parallel_have_no_premium(bpebench: Any, mixture_file: Path, tmp_path: Path) -> None:
    content = mixture_file.read_text()
    mixture_file.write_text(content.replace("parallel = true\n", ""))
    given = ["--languages", str(mixture_file), "--vocab-sizes", "270"]
    assert {row["premium"] for row in swept(bpebench, *given)["rows"]} == {None}
    (tmp_path / "aa.lines").write_text("ab\n")
    mixture_file.write_text(content)
    ended = bpebench("sweep", *given)
    assert (ended.status, ended.out) == (2, "")
    assert "not parallel: documents to measure on by language are {'aa': 1, 'bb': 20}" in ended.err


def test_the_parts_of_the_parallel_corpus_are_parallel(tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text(
        '[corpora]\ntr = "parallel/tr"\nen = "parallel/en"\n[mixtures.x]\ntr = 3\nen = 1\n'
    )
    found = read_mixtures(tmp_path / "mix.toml")
    assert (found.is_parallel, found.pivot, found.shares) == (True, "en", {"x": {"tr": 0.75, "en": 0.25}})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[corpora", "not TOML"),
        ("[corpora]\naa = 'x'", "needs a table [corpora] of two languages or more"),
        ("[corpora]\naa = 'x'\nbb = 3", "[corpora] must give a corpus or file"),
        ("pivot = 'cc'\n[corpora]\naa = 'x'\nbb = 'y'", "pivot: 'cc' is not in [corpora]; there are aa, bb"),
        ("[corpora]\naa = 'x'\nbb = 'y'\n[held_out]\ncc = 'z'", "[held_out]: 'cc' is not in [corpora]"),
        ("[corpora]\naa = 'x'\nbb = 'y'\n[mixtures.m]\ncc = 1", "[mixtures.m]: 'cc' is not in [corpora]"),
        ("[corpora]\naa = 'x'\nbb = 'y'\n[mixtures.m]\naa = 0", "the share of 'aa' must be positive, not 0"),
        ("[corpora]\naa = 'x'\nbb = 'y'\n[mixtures.m]\naa = nan", "the share of 'aa' must be positive, not nan"),
        ("[corpora]\naa = 'x'\nbb = 'y'\n[mixtures.m]", "[mixtures.m] must give a share"),
        ("mixtures = 1\n[corpora]\naa = 'x'\nbb = 'y'", "mixtures must be tables"),
        ("parallel = 1\n[corpora]\naa = 'x'\nbb = 'y'", "parallel must be true or false"),
        ("languages = 1", "unknown entry 'languages'"),
        ("[corpora]\naa = 'TRAIN'\nbb = 'OTHER'\n[mixtures.m]\naa = 100000\nbb = 1", "holds no document of 'bb'"),
    ],
)
def test_a_file_of_mixtures_that_is_wrong_is_one_clear_line(
    bpebench: Any, tmp_path: Path, texts: dict[str, str], content: str, said: str
) -> None:
    content = content.replace("TRAIN", texts["train"]).replace("OTHER", texts["other"])
    (tmp_path / "mix.toml").write_text(content)
    ended = bpebench("sweep", "--languages", str(tmp_path / "mix.toml"))
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]
