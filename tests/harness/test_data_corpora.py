"""Corpora by name: samples, generated text, splits, bounds, and (fetched) real ones."""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import (
    DataError,
    corpus_names,
    describe_corpora,
    load_corpus,
    sample_parts,
    turkish_paragraph,
)
from harness.data.catalogue import real_corpora
from harness.data.documents import distinct, encoded, interleaved, join, pack, side, take_bytes, unpack
from harness.data.generated import generated_names
from harness.data.readers import READERS
from impls.errors import UnknownName

_REAL = ["turkish", "english", "code", "parallel", "cjk", "mixed"]
GENERATED_DIGESTS = {
    "gen/repeats": "ba2b08e34a2a",
    "gen/letters": "589e8e3f2dcd",
    "gen/spaces": "e6e9192e23ef",
    "gen/digits": "759850059fb0",
    "gen/cjk": "3008efd16e14",
    "gen/one-letter": "853b74abfcd9",
    "gen/hundreds": "ee2b6194e42e",
    "gen/tabs": "e0e91fa09d6c",
    "gen/line-ends": "37db911152fb",
    "gen/punctuation": "fc64583a5c5d",
    "gen/apostrophes": "8d1529c5306e",
    "gen/marks": "2f521809a842",
    "gen/emoji": "b510b2f46237",
    "gen/right-to-left": "a6922de15ef3",
    "gen/surrogates": "d2bd63569bee",
    "gen/mixed": "3097adf260e1",
    "gen/strings": "65b0388a8784",
}
_texts = st.lists(st.text(st.characters(exclude_categories=())))


# --- documents ----------------------------------------------------------------------------------------------------


@given(_texts)
def test_documents_are_unpacked_as_they_were_packed(texts: list[str]) -> None:
    assert list(unpack(b"".join(pack(texts)))) == texts


@given(_texts, st.integers(0, 60))
def test_a_bound_on_bytes_takes_a_beginning_and_cuts_between_characters(texts: list[str], max_bytes: int) -> None:
    taken = list(take_bytes(texts, max_bytes))
    content, whole = b"".join(map(encoded, taken)), b"".join(map(encoded, texts))
    assert len(content) <= max_bytes
    assert whole.startswith(content)
    assert len(whole) <= max_bytes or len(content) > max_bytes - 4
    assert all(document in texts for document in taken[:-1])


@given(_texts)
def test_distinct_keeps_each_text_once_in_order_and_no_empty_one(texts: list[str]) -> None:
    kept = distinct(texts)
    assert len(set(kept)) == len(kept)
    assert set(kept) == set(texts) - {""}
    assert kept == sorted(kept, key=texts.index)


@given(_texts, st.integers(1, 50))
def test_joining_loses_nothing_and_reaches_the_size(texts: list[str], n_bytes: int) -> None:
    documents = list(join(texts, n_bytes))
    assert "\n".join(documents) == "\n".join(texts)
    assert all(len(encoded(document)) + 1 >= n_bytes for document in documents[:-1])


_sources = st.lists(st.tuples(st.lists(st.text(min_size=1, max_size=30)), st.integers(1, 200)), max_size=5)


def _bytes_of(texts: Iterable[str]) -> int:
    return sum(len(encoded(text)) for text in texts)


@given(_sources)
def test_interleaving_keeps_the_order_of_each_source_and_takes_what_fits(sources: list[tuple[list[str], int]]) -> None:
    marked = [([(text, f"{number}") for text in texts], n_bytes) for number, (texts, n_bytes) in enumerate(sources)]
    found = list(interleaved(marked))
    for number, (texts, n_bytes) in enumerate(sources):
        taken = [text for text, key in found if key == f"{number}"]
        assert taken == texts[: len(taken)]
        assert _bytes_of(taken) <= n_bytes
        assert len(taken) == len(texts) or _bytes_of(texts[: len(taken) + 1]) > n_bytes


def test_any_beginning_of_what_is_interleaved_holds_of_each_source_its_share() -> None:
    sources = [([("a" * 10, "a")] * 300, 3_000), ([("b" * 100, "b")] * 10, 1_000)]
    done = {"a": 0, "b": 0}
    for text, key in interleaved(sources):
        done[key] += len(text)
        assert abs(done["a"] / 3_000 - done["b"] / 1_000) < 0.11
    assert done == {"a": 3_000, "b": 1_000}


