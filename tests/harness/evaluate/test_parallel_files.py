"""Parallel text from outside: FLORES, translation memories, the UDHR, and Petrov et al.'s protocol on all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.data import DataError, load_model
from harness.evaluate.parallel_files import flores_texts, udhr_texts
from harness.evaluate.tmx import tmx_texts

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


# --- translation memories --------------------------------------------------------------------------------------


def memory(tmp_path: Path, units: str, head: str = "", encoding: str = "utf-8") -> Path:
    file = tmp_path / "memory.tmx"
    content = (
        f'<?xml version="1.0" encoding="{encoding}"?>\n{head}<tmx version="1.4"><header/><body>\n{units}\n</body></tmx>'
    )
    file.write_bytes(content.encode(encoding))
    return file


def unit(**texts: str) -> str:
    return "<tu>" + "".join(f'<tuv xml:lang="{one}"><seg>{text}</seg></tuv>' for one, text in texts.items()) + "</tu>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-9"])
def test_a_translation_memory_is_read_by_language_without_its_markup(tmp_path: Path, encoding: str) -> None:
    marked = "Bir <bpt i='1'>&lt;b&gt;<sub>gizli</sub></bpt><hi>kapı</hi><ept i='1'>&lt;/b&gt;</ept> &amp; yol"
    units = unit(en="A door &amp; a road", TR=marked) + "\n" + unit(en="Two", TR="İki")
    file = memory(tmp_path, units, '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n', encoding)
    assert read(tmx_texts(file)) == {"en": ["A door & a road", "Two"], "tr": ["Bir kapı & yol", "İki"]}


def test_a_translation_memory_gives_what_files_of_lines_give(bpebench: Any, tmp_path: Path, letters: str) -> None:
    pairs = list(zip(SENTENCES["eng_Latn"], SENTENCES["tur_Latn"], strict=True))
    file = memory(tmp_path, "".join(unit(en=english, tr=turkish) for english, turkish in pairs))
    for number, name in enumerate(("en", "tr")):
        (tmp_path / f"{name}.txt").write_text("\n".join(pair[number] for pair in pairs), encoding="utf-8")
    names = ["-c", str(tmp_path / "en.txt"), "-c", str(tmp_path / "tr.txt")]
    apart = {"corpus": "", "megabytes_per_second": 0}
    for more in ([], ["--protocol", "petrov"]):
        found = [
            [row | apart for row in rows_of(bpebench, "-m", letters, "--parallel", *given, *more)]
            for given in (["-c", str(file)], names)
        ]
        assert found[0] == found[1]
        assert found[0][1]["premium"] > 1


_BOMB = '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_OTHER_FILE = '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize(
    ("units", "head", "said"),
    [
        (unit(en="&b;", tr="b"), _BOMB, "line 2: it declares the entity 'a'; entities are refused"),
        (unit(en="&a;", tr="b"), _OTHER_FILE, "line 2: it declares the entity 'a'"),
        (unit(en="a", tr="b"), "<!DOCTYPE tmx [<!ENTITY % p SYSTEM 'x.dtd'> %p;]>", "declares the entity 'p'"),
        (unit(en="&nbsp;", tr="b"), '<!DOCTYPE tmx SYSTEM "tmx14.dtd">', "line 3: the entity &nbsp; is not defined"),
        (unit(en="&nbsp;", tr="b"), "", "line 3: not well-formed XML: undefined entity"),
        (unit(en="a", tr="b") + "\n" + unit(en="c"), "", "line 4: the unit has no text in 'tr'"),
        (unit(en="a", tr="b") + "\n" + unit(en="c", tr=" "), "", "line 4: the segment of 'tr' is empty"),
        (unit(en="a", EN="b"), "", "line 3: the unit has two texts in 'en'"),
        ("<tu><tuv><seg>a</seg></tuv></tu>", "", "line 3: a <tuv> stands in a <tu>, and names its language"),
        ("<tu><seg>a</seg></tu>", "", "line 3: a <seg> stands in a <tuv>"),
        ("<tu><tu></tu></tu>", "", "line 3: a <tu> stands in a <tu>"),
        (unit(en="a<tuv/>"), "", "line 3: a <tuv> stands in a segment"),
        ("", "", "holds no translation unit"),
        (unit(en="a"), "", "is one language"),
        ("<tu><tuv lang='a'>", "", "not well-formed XML: mismatched tag"),
    ],
)
def test_a_hostile_or_damaged_translation_memory_is_one_clear_line(
    bpebench: Any, tmp_path: Path, letters: str, units: str, head: str, said: str
) -> None:
    file = memory(tmp_path, units, head)
    ended = bpebench("evaluate", "-m", letters, "-c", str(file), "--parallel")
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]
    assert str(file) in ended.err.splitlines()[-1]


def test_what_is_no_translation_memory_is_said(tmp_path: Path) -> None:
    (tmp_path / "page.tmx").write_text("<html/>")
    with pytest.raises(DataError, match="the first element is <html>"):
        tmx_texts(tmp_path / "page.tmx")
    (tmp_path / "bytes.tmx").write_bytes(b'<?xml version="1.0" encoding="utf-8"?>\n<tmx>\xff</tmx>')
    with pytest.raises(DataError, match="line 2: not well-formed XML"):
        tmx_texts(tmp_path / "bytes.tmx")


def test_deeply_nested_elements_do_no_harm(tmp_path: Path) -> None:
    deep = "<hi>" * 100_000 + "x" + "</hi>" * 100_000
    assert read(tmx_texts(memory(tmp_path, unit(en=deep, tr="y")))) == {"en": ["x"], "tr": ["y"]}


def test_units_need_only_the_chosen_languages(tmp_path: Path) -> None:
    file = memory(tmp_path, unit(en="a", tr="b", de="c") + unit(en="d", tr="e", de=""))
    assert read(tmx_texts(file, ["en", "TR"])) == {"en": ["a", "d"], "tr": ["b", "e"]}
    with pytest.raises(DataError, match="--language xx: is not a language here; there are en, tr, de"):
        tmx_texts(file, ["en", "xx"])


# --- the UDHR, and what options go together --------------------------------------------------------------------


def test_the_udhr_is_a_document_for_each_file_without_its_head(bpebench: Any, tmp_path: Path, letters: str) -> None:
    folder = tmp_path / "udhr"
    folder.mkdir()
    (folder / "udhr_eng.txt").write_text("Some title\nSome source\n---\n\nArticle one\n\nArticle two\n")
    (folder / "tur.txt").write_text("Birinci madde\n\n\nİkinci madde\n", encoding="utf-8")
    found = read(udhr_texts(folder))
    assert found == {"tur": ["Birinci madde\n\n\nİkinci madde"], "eng": ["Article one\n\nArticle two"]}
    rows = rows_of(bpebench, "-m", letters, "--udhr", str(folder))
    assert [(row["language"], row["premium"], row["pivot"]) for row in rows] == [
        ("tur", 29 / 24, "eng"),
        ("eng", 1, "eng"),
    ]
    (folder / "index.xml").write_text("<index/>")
    assert read(udhr_texts(folder, ["e*"])) == {"eng": ["Article one\n\nArticle two"]}
    (folder / "eng.txt").write_text("Once more")
    assert "the language 'eng' is there twice" in bpebench("evaluate", "-m", letters, "--udhr", str(folder)).err
    (folder / "eng.txt").unlink()
    (folder / "tur.txt").write_bytes("Madde\nİki\n".encode("cp1254"))
    assert "tur.txt: line 2 is not UTF-8" in bpebench("evaluate", "-m", letters, "--udhr", str(folder)).err
    missing = bpebench("evaluate", "-m", letters, "--udhr", str(tmp_path / "none"))
    assert (missing.status, "none: is not a folder" in missing.err) == (2, True)


def test_languages_of_the_parallel_corpus_can_be_chosen(bpebench: Any, letters: str) -> None:
    rows = rows_of(bpebench, "-m", letters, "--parallel", "--language", "tr", "--language", "en", "--split", "held-out")
    assert [row["language"] for row in rows] == ["en", "tr"]
    unknown = bpebench("evaluate", "-m", letters, "--parallel", "--language", "xx")
    assert "--language xx: is not a language here; there are en, ru" in unknown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--protocol", "petrov"], "--protocol goes with --parallel, --flores or --udhr"),
        (["--language", "tr"], "--language goes with --parallel, --flores or --udhr"),
        (["--flores", "x", "--udhr", "y"], "each say which text"),
        (["--flores", "x", "-c", "parallel"], "each say which text"),
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
