"""Corpora by name: samples, generated text, splits, bounds, and (fetched) real ones."""

from __future__ import annotations

import hashlib
import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from harness.data import DataError, corpus_names, describe_corpora, load_corpus, sample_parts, turkish_paragraph
from harness.data.documents import encoded, interleaved, join, pack, take_bytes, unpack
from harness.data.generated import generated_names
from impls.core.errors import UnknownName

_REAL = ["turkish", "english", "code", "parallel", "cjk", "mixed"]
_texts = st.lists(st.text(st.characters(exclude_categories=())))


# --- documents ----------------------------------------------------------------------------------------------------


@given(_texts)
def test_documents_are_unpacked_as_they_were_packed(texts: list[str]) -> None:
    assert list(unpack(b"".join(pack(texts)))) == texts


@given(_texts, st.integers(0, 60))
def test_a_bound_on_bytes_takes_a_beginning_and_cuts_between_characters(texts: list[str], max_bytes: int) -> None:
    taken = list(take_bytes(texts, max_bytes))
    content, complete = b"".join(map(encoded, taken)), b"".join(map(encoded, texts))
    assert len(content) <= max_bytes
    assert complete.startswith(content)
    assert len(complete) <= max_bytes or len(content) > max_bytes - 4
    assert all(document in texts for document in taken[:-1])


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


# --- real corpora -------------------------------------------------------------------------------------------------


def test_a_corpus_of_several_packages_takes_them_in_turn_and_has_each_by_name() -> None:
    parts = [list(load_corpus(f"code/{part}").documents()) for part in ("django", "sympy")]
    beginning = load_corpus("code", max_bytes=2_000_000).documents()
    kinds = Counter(next((i for i, part in enumerate(parts) if text in part), 2) for text in beginning)
    assert kinds[0] > 20
    assert kinds[1] > 20
    assert len(list(load_corpus("code").documents())) == sum(map(len, parts))


# --- samples ------------------------------------------------------------------------------------------------------


def test_samples_are_in_many_languages_and_scripts_and_together_are_their_parts_in_order() -> None:
    languages = [part for part in sample_parts() if len(part) == 2]
    assert len(languages) >= 20
    for language in languages:
        assert len(set(load_corpus(f"samples/{language}").documents())) >= 5, language
    parts = [load_corpus(f"samples/{part}").documents() for part in sample_parts()]
    together = list(load_corpus("samples").documents())
    assert together == list(itertools.chain.from_iterable(parts))
    scripts = {unicodedata.name(c, "?").split()[0] for document in together for c in document if c.isalpha()}
    wanted = "LATIN CYRILLIC HEBREW ARABIC CJK HIRAGANA KATAKANA HANGUL DEVANAGARI BENGALI TAMIL THAI GREEK"
    assert set(wanted.split()) | {"GEORGIAN", "ARMENIAN", "ETHIOPIC"} <= scripts


def test_the_samples_hold_what_breaks_tokenizers() -> None:
    wanted = {
        "emoji": ["👨‍👩‍👧‍👦", "👍🏽", "🇹🇷", "1️⃣"], "turkish-cases": ["I\u0307stanbul'da", "İstanbul’da"],
        "whitespace": ["\r\n\r\n"], "unusual": ["\x00", "a\ud83d", "<|endoftext|>"], "numbers": ["٠١٢٣"],
    }  # fmt: skip
    for part, texts in wanted.items():
        documents = list(load_corpus(f"samples/{part}").documents())
        assert all(any(text in document for document in documents) for text in texts), part


def test_the_turkish_paragraph_is_one_paragraph_of_about_a_kilobyte() -> None:
    paragraph = turkish_paragraph()
    assert "\n" not in paragraph
    assert 900 <= len(paragraph.encode()) <= 1_200
    assert set("çğıöşüİ") <= set(paragraph)


# --- generated ----------------------------------------------------------------------------------------------------


def test_generated_corpora_are_the_same_everywhere_and_have_the_size_asked_for() -> None:
    digests = " ".join(load_corpus(f"{name}:1000").digest for name in generated_names())
    assert hashlib.sha256(digests.encode()).hexdigest().startswith("abc40b9915b64772")
    for name in generated_names():
        for size in (1, 7, 2_500):
            assert sum(map(len, load_corpus(f"{name}:{size}").documents())) == size
    (text,) = load_corpus("gen/surrogates:2000").documents()
    assert "\ud83d\udc4d" in text
    assert text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") != text
    for name in ("gen/spaces:0", "gen/spaces:-1", "gen/spaces:1e6", "gen/spaces:", "gen/cjk:9999999999"):
        refused(DataError, r"characters, as in gen/\w+:1000000", load_corpus, name)


# --- names --------------------------------------------------------------------------------------------------------


def test_names_are_loaded_described_or_answered_with_near_ones() -> None:
    for name in corpus_names():
        if name.partition("/")[0] not in _REAL:
            assert len(list(load_corpus(name).documents())) > 0, name
    assert [row["name"] for row in describe_corpora()] == [*_REAL, "samples", *generated_names()]
    for name in ("turkisch", "samples/xx", "gen/nothing", "parallel/xx", "turkish/x", "samples/"):
        refused(UnknownName, r"unknown .*corpus .*; (did you mean .*\? )?known: ", load_corpus, name)
    for split in ("test", ""):
        refused(DataError, "'train' and 'held-out'", load_corpus, "samples", split=split)


def test_a_split_keeps_every_document_on_one_side_in_order() -> None:
    complete = list(load_corpus("gen/mixed").documents())
    train, held_out = (list(load_corpus("gen/mixed", split=s).documents()) for s in ("train", "held-out"))
    assert not set(train) & set(held_out)
    assert sorted(train + held_out) == sorted(complete)
    assert train == [document for document in complete if document in set(train)]
