"""Parallel text from outside: FLORES, and Petrov et al.'s protocol on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.data import load_model
from harness.evaluate.parallel_files import flores_texts

SENTENCES = {
    "eng_Latn": ["The ferry leaves at nine.", "Nobody was on board.", "It rained all day."],
    "tur_Latn": ["Vapur dokuzda kalkıyor.", "Gemide kimse yoktu.", "Bütün gün yağmur yağdı."],
    "heb_Hebr": ["המעבורת יוצאת בתשע.", "איש לא היה על הסיפון.", "ירד גשם כל היום."],
}
"""By language: two of dev, one of devtest."""


@pytest.fixture
def flores(tmp_path: Path) -> Path:
    """The folder of FLORES-200's layout; every file ends in a line feed, as published."""
    for part, chosen in (("dev", slice(2)), ("devtest", slice(2, 3))):
        (tmp_path / "flores" / part).mkdir(parents=True)
        for language, sentences in SENTENCES.items():
            content = "".join(f"{sentence}\n" for sentence in sentences[chosen])
            (tmp_path / "flores" / part / f"{language}.{part}").write_text(content, encoding="utf-8")
    return tmp_path / "flores"


@pytest.fixture
def letters(tmp_path: Path, hand_made: Any) -> str:
    """A vocabulary of single bytes."""
    hand_made("", alphabet="bytes").save(tmp_path / "letters.json")
    return str(tmp_path / "letters.json")


def read(texts: Any) -> dict[str, list[str]]:
    return {text.language: list(text.documents()) for text in texts}


def rows_of(bpebench: Any, *arguments: str) -> list[dict[str, Any]]:
    ended = bpebench("evaluate", *arguments, "--json")
    assert ended.status == 0, ended.err
    return list(json.loads(ended.out)["rows"])


# --- FLORES ----------------------------------------------------------------------------------------------------


def test_flores_is_dev_then_devtest_of_each_language(flores: Path) -> None:
    assert read(flores_texts(flores)) == SENTENCES
    assert list(read(flores_texts(flores, ["*_Latn"]))) == ["eng_Latn", "tur_Latn"]
    assert list(read(flores_texts(flores, ["heb_Hebr", "eng_Latn"]))) == ["eng_Latn", "heb_Hebr"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_flores_plus_has_the_sentences_in_a_column(flores: Path, suffix: str) -> None:
    import pyarrow
    from pyarrow import parquet

    for file in list(flores.glob("*/*")):
        found = file.read_text(encoding="utf-8").splitlines()
        file.unlink()
        if suffix == "parquet":
            ids = list(range(len(found)))
            parquet.write_table(pyarrow.table({"id": ids, "text": found}), file.with_suffix(".parquet"))
        else:
            lines = (json.dumps({"id": i, "text": text}, ensure_ascii=False) for i, text in enumerate(found))
            file.with_suffix(".jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert read(flores_texts(flores)) == read(flores_texts(flores, with_ends=True)) == SENTENCES


def test_a_file_may_be_named_by_its_part_first(flores: Path) -> None:
    for file in list(flores.glob("*/*")):
        file.rename(file.with_name(f"{file.parent.name}.{file.stem}"))
        (file.parent / "README").write_text("no language")
    assert read(flores_texts(flores)) == SENTENCES


@pytest.mark.parametrize("model", ["cl100k_base", "qwen-nfc"])
def test_petrovs_protocol_counts_what_the_authors_program_counts(bpebench: Any, flores: Path, model: str) -> None:
    """It splits the content of both files at line feeds and joins all with spaces: the last line feeds count too."""
    tokenizer = impls.load("priority", load_model(model))
    n_tokens = {}
    for language in SENTENCES:
        files = (flores / part / f"{language}.{part}" for part in ("dev", "devtest"))
        content = " ".join(" ".join(file.read_text(encoding="utf-8").split("\n")) for file in files)
        assert "  " in content
        n_tokens[language] = tokenizer.count(content)
    rows = rows_of(bpebench, "-m", model, "--flores", str(flores), "--protocol", "petrov")
    assert {row["language"]: row["n_tokens"] for row in rows} == n_tokens
    for row in rows:
        assert row["premium"] == n_tokens[row["language"]] / n_tokens["eng_Latn"]
        assert (row["pivot"], row["n_documents"]) == ("eng_Latn", 1)
        assert "premium" not in row["intervals"], "a ratio of two counts has no interval"


def test_by_documents_the_same_text_has_intervals(bpebench: Any, flores: Path, letters: str) -> None:
    rows = rows_of(bpebench, "-m", letters, "--flores", str(flores))
    lengths = {language: sum(len(text.encode()) for text in texts) for language, texts in SENTENCES.items()}
    assert {row["language"]: row["n_tokens"] for row in rows} == lengths
    low, high = next(row["intervals"]["premium"] for row in rows if row["language"] == "heb_Hebr")
    assert low < lengths["heb_Hebr"] / lengths["eng_Latn"] < high


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda f: (f / "dev/tur_Latn.dev").write_text("bir\n"), "tur_Latn.dev has 1"),
        (lambda f: (f / "devtest/tur_Latn.devtest").write_text("bir\n\n"), "tur_Latn.devtest: line 2 is empty"),
        (lambda f: (f / "dev/tur_Latn.dev").write_bytes("bir\nkıyı\n".encode("cp1254")), "tur_Latn.dev: line 2 is not"),
        (lambda f: (f / "devtest/tur_Latn.devtest").unlink(), "devtest: has no file of 'tur_Latn', and dev has"),
        (lambda f: (f / "dev/tur_Latn.dev").unlink(), "dev: has no file of 'tur_Latn', and devtest has"),
        (lambda f: (f / "dev/tur_Latn.jsonl").write_text('{"text": "bir"}\n'), "is the same language"),
        (lambda f: (f / "devtest").rename(f / "test"), "devtest: there is no such folder"),
        (lambda f: [file.unlink() for file in (f / "dev").iterdir()], "dev: holds no file named LANGUAGE.dev"),
    ],
)
def test_flores_that_is_not_whole_is_one_clear_line(
    bpebench: Any, flores: Path, letters: str, harm: Any, said: str
) -> None:
    harm(flores)
    ended = bpebench("evaluate", "-m", letters, "--flores", str(flores))
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]


