"""Other libraries' trainers learn what `priority` learns by the same specification, or name the field they cannot
follow."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from literal_training import random_corpus
from refusals import refused

import impls
from impls import InvalidPattern, InvalidSpec, Model, TrainingSpec, Unsupported
from impls.core.text.files import TextFile, TextFiles

WORDS = {"alphabet": "chars", "ties": "largest", "end_of_word": "</w>", "pattern": r"\S+|\s"}
FOLLOWED: dict[str, list[dict[str, Any]]] = {
    "tokenizers": [{"base_order": "gpt2", "min_count": n} for n in (1, 2, 3)],
    "tiktoken": [{"ties": "first"}],
    "sentencepiece": [{"ties": "shortest", "alphabet": "chars"}, {"ties": "shortest"}],
    "rustbpe": [{}, {"pattern": "o200k"}, {"pattern": "none"}],
    "bpeasy": [{}, {"pattern": "turkish"}, {"max_token_bytes": 2}, {"max_token_bytes": 5}],
    "ffbpe": [
        {}, {"base_order": "gpt2", "pattern": "cl100k"}, {"ties": "largest", "base_order": "gpt2"}, {"min_count": 3},
    ],
    "gigabpe": [{"base_order": "gpt2"}, {"base_order": "gpt2", "min_count": 3}],
    "gigatoken": [{}, {"base_order": "gpt2"}],
    "subword-nmt": [WORDS, WORDS | {"min_count": 3}],
}  # fmt: skip
BYTES_ALONE = [{"alphabet": "chars"}, {"ties": "first"}]
REFUSED: dict[str, list[dict[str, Any]]] = {
    "tokenizers": [
        {"alphabet": "chars", "base_order": "raw"}, {"ties": "first"}, {"base_order": "raw"}, {"max_token_bytes": 3},
        {"pattern": r"\b|[\s\S]"},
    ],
    "tiktoken": [
        {"alphabet": "chars", "ties": "first"}, {"ties": "smallest"}, {"base_order": "gpt2"}, {"min_count": 2},
        {"max_token_bytes": 3}, {"special_tokens": ("ab",)},
    ],
    "sentencepiece": [{"ties": "smallest"}, {"min_count": 2}, {"max_token_bytes": 3}, {"end_of_word": "</w>"}],
    "rustbpe": [{"max_token_bytes": 4}, {"base_order": "gpt2"}, {"min_count": 2}, *BYTES_ALONE],
    "bpeasy": [{"max_token_bytes": 1}, {"base_order": "gpt2"}, {"min_count": 2}, *BYTES_ALONE],
    "ffbpe": [{"max_token_bytes": 4}, *BYTES_ALONE],
    "gigabpe": [{"max_token_bytes": 4}, {"pattern": "cl100k"}, {"base_order": "raw"}, *BYTES_ALONE],
    "gigatoken": [{"max_token_bytes": 4}, {"min_count": 2}, {"pattern": "cl100k"}, *BYTES_ALONE],
    "subword-nmt": [{"ties": "smallest"}, {"end_of_word": None}, {"pattern": "gpt2"}, {"alphabet": "bytes"}],
}  # fmt: skip
LOCKED = ("tokenizers", "tiktoken", "sentencepiece", "rustbpe", "subword-nmt")
FOLLOWS_MOST = LOCKED[:3]
BY_TEXTS = ("rustbpe", "bpeasy", "ffbpe", "gigatoken")


def here(*names: str) -> list[Any]:
    """The trainers; those that are not among the locked packages need the peers."""
    return [pytest.param(name, marks=() if name in LOCKED else pytest.mark.needs("peers")) for name in names]


def drawn(chance: random.Random, name: str, fields: dict[str, Any]) -> tuple[list[str], TrainingSpec]:
    """A few short texts over few letters, so that pairs often tie and sometimes run out, and a specification."""
    if name in FOLLOWS_MOST:
        texts, special_ids = ["ab", *random_corpus(chance, "aab cçİ\n1'😀\0▁", 60)], chance.choice(["first", "last"])
        more: dict[str, Any] = {
            "vocab_size": chance.choice([262, 266, 279, 904]),
            "pattern": chance.choice(["gpt2", "cl100k-0.14", "turkish", "none", r"\w+|\W+"]),
            "special_tokens": chance.choice([(), ("<s>", "<e>")]),
            "unknown": chance.choice([None, "<unk>"]),
            "max_merges": chance.choice([None, None, 5]),
        }
        return texts, TrainingSpec(**fields, **more, special_ids=special_ids)
    letters = chance.choice(["ab", "abc", "abcd é", "aбв ", "xyz \n'", "ab1 2çğ"])
    texts = [
        letters[0],
        *("".join(chance.choices(letters, k=chance.randrange(40))) for _ in range(chance.randrange(8))),
    ]
    more = {"special_tokens": ("<s>", "<e>"), "special_ids": "first", "max_merges": 9}
    size = 60 if fields.get("alphabet") == "chars" else 280
    return texts, TrainingSpec(vocab_size=size, **fields, **(more if chance.random() < 0.2 else {}))


def assert_as_priority(name: str, given: Any, texts: Any, spec: TrainingSpec) -> int:
    """Assert that a trainer learns of `given` what `priority` learns of texts; return the number of merges."""
    expected = impls.get("priority").train_model(texts, spec)
    assert impls.get(name).train_model(given, spec) == expected.with_(merge_counts=None), (texts, spec)
    return len(expected.merges)


@pytest.mark.parametrize("name", here(*FOLLOWED))
def test_the_same_tokens_and_merges_in_the_same_order(name: str) -> None:
    for fields in FOLLOWED[name]:
        chance = random.Random(f"{name} {fields}")
        draws = [drawn(chance, name, fields) for _ in range(25)]
        assert sum(assert_as_priority(name, iter(texts), texts, spec) for texts, spec in draws) > 50


@pytest.mark.parametrize("name", here("tokenizers", "gigabpe", "gigatoken"))
def test_a_file_read_by_lines_is_its_lines(name: str, tmp_path: Path) -> None:
    path, spec, chance = tmp_path / "text.txt", TrainingSpec(vocab_size=280, base_order="gpt2"), random.Random(name)
    for _ in range(25):
        content = "\n".join(drawn(chance, "", {})[0]) + chance.choice(["", "\n", "\n\n", " a \n"])
        path.write_text(content, newline="")
        assert_as_priority(name, TextFiles([TextFile(path, "lines")]), content.splitlines(keepends=True), spec)
        paragraphs = TextFiles([TextFile(path)])
        assert_as_priority(name, paragraphs, list(paragraphs), spec)


@pytest.mark.parametrize("name", FOLLOWS_MOST)
def test_what_has_no_pairs_and_what_a_pattern_leaves_out(name: str) -> None:
    for fields in FOLLOWED[name]:
        for texts in (["a"], ["", "a", "b"], ["a" * 50]):
            assert_as_priority(name, texts, texts, TrainingSpec(vocab_size=300, pattern="none", **fields))
        with pytest.raises(InvalidPattern, match="leaves out '1'"):
            impls.get(name).train_model(["ab1"], TrainingSpec(vocab_size=300, pattern="[a-z]+", **fields))


@pytest.mark.parametrize("name", here(*REFUSED))
def test_a_field_that_cannot_be_followed_is_named(name: str) -> None:
    for fields in REFUSED[name]:
        plain = {} if "alphabet" in fields else FOLLOWED[name][0]
        spec = TrainingSpec(vocab_size=300, **plain | fields)
        with pytest.raises(Unsupported, match=rf"^{name}: TrainingSpec\.({'|'.join(fields)}): "):
            impls.get(name).train_model(["ab ab b  c"], spec)


def test_words_of_subword_nmt_hold_no_white_space() -> None:
    for word in ("a b", "a\tb", "\xa0ab", "a\x85b"):
        with pytest.raises(Unsupported, match=r"TrainingSpec\.pattern: its words hold no white space"):
            impls.get("subword-nmt").train_model([word], TrainingSpec(vocab_size=40, **WORDS | {"pattern": "none"}))


def test_sentencepiece_refuses_pieces_it_would_cut() -> None:
    spec = TrainingSpec(vocab_size=300, pattern="none", **FOLLOWED["sentencepiece"][0])
    with pytest.raises(Unsupported, match="pieces of up to 512 symbols, and one has 600"):
        impls.get("sentencepiece").train_model(["ab", "ab" * 300], spec)


@pytest.mark.parametrize("name", here(*BY_TEXTS))
def test_texts_are_read_as_ours_read_them(name: str) -> None:
    def broken() -> Iterator[str]:
        yield "ab ab"
        raise ZeroDivisionError("while reading")

    trainer, few = impls.get(name), TrainingSpec(vocab_size=262)
    for texts in ([], [""], ["", ""], ["a", "b"]):
        assert trainer.train_model(texts, few).merges == ()
    assert_as_priority(name, ["a\ud83d a\ud83d", "\ud83d\udc4d"], ["a\ud83d a\ud83d", "\ud83d\udc4d"], few)
    refused(TypeError, "not one str; put it into a list", trainer.train_model, "ab ab", few)
    refused(ZeroDivisionError, "while reading", trainer.train_model, broken(), few)
    with pytest.raises(Unsupported, match=r"special_tokens: it learned the token b'ab'"):
        trainer.train_model(["ab ab"], TrainingSpec(vocab_size=260, special_tokens=("ab",)))
    refused(InvalidSpec, "256 base symbols", trainer.train_model, ["ab"], TrainingSpec(vocab_size=255))
    with pytest.raises(Unsupported, match=r"TrainingSpec\.pattern: "):
        trainer.train_model(["ab"], TrainingSpec(vocab_size=300, pattern=("a|[^a]+", "b|[^b]+")))


@pytest.mark.parametrize("name", here("rustbpe", "bpeasy", "gigabpe", "subword-nmt"))
def test_what_only_trains_says_so(name: str) -> None:
    refused(Unsupported, "trains only", impls.load, name, Model(tokens=tuple(bytes([byte]) for byte in range(256))))


@pytest.mark.needs("peers")
def test_gigabpe_reads_texts_by_lines_and_gives_line_ends_back() -> None:
    spec = TrainingSpec(vocab_size=262, base_order="gpt2")
    texts = ["a\n\nb\n\nc\n\n", "x \n", "a\n\nb", "", " \n", "it's\r\n"]
    assert_as_priority("gigabpe", texts, texts, spec)
    refused(Unsupported, r"U\+000B", impls.get("gigabpe").train_model, ["a\vb"], spec)


@pytest.mark.needs("peers")
def test_what_gigatoken_prints_stays_out_of_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    impls.get("gigatoken").train_model(["ab ab"], TrainingSpec(vocab_size=258))
    captured = capfd.readouterr()
    assert (captured.out, "Starting merges" in captured.err) == ("", True)


def test_subword_nmt_learns_words_given_one_by_one() -> None:
    words = ["low", "low", "lower", "newest", "newest", "widest"]
    spec = TrainingSpec(vocab_size=40, max_merges=3, **WORDS | {"pattern": "none"})
    model = impls.get("subword-nmt").train_model(words, spec)
    assert [model.tokens[i] for i in model.merge_results] == [b"we", b"st</w>", b"lo"]
    assert_as_priority("subword-nmt", words, words, spec)