# --- messages of catalogues ---------------------------------------------------------------------------------------


def _catalogue_of(messages: dict[bytes, bytes]) -> bytes:
    """A compiled gettext catalogue."""
    entries = sorted(messages.items())
    keys, texts = [key for key, _ in entries], [text for _, text in entries]
    strings = b"".join(part + b"\0" for part in keys + texts)
    table, position = b"", 28 + 16 * len(entries)
    for part in keys + texts:
        table += struct.pack("<II", len(part), position)
        position += len(part) + 1
    header = struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0)
    return header + table + strings


def test_messages_are_the_translations_in_the_wanted_script_each_once() -> None:
    japanese = {
        b"": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n!=1;\nLast: 父\n".encode(),
        b"Father": "父".encode(),
        b"place\x04Home": "家".encode(),
        b"%d child\0%d children": "子供\0子供たち".encode(),
        b"Gramps": b"Gramps",
        b"OK": b"okay",
        "父の".encode(): "父の".encode(),
    }
    chinese = {b"": b"Content-Type: text/plain; charset=UTF-8\n", b"Father": "父".encode(), b"Mother": "母".encode()}
    members = {"ja.mo": _catalogue_of(japanese), "zh.mo": _catalogue_of(chinese)}
    options = {"containing": "[\u3041-\u30ff\u4e00-\u9fff]", "document_bytes": 1}
    documents = list(unpack(READERS["messages"](members, options)[""]))
    assert sorted(documents) == sorted(["父", "家", "子供", "子供たち", "母"])


# --- samples ------------------------------------------------------------------------------------------------------


def test_samples_are_in_at_least_twenty_languages_and_hold_five_texts_each() -> None:
    languages = [part for part in sample_parts() if len(part) == 2]
    assert len(languages) >= 20
    for language in languages:
        assert len(set(load_corpus(f"samples/{language}").documents())) >= 5, language


def test_samples_are_written_in_many_scripts() -> None:
    scripts = set()
    for document in load_corpus("samples").documents():
        scripts |= {unicodedata.name(c, "?").split()[0] for c in document if c.isalpha()}
    wanted = "LATIN CYRILLIC HEBREW ARABIC CJK HIRAGANA KATAKANA HANGUL DEVANAGARI BENGALI TAMIL THAI GREEK"
    assert set(wanted.split()) | {"GEORGIAN", "ARMENIAN", "ETHIOPIC"} <= scripts


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("emoji", "👨‍👩‍👧‍👦"),
        ("emoji", "👍🏽"),
        ("emoji", "🇹🇷"),
        ("emoji", "1️⃣"),
        ("turkish-cases", "I\u0307stanbul'da"),
        ("turkish-cases", "İstanbul’da"),
        ("whitespace", "\r\n\r\n"),
        ("unusual", "\x00"),
        ("unusual", "a\ud83d"),
        ("unusual", "<|endoftext|>"),
        ("numbers", "٠١٢٣"),
    ],
)
def test_the_samples_hold_what_breaks_tokenizers(part: str, text: str) -> None:
    assert any(text in document for document in load_corpus(f"samples/{part}").documents())


def test_all_samples_together_are_their_parts_in_order() -> None:
    parts = [load_corpus(f"samples/{part}").documents() for part in sample_parts()]
    assert list(load_corpus("samples").documents()) == list(itertools.chain.from_iterable(parts))


def test_json_samples_are_json() -> None:
    assert all(json.loads(document) for document in load_corpus("samples/json").documents())


def test_the_turkish_paragraph_is_one_paragraph_of_about_a_kilobyte() -> None:
    paragraph = turkish_paragraph()
    assert "\n" not in paragraph
    assert 900 <= len(paragraph.encode()) <= 1_200
    assert set("çğıöşüİ") <= set(paragraph)


# --- generated ----------------------------------------------------------------------------------------------------


