"""The prepared tables of a model: the initial entries of the cache of pieces, and their key in the user's cache."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path

import pytest

import impls
from impls import Model
from impls.compiled import Compiled, tables
from impls.compiled.codegen import build
from impls.compiled.tables import ModelTables, build_tables, model_digest, tables_of
from impls.core.text.sentencepiece_rules import SentencePieceRules

BYTES = tuple(bytes([byte]) for byte in range(256))


def from_the_start(made: ModelTables) -> set[bytes]:
    """Return the initial pieces of the cache, from either kind of entry."""
    places = [start if start >= 0 else -1 - start for start in made.token_starts.tolist()]
    found = {made.token_bytes[places[i] : places[i + 1]].tobytes() for i in made.cache_tokens.tolist()}
    return found | {row.tobytes()[: row.tobytes()[15]] for row in made.cache_rows}


def test_the_cache_begins_with_the_tokens_that_can_be_pieces() -> None:
    merges = ((97, 98), (256, 99), (0xC3, 0xA9), (97, 0xC3))
    model = Model(tokens=(*BYTES, b"ab", b"abc", "é".encode(), b"a\xc3"), merges=merges)
    made = build_tables(model)
    ascii_pieces = {bytes([byte]) for byte in range(128)}
    assert from_the_start(made) == ascii_pieces | {b"ab", b"abc", "é".encode()}
    assert len(made.cache_rows) == 0


def test_a_piece_that_is_more_than_one_token_or_reads_otherwise_has_an_entry_of_its_own() -> None:
    made_of_two = Model(tokens=(*BYTES, b"ab", b"xyz"), merges=((97, 98),))
    assert [row.tobytes()[:3] for row in build_tables(made_of_two).cache_rows] == [b"xyz"]
    mark = "\u2581".encode()
    marked = Model(
        tokens=(mark, b"a", mark + b"a"),
        merges=((0, 1),),
        alphabet="chars",
        unknown="<unk>",
        unknown_id=3,
        sentencepiece=SentencePieceRules(),
    )
    made = build_tables(marked)
    assert made.cache_tokens.tolist() == [1]
    assert {row.tobytes()[: row.tobytes()[15]] for row in made.cache_rows} == {mark, mark + b"a"}


def test_a_token_before_a_gap_is_in_the_cache_with_its_own_bytes() -> None:
    model = Model(tokens=(*BYTES, b"the", None, b"cat"), merge_rule="concatenation")
    assert {b"the", b"cat"} <= from_the_start(build_tables(model))


def test_a_model_has_one_digest_however_it_came_about_and_another_when_it_differs() -> None:
    model = impls.get("priority").train_model(["the cat sat"] * 3, impls.TrainingSpec(vocab_size=260))
    same = [model, pickle.loads(pickle.dumps(model)), Model.restored(model.packed()), model.with_()]
    assert len(set(map(model_digest, same))) == 1
    assert model_digest(model.with_(merges=model.merges[:-1], merge_counts=None)) != model_digest(model)


def test_tables_are_read_from_the_cache_and_made_anew_where_they_are_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Compiled(Model(tokens=BYTES))  # kernels from the cache that holds them
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(tables, "_TINY", 0)
    model = Model(tokens=(*BYTES, b"ab"), merges=((97, 98),))
    first = tables_of(model)
    (path,) = (tmp_path / "compiled" / "tables").iterdir()
    with monkeypatch.context() as patched:
        patched.setattr(tables, "build_tables", lambda model: pytest.fail("made again"))
        assert (tables_of(model).pairs == first.pairs).all()
    content = path.read_bytes()
    for damaged in (content[:-1], content[:5000] + bytes([content[5000] ^ 1]) + content[5001:], b""):
        path.write_bytes(damaged)
        assert (tables_of(model).pairs == first.pairs).all()
        assert path.read_bytes() == content


@pytest.mark.parametrize("package", ["numba", "llvmlite"])
def test_the_object_file_is_named_by_the_versions_of_what_compiles_it(package: str) -> None:
    assert import_module(package).__version__ in build._release(package)
