"""The peers' trainers learn what `priority` learns by the same specification, or name the field they cannot follow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import impls
from impls import InvalidSpec, Model, Tokenizer, TrainingSpec, Unsupported
from impls.core.text.files import TextFile, TextFiles

PeerOf = Callable[..., type[Tokenizer]]

FOLLOWED: list[tuple[str, dict[str, Any]]] = [
    ("rustbpe", {}),
    ("rustbpe", {"pattern": "o200k"}),
    ("rustbpe", {"pattern": "none"}),
    ("bpeasy", {}),
    ("bpeasy", {"pattern": "turkish"}),
    ("bpeasy", {"max_token_bytes": 2}),
    ("bpeasy", {"max_token_bytes": 5}),
    ("ffbpe", {}),
    ("ffbpe", {"base_order": "gpt2", "pattern": "cl100k"}),
    ("ffbpe", {"ties": "largest", "base_order": "gpt2"}),
    ("ffbpe", {"min_count": 3}),
    ("gigabpe", {"base_order": "gpt2"}),
    ("gigabpe", {"base_order": "gpt2", "min_count": 3}),
    ("gigatoken", {}),
    ("gigatoken", {"base_order": "gpt2"}),
    ("subword-nmt", {"alphabet": "chars", "ties": "largest", "end_of_word": "</w>", "pattern": r"\S+|\s"}),
    (
        "subword-nmt",
        {"alphabet": "chars", "ties": "largest", "end_of_word": "</w>", "pattern": r"\S+|\s", "min_count": 3},
    ),
]
WITH_SPECIALS = {"special_tokens": ("<s>", "<e>"), "special_ids": "first", "max_merges": 9}

REFUSED: list[tuple[str, dict[str, Any]]] = [
    *[(name, {"alphabet": "chars"}) for name in ("rustbpe", "bpeasy", "ffbpe", "gigatoken")],
    *[(name, {"ties": "first"}) for name in ("rustbpe", "bpeasy", "ffbpe", "gigatoken")],
    *[(name, {"max_token_bytes": 4}) for name in ("rustbpe", "ffbpe", "gigatoken")],
    *[(name, {"base_order": "gpt2"}) for name in ("rustbpe", "bpeasy")],
    *[(name, {"forbidden_tokens": ("ab",)}) for name in ("rustbpe", "bpeasy", "ffbpe", "gigatoken", "gigabpe")],
    *[(name, {"min_count": 2}) for name in ("rustbpe", "bpeasy", "gigatoken")],
    *[(name, {"pattern": ("a|[^a]+", "b|[^b]+")}) for name in ("rustbpe", "bpeasy", "ffbpe", "gigatoken")],
    ("bpeasy", {"max_token_bytes": 1}),
    ("gigabpe", {"alphabet": "chars"}),
    ("gigabpe", {"base_order": "raw"}),
    *[
        ("gigabpe", {"base_order": "gpt2", **fields})
        for fields in ({"ties": "first"}, {"max_token_bytes": 4}, {"pattern": "cl100k"})
    ],
    ("gigatoken", {"pattern": "cl100k"}),
    ("subword-nmt", {"alphabet": "bytes"}),
    ("subword-nmt", {"alphabet": "chars", "ties": "smallest", "end_of_word": "</w>"}),
    ("subword-nmt", {"alphabet": "chars", "ties": "largest", "end_of_word": None}),
    ("subword-nmt", {"alphabet": "chars", "ties": "largest", "end_of_word": "</w>", "pattern": "gpt2"}),
]


def trainer(name: str, peer_of: PeerOf) -> type[Tokenizer]:
    """The adapter; the trainers that other tests compare with are always installed."""
    return impls.get(name) if name in ("rustbpe", "subword-nmt") else peer_of(name)


def corpus(seed: int) -> list[str]:
    """A few short texts over few letters, so that pairs often tie and sometimes run out."""
    choose = random.Random(seed)
    letters = choose.choice(["ab", "abc", "abcd é", "aбв ", "xyz \n'", "ab1 2çğ"])
    return ["".join(choose.choices(letters, k=choose.randrange(40))) for _ in range(choose.randrange(1, 8))]


def learned(model: Model) -> tuple[object, ...]:
    return model.tokens, model.merges, model.pattern, dict(model.special_tokens), model.alphabet, model.end_of_word


@pytest.mark.parametrize(("name", "fields"), FOLLOWED)
def test_the_same_tokens_and_merges_in_the_same_order(name: str, fields: dict[str, Any], peer_of: PeerOf) -> None:
    peer, priority = trainer(name, peer_of), impls.get("priority")
    for seed in range(25):
        texts = corpus(seed)
        more = WITH_SPECIALS if seed % 5 == 0 else {}
        spec = TrainingSpec(vocab_size=60 if fields.get("alphabet") == "chars" else 280, **fields, **more)
        model = peer.train_model(iter(texts), spec)
        assert learned(model) == learned(priority.train_model(texts, spec)), texts


@pytest.mark.parametrize("name", ["gigabpe", "gigatoken"])
def test_a_file_read_by_lines_is_its_lines(name: str, peer_of: PeerOf, tmp_path: Path) -> None:
    path, spec = tmp_path / "text.txt", TrainingSpec(vocab_size=280, base_order="gpt2")
    for seed in range(25):
        content = "\n".join(corpus(seed)).replace("\v", "") + random.Random(seed).choice(["", "\n", "\n\n", " a \n"])
        path.write_text(content, newline="")
        lines = content.splitlines(keepends=True)
        model = peer_of(name).train_model(TextFiles([TextFile(path, "lines")]), spec)
        assert learned(model) == learned(impls.get("priority").train_model(lines, spec)), content
        paragraphs = TextFiles([TextFile(path)])
        whole = peer_of(name).train_model(paragraphs, spec)
        assert learned(whole) == learned(impls.get("priority").train_model(list(paragraphs), spec)), content


@pytest.mark.parametrize(("name", "fields"), REFUSED)
def test_a_field_that_cannot_be_followed_is_named(name: str, fields: dict[str, Any], peer_of: PeerOf) -> None:
    with pytest.raises(Unsupported, match=rf"^{name}: TrainingSpec\.({'|'.join(fields)}): "):
        trainer(name, peer_of).train_model(["ab ab b  c"], TrainingSpec(vocab_size=300, **fields))


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "ffbpe", "gigatoken"])
def test_texts_without_pairs_give_the_base_alone(name: str, peer_of: PeerOf) -> None:
    for texts in ([], [""], ["", ""], ["a", "b"]):
        assert trainer(name, peer_of).train_model(texts, TrainingSpec(vocab_size=260)).merges == ()


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "ffbpe", "gigatoken"])
def test_surrogates_are_repaired_and_one_text_is_not_taken_for_many(name: str, peer_of: PeerOf) -> None:
    spec = TrainingSpec(vocab_size=262)
    texts = ["a\ud83d a\ud83d", "\ud83d\udc4d"]
    expected = impls.get("priority").train_model(texts, spec)
    assert learned(trainer(name, peer_of).train_model(texts, spec)) == learned(expected)
    with pytest.raises(TypeError, match="not one str; put it into a list"):
        trainer(name, peer_of).train_model("ab ab", spec)


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "ffbpe", "gigatoken"])
def test_an_error_of_the_texts_is_not_taken_for_their_end(name: str, peer_of: PeerOf) -> None:
    def texts() -> Iterator[str]:
        yield "ab ab"
        raise ZeroDivisionError("while reading")

    with pytest.raises(ZeroDivisionError, match="while reading"):
        trainer(name, peer_of).train_model(texts(), TrainingSpec(vocab_size=258))


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "ffbpe", "gigatoken"])
def test_the_text_of_a_special_token_is_never_learned(name: str, peer_of: PeerOf) -> None:
    spec = TrainingSpec(vocab_size=260, special_tokens=("ab",))
    with pytest.raises(Unsupported, match=r"special_tokens: it learned the token b'ab'"):
        trainer(name, peer_of).train_model(["ab ab"], spec)


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "ffbpe", "gigatoken"])
def test_a_vocabulary_below_the_base_is_an_error(name: str, peer_of: PeerOf) -> None:
    with pytest.raises(InvalidSpec, match="256 base symbols"):
        trainer(name, peer_of).train_model(["ab"], TrainingSpec(vocab_size=255))


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "gigabpe", "subword-nmt"])
def test_what_only_trains_says_so(name: str, peer_of: PeerOf) -> None:
    with pytest.raises(Unsupported, match="trains only"):
        trainer(name, peer_of)(Model(tokens=tuple(bytes([byte]) for byte in range(256))))


def test_gigabpe_reads_texts_by_lines_and_gives_line_ends_back(peer_of: PeerOf) -> None:
    spec = TrainingSpec(vocab_size=262, base_order="gpt2")
    texts = ["a\n\nb\n\nc\n\n", "x \n", "a\n\nb", "", " \n", "it's\r\n"]
    expected = impls.get("priority").train_model(texts, spec)
    assert b"\n\n" in expected.tokens
    assert learned(trainer("gigabpe", peer_of).train_model(texts, spec)) == learned(expected)
    with pytest.raises(Unsupported, match=r"U\+000B"):
        trainer("gigabpe", peer_of).train_model(["a\vb"], spec)


def test_what_gigatoken_prints_stays_out_of_standard_output(peer_of: PeerOf, capfd: pytest.CaptureFixture[str]) -> None:
    trainer("gigatoken", peer_of).train_model(["ab ab"], TrainingSpec(vocab_size=258))
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "Starting merges" in captured.err


def test_subword_nmt_learns_words_given_one_by_one() -> None:
    words = ["low", "low", "lower", "newest", "newest", "widest"]
    spec = TrainingSpec(
        vocab_size=40, alphabet="chars", ties="largest", end_of_word="</w>", pattern="none", max_merges=3
    )
    model = impls.get("subword-nmt").train_model(words, spec)
    assert [model.tokens[i] for i in model.merge_results] == [b"we", b"st</w>", b"lo"]
    assert learned(impls.get("priority").train_model(words, spec)) == learned(model)


@pytest.mark.parametrize("word", ["a b", "a\tb", "\xa0ab", "a\x85b"])
def test_subword_nmt_refuses_white_space_inside_words(word: str) -> None:
    spec = TrainingSpec(vocab_size=40, alphabet="chars", ties="largest", end_of_word="</w>", pattern="none")
    with pytest.raises(Unsupported, match=r"TrainingSpec\.pattern: its words hold no white space"):
        impls.get("subword-nmt").train_model([word], spec)
