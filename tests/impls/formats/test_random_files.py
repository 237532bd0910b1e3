"""Random tokenizer.json files: our reading is the library's, all implementations follow it, our own files keep it."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import suppress
from operator import methodcaller
from pathlib import Path

import pytest
from hf_calls import outcome
from tokenizer_files import file_texts, tokenizer_file
from tokenizer_json_shapes import SHAPES, a_file, n_ids, read, token
from tokenizers import Tokenizer, models

import impls
from harness.round_trip import round_trip_text
from impls import Model, formats
from impls.core.errors import BPEError, UnknownSymbol, Unsupported
from impls.formats import OlderUnicode, OtherIds, TemplateIgnored, load, losses, save

OTHERS = ("naive", "wordcount", "backtracking", "compiled", "tokenizers", "sentencepiece")


def ids_or_unknown(tokenizer: impls.Tokenizer, text: str) -> list[int] | str:
    try:
        return tokenizer.encode(text, allowed_special="all")
    except UnknownSymbol as error:
        return error.character


def test_random_files_are_followed_and_kept(tmp_path: Path, fuzz: int) -> None:
    ran: Counter[str] = Counter()
    for seed in range(70 * fuzz):
        rng = random.Random(seed)
        document = tokenizer_file(rng)
        try:
            model = read(document)
            reference = impls.load("priority", model)
        except BPEError:
            continue
        texts = file_texts(document, rng, 10)
        expected = [ids_or_unknown(reference, text) for text in texts]
        for name in OTHERS:
            try:
                tokenizer = impls.load(name, model)
                ids = [ids_or_unknown(tokenizer, text) for text in texts]
            except Unsupported:
                continue
            ran[name] += 1
            assert ids == expected, (seed, name, texts)
        for text in texts:
            check_promise(reference, text)
        check_decoding(reference, rng)
        save(model, tmp_path / "own.json", "bpebench")
        assert load(tmp_path / "own.json") == Model.restored(model.packed()) == model
        try:
            save(model, tmp_path / "again.json", "tokenizer.json")
        except Unsupported:
            continue
        ran["tokenizer.json"] += 1
        again = impls.load("priority", read(json.loads((tmp_path / "again.json").read_text())))
        if not losses(model, "tokenizer.json"):
            assert [ids_or_unknown(again, text) for text in texts] == expected, seed
    assert min(ran[name] for name in (*OTHERS, "tokenizer.json")) > 4 * fuzz, ran


def test_our_reading_is_the_librarys(fuzz: int) -> None:
    """Files and texts on which the library panics are left out, and files that we refuse."""
    n_compared = 0
    for seed in range(150 * fuzz):
        rng = random.Random(seed)
        document = tokenizer_file(rng)
        library = outcome(Tokenizer.from_str, json.dumps(document | {"post_processor": None}))
        try:
            ours = impls.load("priority", read(document))
        except BPEError:
            continue
        for text in () if isinstance(library, BaseException) else file_texts(document, rng, 10):
            expected = outcome(methodcaller("encode", text, add_special_tokens=False), library)
            ids = ids_or_unknown(ours, text)
            if isinstance(expected, BaseException) or isinstance(ids, str):
                assert not isinstance(ids, str) or document["model"]["unk_token"] is None  # the library keeps nothing
                continue
            n_compared += 1
            assert ids == expected.ids, (seed, text)
            with suppress(Unsupported):
                _, spans = ours.encode_with_offsets(text, allowed_special="all")
                assert spans.tolist() == list(map(list, expected.offsets)), (seed, text)
            every = sorted(library.get_vocab(with_added_tokens=True).values())
            for some in (ids, *(rng.choices(every, k=n) for n in (1, 8) if every)):
                decoder, decoded = ours.decoder(), library.decode(some, skip_special_tokens=False)
                assert ours.decode(some) == decoded, (seed, some)
                assert "".join([*(decoder.push([i]) for i in some), decoder.finish()]) == decoded, (seed, some)
    assert n_compared > 900 * fuzz


def check_promise(tokenizer: impls.Tokenizer, text: str) -> None:
    """What a model promises of its texts holds."""
    try:
        ids, promised = tokenizer.encode(text, disallowed_special=()), round_trip_text(tokenizer.model, text)
    except UnknownSymbol:
        return
    if promised is not None:
        assert tokenizer.decode(ids) == promised
        assert round_trip_text(tokenizer.model, promised) in (None, promised)


def check_decoding(tokenizer: impls.Tokenizer, rng: random.Random) -> None:
    for n_ids_ in range(9):
        ids = rng.choices(list(tokenizer.model.names_by_id), k=n_ids_)
        try:
            text, offsets = tokenizer.decode_with_offsets(ids)
        except Unsupported:
            continue
        assert text == tokenizer.decode(ids)
        assert len(offsets) == n_ids_
        assert offsets == sorted(offsets)
        assert all(0 <= start <= len(text) for start in offsets)


def test_what_the_library_does_otherwise_or_is_left_out_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    single = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    template = {"type": "TemplateProcessing", "single": single, "pair": []}
    for kind, document in (
        (OlderUnicode, SHAPES["Punctuation, Isolated"]),
        (TemplateIgnored, a_file("bytes", post_processor=template)),
        (OtherIds, a_file("bytes", added_tokens=[token("<m>", n_ids("bytes") + 9)])),
    ):
        path.write_text(json.dumps(document))
        with pytest.warns(kind):
            load(path)


@pytest.mark.parametrize("fuses", [False, True])
def test_where_bytes_are_missing_the_unknown_token_comes_where_the_library_has_it(fuses: bool) -> None:
    """The unknown token comes after the bytes that follow it, up to a token or another unknown character."""
    texts = ["<unk>", "a", "b", "ab", "<0xC3>", "<0xA9>", "<0x31>", "é1", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    vocab = {text: i for i, text in enumerate(texts) if text != "é1"}
    bpe = models.BPE(vocab=vocab, merges=[("a", "b")], unk_token="<unk>", byte_fallback=True, fuse_unk=fuses)
    library = Tokenizer(bpe)
    model = formats.tokenizer_json.reader.read(json.loads(library.to_str()), "x")
    assert model.lossy == "characters outside the alphabet become the unknown token"
    assert library.encode("日日é1日a").tokens[-2:] == ["<unk>", "a"]
    rng = random.Random(fuses)
    names = ("naive", "wordcount", "priority", "compiled", "tokenizers")
    tokenizers = [impls.load(name, model) for name in names]
    for length in [1, 2, 3, 5, 9, 30, 65, 300] * 5:
        text = "".join(rng.choices("aabé1日😀ñ", k=length))
        for tokenizer in tokenizers:
            assert tokenizer.encode(text) == tokenizer.encode_array(text).tolist() == library.encode(text).ids, text
    with pytest.raises(Unsupported, match="unknown tokens come after the bytes that follow them"):
        tokenizers[0].encode_with_offsets("日é1")