def test_generated_corpora_are_the_same_everywhere() -> None:
    digests = {name: load_corpus(f"{name}:1000").digest[:12] for name in generated_names()}
    assert digests == GENERATED_DIGESTS


@pytest.mark.parametrize("name", generated_names())
def test_a_generated_corpus_has_the_size_asked_for(name: str) -> None:
    for size in (1, 7, 2_500):
        assert sum(map(len, load_corpus(f"{name}:{size}").documents())) == size
    assert sum(map(len, load_corpus(name).documents())) == 100_000


def test_the_surrogate_family_holds_lone_surrogates_and_pairs() -> None:
    (text,) = load_corpus("gen/surrogates:2000").documents()
    assert "\ud83d\udc4d" in text
    assert text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") != text


@pytest.mark.parametrize(
    "name", ["gen/spaces:0", "gen/spaces:-1", "gen/spaces:1e6", "gen/spaces:", "gen/cjk:9999999999"]
)
def test_a_bad_size_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(DataError, match=r"characters, as in gen/\w+:1000000"):
        load_corpus(name)


# --- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["turkisch", "samples/xx", "gen/nothing", "parallel/xx", "turkish/x", "samples/"])
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(UnknownName, match=r"unknown .*corpus .*; known: "):
        load_corpus(name)


def test_every_sample_and_generated_name_loads() -> None:
    for name in corpus_names():
        if name.partition("/")[0] not in _REAL:
            assert load_corpus(name).n_documents > 0, name


def test_every_corpus_is_described() -> None:
    assert [row["name"] for row in describe_corpora()] == [*_REAL, "samples", *generated_names()]


@pytest.mark.parametrize("split", ["test", "", "heldout"])
def test_an_unknown_split_is_refused(split: str) -> None:
    with pytest.raises(DataError, match="'train' and 'held-out'"):
        load_corpus("samples", split=split)


def test_importing_the_room_is_cheap() -> None:
    heavy = "{'pandas', 'numba', 'rich', 'altair', 'tokenizers', 'tiktoken'} & set(sys.modules)"
    script = f"import sys, harness.data; sys.exit(str({heavy} or ''))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.stderr.strip() == ""


# --- splits -------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=3), max_size=30))
def test_equal_texts_are_on_one_side(texts: list[str]) -> None:
    sides = {text: {side(other) for other in texts if other == text} for text in texts}
    assert all(len(found) == 1 for found in sides.values())


def test_a_split_keeps_every_document_on_one_side_in_order() -> None:
    whole = list(load_corpus("gen/mixed").documents())
    train, held_out = (list(load_corpus("gen/mixed", split=s).documents()) for s in ("train", "held-out"))
    assert not set(train) & set(held_out)
    assert sorted(train + held_out) == sorted(whole)
    assert train == [document for document in whole if document in set(train)]


# --- real corpora -------------------------------------------------------------------------------------------------


@pytest.mark.corpus
@pytest.mark.parametrize("name", [*_REAL, "parallel/he"])
def test_a_tenth_of_a_real_corpus_is_held_out_and_shares_no_document_with_training(name: str) -> None:
    train, held_out = load_corpus(name, split="train"), load_corpus(name, split="held-out")
    assert not set(train.documents()) & set(held_out.documents())
    assert train.n_documents + held_out.n_documents == load_corpus(name).n_documents
    assert 0.07 < held_out.n_documents / load_corpus(name).n_documents < 0.13


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["turkish", "english", "cjk", "parallel/tr", "parallel/zh"])
def test_no_line_held_out_is_trained_on(name: str) -> None:
    held_out = set(load_corpus(name, split="held-out").documents())
    # A message of a catalogue may have several lines, and a short one may stand in two messages.
    least = 60 if name.startswith(("parallel", "cjk")) else 1
    lines = {line for document in held_out for line in document.split("\n") if len(line) >= least}
    trained = {line for document in load_corpus(name, split="train").documents() for line in document.split("\n")}
    assert lines
    assert not lines & trained


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "n_bytes"),
    [
        ("turkish", 7_000_000),
        ("english", 6_000_000),
        ("code", 5_000_000),
        ("cjk", 600_000),
        ("mixed", 10_000_000),
    ],
)
def test_real_corpora_have_the_size_and_digest_they_are_declared_with(name: str, n_bytes: int) -> None:
    corpus = load_corpus(name)
    assert corpus.n_bytes >= n_bytes
    declared = real_corpora()[name]
    assert corpus.digest == (declared.sha256 or declared.items[0].sha256)
    (row,) = (row for row in describe_corpora() if row["name"] == name)
    assert row["bytes"] == corpus.n_bytes
    assert row["cached"]