def test_a_language_that_one_part_lacks_can_be_left_out(flores: Path) -> None:
    (flores / "devtest/tur_Latn.devtest").unlink()
    assert list(read(flores_texts(flores, ["eng_Latn", "heb_Hebr"]))) == ["eng_Latn", "heb_Hebr"]


# --- what goes together ------------------------------------------------------------------------------------------


def test_a_translation_memory_is_refused_by_name(bpebench: Any, tmp_path: Path, letters: str) -> None:
    (tmp_path / "memory.tmx").write_text("<tmx/>")
    ended = bpebench("evaluate", "-m", letters, "--parallel", "-c", str(tmp_path / "memory.tmx"))
    assert (ended.status, ended.out) == (2, "")
    assert "memory.tmx: translation memories (TMX) are not read; use TSV" in ended.err


def test_languages_of_the_parallel_corpus_can_be_chosen(bpebench: Any, letters: str) -> None:
    rows = rows_of(bpebench, "-m", letters, "--parallel", "--language", "tr", "--language", "en", "--split", "held-out")
    assert [row["language"] for row in rows] == ["en", "tr"]
    unknown = bpebench("evaluate", "-m", letters, "--parallel", "--language", "xx")
    assert "--language xx: is not a language here; known: en, ru" in unknown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--protocol", "petrov"], "--protocol goes with --parallel or --flores"),
        (["--language", "tr"], "--language goes with --parallel or --flores"),
        (["--flores", "x", "-c", "parallel"], "--flores says which text; leave out -c"),
        (["--flores", "x", "--split", "train"], "--split goes with named corpora"),
        (["--flores", "x", "--max-bytes", "9"], "--max-bytes would part parallel text"),
        (["--flores", "x"], "dev: there is no such folder"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    bpebench: Any, letters: str, arguments: list[str], said: str
) -> None:
    ended = bpebench("evaluate", "-m", letters, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]
