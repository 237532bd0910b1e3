"""Parallel text: premiums, FLORES and Petrov et al.'s protocol, and what is not parallel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tables
from refusals import refused

import impls
from harness.data import DataError, load_model
from harness.evaluate.parallel import flores_texts, language_of, lines, parallel_texts

SENTENCES = {
    "eng_Latn": ["The ferry leaves at nine.", "Nobody was on board.", "It rained all day."],
    "tur_Latn": ["Vapur dokuzda kalkıyor.", "Gemide kimse yoktu.", "Bütün gün yağmur yağdı."],
    "heb_Hebr": ["המעבורת יוצאת בתשע.", "איש לא היה על הסיפון.", "ירד גשם כל היום."],
}
"""By language: two of dev, one of devtest."""
TEXTS = {"aa.txt": "ab\ncdef\n", "text.bb": "aabb\nccddeeff", "cc.txt": "\ufeffaaabbb\r\ncccdddeeefff\r\n"}
"""Three languages, of 1, 2 and 3 bytes where the first has one."""


@pytest.fixture
def here(tmp_path: Path, hand_made: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `TEXTS`, the folder of FLORES-200's layout (every file ends in a line feed, as published), and a
    vocabulary of single bytes."""
    monkeypatch.chdir(tmp_path)
    for name, text in TEXTS.items():
        Path(name).write_bytes(text.encode())
    for part, chosen in (("dev", slice(2)), ("devtest", slice(2, 3))):
        (tmp_path / "flores" / part).mkdir(parents=True)
        for language, sentences in SENTENCES.items():
            content = "".join(f"{sentence}\n" for sentence in sentences[chosen])
            Path(f"flores/{part}/{language}.{part}").write_text(content, encoding="utf-8")
    hand_made("", alphabet="bytes").save(tmp_path / "letters.json")
    return tmp_path


def read(texts: Any) -> dict[str, list[str]]:
    return {text.language: list(text.documents()) for text in texts}


def rows_of(bpebench: Any, *arguments: str) -> list[dict[str, Any]]:
    ended = bpebench("evaluate", *arguments, "--json")
    assert ended.status == 0, ended.err
    return list(json.loads(ended.out)["rows"])


def test_premiums_counted_by_hand(bpebench: Any, here: Path) -> None:
    command = ["-m", "letters.json", "--parallel", "-c", "aa.txt", "-c", "text.bb", "-c", "cc.txt"]
    rows = rows_of(bpebench, *command)
    assert [(row["language"], row["n_tokens"], row["premium"]) for row in rows] == [
        ("aa", 6, 1), ("bb", 12, 2), ("cc", 18, 3),
    ]  # fmt: skip
    assert {(row["pivot"], row["worst_language"], row["best_language"]) for row in rows} == {("aa", "cc", "aa")}
    assert rows[1]["intervals"]["premium"] == pytest.approx([2, 2])  # every document is twice as long
    assert "worst cc, best aa; premiums against aa" in bpebench("evaluate", *command).out
    assert "gpt2: worst" in bpebench("evaluate", *command, "-m", "gpt2", "--latex").out
    Path("all.tsv").write_text("aa\tbb\tcc\nab\taabb\taaabbb\ncdef\tccddeeff\tcccdddeeefff\n")
    of_tsv = rows_of(bpebench, "-m", "letters.json", "--parallel", "-c", "all.tsv")
    assert [row | {"corpus": ""} for row in of_tsv] == [row | {"corpus": ""} for row in rows]
    Path("dd.txt").write_text("ba\nfedc\n")
    same = bpebench("evaluate", "-m", "letters.json", "--parallel", "-c", "aa.txt", "-c", "dd.txt").out
    assert "all languages pay the same" in same