@pytest.mark.corpus
def test_a_beginning_of_turkish_is_spread_over_the_alphabet() -> None:
    text = " ".join(load_corpus("turkish", max_bytes=50_000).documents()).lower()
    assert set("abcçdefgğhıijklmnoöprsştuüvyz") <= set(text)


@pytest.mark.corpus
def test_cjk_is_chinese_japanese_and_korean() -> None:
    text = "".join(load_corpus("cjk").documents())
    scripts = Counter(unicodedata.name(c, "?").partition(" ")[0] for c in text if c.isalpha())
    assert scripts["CJK"] > 50_000
    assert scripts["HIRAGANA"] > 10_000
    assert scripts["KATAKANA"] > 10_000
    assert scripts["HANGUL"] > 1_000
    assert scripts["CJK"] + scripts["HIRAGANA"] + scripts["KATAKANA"] > 2 * scripts["LATIN"]


@pytest.mark.corpus
def test_any_stretch_of_mixed_holds_each_of_its_sources_in_proportion() -> None:
    corpus = real_corpora()["mixed"]
    source_of = {text: name for name in corpus.mixed_of for text in load_corpus(name).documents()}
    documents = list(load_corpus("mixed").documents())
    shares = {name: n_bytes / sum(corpus.mixed_of.values()) for name, n_bytes in corpus.mixed_of.items()}
    assert max(shares.values()) < 0.25
    for start in range(0, len(documents) - 2_000, 2_000):
        stretch = documents[start : start + 2_000]
        taken = Counter[str]()
        for text in stretch:
            taken[source_of[text]] += len(encoded(text))
        for name, share in shares.items():
            assert taken[name] / taken.total() == pytest.approx(share, abs=0.01), name


@pytest.mark.corpus
def test_what_is_held_out_in_a_source_is_held_out_in_mixed() -> None:
    held_out = set(load_corpus("mixed", split="held-out").documents())
    for name in real_corpora()["mixed"].mixed_of:
        assert not held_out & set(load_corpus(name, split="train").documents()), name


@pytest.mark.corpus
def test_parallel_documents_say_the_same_in_every_language() -> None:
    languages = [name for name in corpus_names() if name.startswith("parallel/")]
    assert len(languages) >= 10
    assert {"parallel/ru", "parallel/he", "parallel/tr", "parallel/en"} <= set(languages)
    for split in (None, "train", "held-out"):
        lines = {name: list(load_corpus(name, split=split).documents()) for name in languages}
        assert len({len(documents) for documents in lines.values()}) == 1
    assert sum(load_corpus(name).n_bytes >= 200_000 for name in languages) >= 10
    english = list(load_corpus("parallel/en").documents())
    position = next(i for i, document in enumerate(english) if "\nFather\n" in document)
    for name, word in (("ru", "Отец"), ("he", "אב"), ("tr", "Baba"), ("de", "Vater")):
        assert word in list(load_corpus(f"parallel/{name}").documents())[position].split("\n"), name


@pytest.mark.corpus
def test_all_languages_together_take_turns() -> None:
    together = load_corpus("parallel").documents()
    languages = [name for name in corpus_names() if name.startswith("parallel/")]
    firsts = [next(load_corpus(name).documents()) for name in languages]
    assert list(itertools.islice(together, len(languages))) == firsts


@pytest.mark.corpus
def test_the_digest_of_a_corpus_is_that_of_its_lengths_and_bytes() -> None:
    hasher = hashlib.sha256()
    for document in load_corpus("parallel/en").documents():
        hasher.update(len(document.encode()).to_bytes(8, "little") + document.encode())
    assert load_corpus("parallel/en").digest == hasher.hexdigest()