def test_flores_is_dev_then_devtest_of_each_language(here: Path) -> None:
    folder = here / "flores"
    assert read(flores_texts(folder)) == SENTENCES
    assert list(read(flores_texts(folder, ["heb_Hebr", "*_Latn"]))) == ["eng_Latn", "heb_Hebr", "tur_Latn"]
    for file in list(folder.glob("*/*")):
        file.rename(file.with_name(f"{file.parent.name}.{file.stem}"))
        (file.parent / "README").write_text("no language")
    assert read(flores_texts(folder)) == SENTENCES
    next(folder.glob("devtest/*.tur_Latn")).unlink()
    assert list(read(flores_texts(folder, ["eng_Latn", "heb_Hebr"]))) == ["eng_Latn", "heb_Hebr"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_flores_plus_has_the_sentences_in_a_column(here: Path, suffix: str) -> None:
    import pyarrow
    from pyarrow import parquet

    for file in list(Path("flores").glob("*/*")):
        found = file.read_text(encoding="utf-8").splitlines()
        file.unlink()
        if suffix == "parquet":
            parquet.write_table(
                pyarrow.table({"id": list(range(len(found))), "text": found}), file.with_suffix(".parquet")
            )
        else:
            rows = (json.dumps({"id": i, "text": text}, ensure_ascii=False) for i, text in enumerate(found))
            file.with_suffix(".jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    folder = here / "flores"
    assert read(flores_texts(folder)) == read(flores_texts(folder, with_ends=True)) == SENTENCES


@pytest.mark.parametrize("model", ["cl100k_base", "qwen-nfc"])
def test_petrovs_protocol_counts_what_the_authors_program_counts(bpebench: Any, here: Path, model: str) -> None:
    """It splits the content of both files at line feeds and joins all with spaces: the last line feeds count too."""
    tokenizer = impls.load("priority", load_model(model))
    n_tokens = {}
    for language in SENTENCES:
        files = (Path(f"flores/{part}/{language}.{part}") for part in ("dev", "devtest"))
        content = " ".join(" ".join(file.read_text(encoding="utf-8").split("\n")) for file in files)
        assert "  " in content
        n_tokens[language] = tokenizer.count(content)
    rows = rows_of(bpebench, "-m", model, "--flores", "flores", "--protocol", "petrov")
    assert {row["language"]: row["n_tokens"] for row in rows} == n_tokens
    for row in rows:
        assert row["premium"] == n_tokens[row["language"]] / n_tokens["eng_Latn"]
        assert (row["pivot"], row["n_documents"]) == ("eng_Latn", 1)
        assert "premium" not in row["intervals"], "a ratio of two counts has no interval"
    by_document = rows_of(bpebench, "-m", model, "--flores", "flores")
    low, high = next(row["intervals"]["premium"] for row in by_document if row["language"] == "heb_Hebr")
    assert low < high


def harm(place: str, content: bytes | None) -> None:
    """Write, or remove a file or folder, of which `content` is None."""
    path = Path(place)
    if content is not None:
        path.write_bytes(content)
    elif path.is_dir():
        path.rename("gone")
    else:
        path.unlink()


@pytest.mark.parametrize(("place", "content", "arguments", "message"), tables.rows_of(__file__, "not_parallel.tsv"))
def test_what_is_not_parallel_is_one_clear_line(
    bpebench: Any, here: Path, place: str, content: str, arguments: str, message: str
) -> None:
    data = json.loads(content)
    harm(place, data if data is None else data.encode("latin-1"))
    ended = bpebench("evaluate", "-m", "letters.json", *arguments.split())
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err.splitlines()[-1]


def test_the_parts_of_the_parallel_corpus_are_its_languages(bpebench: Any, here: Path) -> None:
    texts = parallel_texts(["parallel"], "held-out")
    assert len(texts) == 18
    assert {text.language for text in texts} >= {"en", "tr", "he", "ru"}
    assert len({len(list(text.documents())) for text in texts[:3]}) == 1
    refused(DataError, "twice", parallel_texts, ["parallel", "parallel/en"])
    chosen = ["--language", "tr", "--language", "en", "--split", "held-out"]
    rows = rows_of(bpebench, "-m", "letters.json", "--parallel", *chosen)
    assert [row["language"] for row in rows] == ["en", "tr"]
    names = ("turkish", "parallel/he", "samples/tr", "samples/emoji", "code", "samples", "./turkish", "gen/tabs")
    assert [language_of(name) for name in names] == ["tr", "he", "tr", None, None, None, None, None]


def test_lines_end_in_line_feeds_only(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("a\u2028b\x0bc\r\nd\re".encode())
    assert list(lines(tmp_path / "x")) == ["a\u2028b\x0bc", "d\re"]
